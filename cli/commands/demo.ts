import { createInterface } from 'node:readline/promises'
import { createPresentation, type Presentation } from '../../document/presentation.ts'
import { decodePresentationLink, encodePresentationLink } from '../../document/presentation-link.ts'
import { decodePublicId } from '../../document/public-id.ts'
import { readPayload } from '../../verifier/checks/payload.ts'
import { networkOf } from '../../verifier/network.ts'
import type { BlockSource } from '../../verifier/ports.ts'
import { verifyPresentation } from '../../verifier/presentation.ts'
import { createChainReader, parseRegistry } from '../../verifier/readers/chain.ts'
import type { PresentationVerdict, Verdict } from '../../verifier/verdict.ts'
import { type VerifyOptions, verify } from '../../verifier/verify.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { InputError, UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { connect, GATEWAY_OPTIONS } from '../gateway.ts'
import { printable, printableJson } from '../printable.ts'
import { drawQrCode } from '../qr-terminal.ts'
import { headlineOf } from '../report.ts'
import { onlyNode, readSources, SOURCE_OPTIONS } from '../sources.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  rpc: SOURCE_OPTIONS.rpc,
  registry: SOURCE_OPTIONS.registry,
  ipfs: SOURCE_OPTIONS.ipfs,
  ...GATEWAY_OPTIONS,
} as const satisfies Options

export const demoCommand = defineCommand({
  name: 'demo',
  group: 'Help',
  summary: 'Issue, verify, share some fields of, and revoke a document of your own',
  about: [
    'Needs a service on a test network: in a checkout, "npm start" in another terminal, and its API key in the environment.',
  ],
  options: OPTIONS,
  examples: [['With the service of npm start', 'docreg demo']],
  exitCodes: '0 all went as told, 1 a verdict was another one, 2 could not',
  run: demo,
})

const SUBJECT = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'diploma',
  metadata: { degree: 'BSc Mathematics', grade: '1.0' },
}
const SHOWN = { fields: ['subjectName', 'category'], metadata: ['degree'] }

async function demo(
  { values, flags }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const { registry, nodes, blocks } = readSources(values)
  if (networkOf(parseRegistry(registry).chainId) !== 'test')
    throw new UsageError('a demo needs a test network: this registry is on a live one')
  const { client } = connect(values)
  const options: VerifyOptions = {
    chain: createChainReader(onlyNode(nodes, flags), registry),
    blocks,
  }
  const verdicts: string[] = []
  const say = (...lines: string[]) => {
    if (!values.json) for (const line of lines) terminal.write(line)
  }
  const judge = (verdict: Verdict | PresentationVerdict) => {
    verdicts.push(verdict.status)
    say(`  ${terminal.paint(verdict.valid ? 'green' : 'red', headlineOf(verdict))}`)
  }

  say(
    terminal.paint('bold', '1. Issue'),
    'The service seals a diploma, and writes its hash on the chain.',
  )
  const issuedAt = new Date().toISOString().slice(0, 10)
  const { publicId, verifyUrl, documentHash, status } = await client.issueDocument({
    body: { ...SUBJECT, issuedAt },
  })
  if (status === 'pending') throw new InputError('interrupted', 'no block came in time: try again')
  say(`  document  ${documentHash}`, `  link      ${verifyUrl}`)
  if (!values.json)
    for (const line of await drawQrCode(verifyUrl, process.stdout.columns)) say(line)
  say('The QR code is on the diploma. Scan it or open the link: that is all a reader needs.')
  await pause(values.json)

  say(
    '',
    terminal.paint('bold', '2. Verify'),
    'This command asks the chain itself, and opens the document with the key in the link.',
  )
  const first = await verify(publicId, options)
  judge(first)
  for (const [name, value] of Object.entries(first.document ?? {}))
    say(
      `  ${name.padEnd(12)}  ${printable(typeof value === 'object' ? JSON.stringify(value) : String(value))}`,
    )
  await pause(values.json)

  say(
    '',
    terminal.paint('bold', '3. Share some fields'),
    'Ada shows an employer her name and degree; number and grade stay hers.',
  )
  const presentation = await present(publicId, blocks)
  const page = verifyUrl.replace(/#.*/, '')
  const link = await encodePresentationLink(page, presentation)
  if (link === undefined) throw new InputError('too_long', 'too long for a link')
  say(`  link      ${link}`)
  const shown = await verifyPresentation(await decodePresentationLink(link), options)
  judge(shown)
  say(`  ${printable(JSON.stringify(shown.disclosed))}`)
  await pause(values.json)

  say(
    '',
    terminal.paint('bold', '4. Revoke'),
    'The diploma was a mistake. Revoking is permanent, and for everybody to see.',
  )
  const revoked = await client.revokeDocument({
    path: { publicId },
    body: { reason: 'privilegeWithdrawn' },
  })
  say(`  ${revoked.status}, ${revoked.reason}, ${revoked.revokedAt}`)
  await pause(values.json)

  say(
    '',
    terminal.paint('bold', '5. Verify again'),
    'The same link, and what Ada shared, a moment later:',
  )
  judge(await verify(publicId, options))
  judge(await verifyPresentation(await decodePresentationLink(link), options))
  say('', 'Next: "docreg template" for a table of your own, "docreg --help" for everything else.')

  if (values.json) terminal.write(printableJson({ documentHash, verdicts }))
  const isAsTold = verdicts.join() === ['valid', 'valid', 'revoked', 'revoked'].join()
  return isAsTold ? EXIT.ok : EXIT.notValid
}

async function present(publicId: string, blocks: BlockSource[]): Promise<Presentation> {
  const payload = await readPayload(decodePublicId(publicId).hash, blocks)
  if (!payload.bytes)
    throw new InputError('unavailable', `no --ipfs has the document: ${payload.check.code}`)
  const source = { publicId, sealed: payload.bytes, includeSealed: false, choose: SHOWN }
  return { ...(await createPresentation(source)), sealed: null }
}

/** Lets a person read. */
async function pause(json: boolean | undefined): Promise<void> {
  if (json || !process.stdin.isTTY || !process.stdout.isTTY) return
  const prompt = createInterface({ input: process.stdin, output: process.stdout })
  try {
    await prompt.question('Press Enter to go on … ')
  } finally {
    prompt.close()
  }
}
