import { createInterface } from 'node:readline/promises'
import type { Client } from '#client/index.ts'
import { today } from '#document/document.ts'
import { createPresentation, type Presentation } from '#document/presentation.ts'
import { decodePresentationLink, encodePresentationLink } from '#document/presentation-link.ts'
import { decodePublicId } from '#document/public-id.ts'
import { cellsOf } from '#table/rows.ts'
import { readPayload } from '#verifier/checks/payload.ts'
import type { BlockSource } from '#verifier/ports.ts'
import { verifyPresentation } from '#verifier/presentation.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIdentitySource } from '#verifier/readers/identity-source.ts'
import type { PresentationVerdict, Verdict } from '#verifier/verdict.ts'
import { type VerifyOptions, verify } from '#verifier/verify.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { InputError, UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { connect, GATEWAY_OPTIONS } from '../gateway.ts'
import { printable, printableJson } from '../printable.ts'
import { drawQrCode } from '../qr-terminal.ts'
import { colourOf, headlineOf } from '../report.ts'
import { firstAnswering, readSources, SOURCE_OPTIONS } from '../sources.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  rpc: SOURCE_OPTIONS.rpc,
  registry: SOURCE_OPTIONS.registry,
  'live-chain': SOURCE_OPTIONS['live-chain'],
  ipfs: SOURCE_OPTIONS.ipfs,
  ...GATEWAY_OPTIONS,
} as const satisfies Options

export const demoCommand = defineCommand({
  name: 'demo',
  group: 'Help',
  summary: 'Issue, verify, share some fields of, and revoke a document of your own',
  about: [
    'Needs a service on a test network: in a checkout, "npm start" in another terminal, and its API key in the environment.',
    'With --gateway, registry, node and payloads are those of this service, unless options name others.',
  ],
  options: OPTIONS,
  examples: [['With the service of npm start', 'docreg demo']],
  exitCodes: '0 all went as described, 1 a verdict was unexpected, 2 could not run',
  run: demo,
})

const SUBJECT = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  // No kind of documents of the service is about it.
  category: 'docreg_demo',
  metadata: { degree: 'BSc Mathematics', grade: '1.0' },
}
const SHOWN = { fields: ['subjectName', 'category'], metadata: ['degree'] }

/** The state that the steps of the demo share. */
type Stage = {
  client: Client
  options: VerifyOptions
  say(...lines: string[]): void
  title(text: string, explanation: string): void
  judge(verdict: Verdict | PresentationVerdict): void
  pause(): Promise<void>
}

async function demo(
  { values, flags }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const { client, url } = connect(values)
  // Settings that belong to another service would lead to its registry.
  const own = flags.gateway === undefined ? values : flags
  const { registry, network, nodes, blocks } = readSources({
    ...values,
    registry: own.registry ?? (await registryOf(url)),
    rpc: own.rpc ?? [`${url}/rpc`],
    ipfs: own.ipfs ?? [url],
  })
  if (network !== 'test')
    throw new UsageError('the demo requires a test network, but this registry is on a live one')
  const chain = createChainReader(firstAnswering(nodes), registry)
  const verdicts: string[] = []
  const say = (...lines: string[]) => {
    if (!values.json) for (const line of lines) terminal.write(line)
  }
  const stage: Stage = {
    client,
    options: { chain, blocks, identity: createIdentitySource() },
    say,
    pause: () => pause(values.json),
    title: (text, explanation) => say(terminal.paint('bold', text), explanation),
    judge: (verdict) => {
      verdicts.push(verdict.status)
      say(`  ${terminal.paint(colourOf(verdict), headlineOf(verdict))}`)
    },
  }
  const document = await issueOne(stage)
  await verifyOne(document.publicId, stage)
  const shared = await share(document, stage)
  await revokeOne(document.publicId, stage)
  stage.title('5. Verify again', 'The same document, and what Ada shared, a moment later:')
  stage.judge(await verify(document.publicId, stage.options))
  stage.judge(await verifyPresentation(await decodePresentationLink(shared), stage.options))
  say('', 'Next: "docreg template" for a table of your own, "docreg --help" for everything else.')
  if (values.json) terminal.write(printableJson({ documentHash: document.documentHash, verdicts }))
  return verdicts.join() === EXPECTED.join() ? EXIT.ok : EXIT.wrong
}

/** A demonstration trusts the service about its registry. */
async function registryOf(url: string): Promise<string> {
  try {
    const answer = await fetch(`${url}/`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(REGISTRY_TIMEOUT_MS),
    })
    const { data } = (await answer.json()) as { data: { registry: string } }
    return data.registry
  } catch (error) {
    throw new InputError('interrupted', 'the service does not say which registry it uses', error)
  }
}

const REGISTRY_TIMEOUT_MS = 10_000

const EXPECTED = ['valid', 'valid', 'revoked', 'revoked']

type Issued = { publicId: string; verifyUrl: string; documentHash: string }

async function issueOne({ client, say, title, pause }: Stage): Promise<Issued> {
  title('1. Issue', 'The service seals a diploma, and writes its hash on the chain.')
  const issued = await client.issueDocument({ body: { ...SUBJECT, issuedAt: today() } })
  if (issued.status === 'pending')
    throw new InputError('interrupted', 'the document was not in a block in time: try again')
  say(`  document  ${issued.documentHash}`, `  link      ${issued.verifyUrl}`)
  say(...(await drawQrCode(issued.verifyUrl, process.stdout.columns)))
  say('The QR code is on the diploma. Scan it or open the link: that is all a reader needs.')
  await pause()
  return issued
}

async function verifyOne(
  publicId: string,
  { options, say, title, judge, pause }: Stage,
): Promise<void> {
  title(
    '2. Verify',
    'This command asks the chain, and opens the document with the key in the link.',
  )
  const verdict = await verify(publicId, options)
  judge(verdict)
  for (const [name, value] of Object.entries(cellsOf(verdict.document)))
    say(`  ${name.padEnd(15)}  ${printable(value)}`)
  await pause()
}

/** @returns The link to the shared fields. */
async function share(
  { publicId, verifyUrl }: Issued,
  { options, say, title, judge, pause }: Stage,
): Promise<string> {
  title(
    '3. Share some fields',
    'Ada shows an employer name and degree; number and grade stay hers.',
  )
  const presentation = await present(publicId, options.blocks)
  const link = await encodePresentationLink(verifyUrl.replace(/#.*/, ''), presentation)
  if (link === undefined)
    throw new InputError('too_long', 'the presentation is too long for a link')
  say(`  link      ${link}`)
  const shown = await verifyPresentation(await decodePresentationLink(link), options)
  judge(shown)
  for (const [name, value] of Object.entries(cellsOf(shown.disclosed)))
    say(`  ${name.padEnd(15)}  ${printable(value)}`)
  await pause()
  return link
}

async function revokeOne(publicId: string, { client, say, title, pause }: Stage): Promise<void> {
  title('4. Revoke', 'The diploma was a mistake. Revoking is permanent, and everybody can see it.')
  const { status, reason, revokedAt } = await client.revokeDocument({
    path: { publicId },
    body: { reason: 'privilegeWithdrawn' },
  })
  say(`  ${status}, ${reason}, ${revokedAt}`)
  await pause()
}

async function present(publicId: string, blocks: readonly BlockSource[]): Promise<Presentation> {
  const payload = await readPayload(decodePublicId(publicId).hash, blocks)
  if (!payload.bytes)
    throw new InputError(
      'unavailable',
      `the document cannot be fetched from any --ipfs: ${payload.check.code}`,
    )
  const source = { publicId, sealed: payload.bytes, includeSealed: false, choose: SHOWN }
  return { ...(await createPresentation(source)), sealed: null }
}

/** Waits until a person has read the text. */
async function pause(json: boolean | undefined): Promise<void> {
  if (json || !process.stdin.isTTY || !process.stdout.isTTY) return
  const prompt = createInterface({ input: process.stdin, output: process.stdout })
  try {
    await prompt.question('Press Enter to go on … ')
  } finally {
    prompt.close()
  }
}
