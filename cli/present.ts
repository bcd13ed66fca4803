import { parseArgs } from 'node:util'
import { toString as toSvg } from 'qrcode'
import { decodeUtf8 } from '../document/bytes.ts'
import { fromHex } from '../document/hex.ts'
import {
  type Choice,
  choicesOf,
  createPresentation,
  encodePresentation,
  type Presentation,
  type PresentationSource,
} from '../document/presentation.ts'
import { encodePresentationLink, MAX_QR_LINK } from '../document/presentation-link.ts'
import { decodePublicId } from '../document/public-id.ts'
import { openDocument } from '../document/sealed.ts'
import { createBundleSource } from '../verifier/bundle.ts'
import { readBatch } from '../verifier/checks/batch.ts'
import { readPayload } from '../verifier/checks/payload.ts'
import { networkOf } from '../verifier/network.ts'
import type { DocumentKey } from '../verifier/ports.ts'
import { parseRegistry } from '../verifier/readers/chain.ts'
import { createProvingReader } from '../verifier/readers/proof.ts'
import { keyOf } from '../verifier/verify.ts'
import { InputError, UsageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { printable, printableJson } from './printable.ts'
import { writePrivately } from './private-file.ts'
import { TEST_NETWORK } from './report.ts'
import {
  type CommandSources,
  onlyArgument,
  readSources,
  SOURCE_OPTIONS,
  SOURCE_USAGE,
} from './sources.ts'
import { readSubject, type Subject } from './subject.ts'
import type { Terminal } from './terminal.ts'

export const PRESENT_USAGE = `docreg present <publicId | address | file | QR image | bundle | -> --ipfs <url> [options]

  --fields <names>       the fields to show, with commas between: subjectName,category
  --metadata <key>       an entry of the metadata to show; repeatable
${SOURCE_USAGE}
  --sealed               put the sealed document in too, for a reader who cannot fetch it
  --proof                put in what the registry says now, for a reader who asks no node; needs --rpc
  --rpc <url>            JSON-RPC endpoint of a node that knows eth_getProof
  --out <file>           where to write it; default standard output
  --link <page>          write a link to this verify page to standard output, without --sealed and --proof in it
  --qr <file.svg>        write a QR code of that link

Shows some fields of a document and keeps the rest. With neither --fields nor --metadata it lists what there is to show.
Whoever receives a presentation can pass it on, and tell that two of them are of one document.
Exit code: 0 written or listed, 2 could not, 64 wrong usage.`

const OPTIONS = {
  ...SOURCE_OPTIONS,
  fields: { type: 'string', multiple: true },
  metadata: { type: 'string', multiple: true },
  sealed: { type: 'boolean' },
  proof: { type: 'boolean' },
  out: { type: 'string' },
  link: { type: 'string' },
  qr: { type: 'string' },
  json: { type: 'boolean' },
} as const

/** @returns The exit code. */
export async function presentCommand(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: OPTIONS,
  })
  const sources = readSources(values)
  const given = onlyArgument(positionals, 'publicId, address or file')
  assertUsage(values, sources)

  const held = await locate(await readSubject(given), sources)
  const choose = readChoice(values)
  if (!choose) {
    await list(held.source, terminal, values.json ?? false)
    return EXIT.ok
  }
  if (networkOf(parseRegistry(sources.registry).chainId) === 'test') terminal.warn(TEST_NETWORK)
  const presentation = await createPresentation({ ...held.source, choose })
  if (presentation.registry !== sources.registry)
    throw new InputError('other_registry', 'the document is of another registry')
  const stateProof = values.proof ? await prove(held.key, sources) : null
  const { sealed, ...shown } = presentation
  const file = { ...shown, sealed: values.sealed ? sealed : null, stateProof }
  await write(file, values, terminal)
  return EXIT.ok
}

type Values = {
  fields?: string[]
  metadata?: string[]
  proof?: boolean
  sealed?: boolean
  out?: string
  link?: string
  qr?: string
}

/** @throws {UsageError} */
function assertUsage({ proof, link, qr }: Values, { nodes }: CommandSources): void {
  if (proof && nodes.length !== 1) throw new UsageError('--proof needs --rpc, once')
  if (!proof && nodes.length > 0) throw new UsageError('--rpc is for --proof')
  if (qr !== undefined && link === undefined) throw new UsageError('--qr needs --link')
  if (link !== undefined && !isPage(link))
    throw new UsageError('--link must be the http or https address of a verify page, without #')
}

function isPage(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !text.includes('#')
}

/** @returns `undefined` when nothing is named. */
function readChoice({ fields, metadata }: Values): Choice | undefined {
  if (fields === undefined && metadata === undefined) return undefined
  return {
    fields: (fields ?? [])
      .flatMap((names) => names.split(','))
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    metadata: metadata ?? [],
  }
}

type Source = Omit<PresentationSource, 'choose'>

/** @throws {InputError} `unavailable`, `other_registry` */
async function locate(
  { publicId, bundle }: Subject,
  { registry, blocks }: CommandSources,
): Promise<{ source: Source; key: DocumentKey }> {
  const decoded = decodePublicId(publicId)
  const places = bundle ? [createBundleSource(bundle.bundle), ...blocks] : blocks
  const batch = decoded.kind === 'batch' ? await readBatch(decoded, registry, places) : undefined
  if (batch?.check.code === 'other_registry')
    throw new InputError('other_registry', 'the document is of another registry')
  const key = batch ? batch.key : keyOf(decoded)
  if (!key) throw unavailable('the batch block', batch?.check.code)
  const payload = await readPayload(fromHex(key.documentHash), places)
  if (!payload.bytes) throw unavailable('the sealed document', payload.check.code)
  return {
    source: {
      publicId,
      sealed: payload.bytes,
      includeSealed: true,
      ...(batch?.bytes && { batchBlock: batch.bytes }),
    },
    key,
  }
}

function unavailable(what: string, code: string | undefined): InputError {
  return new InputError('unavailable', `${what} is needed, and no --ipfs has it: ${code}`)
}

async function list(
  { publicId, sealed }: Source,
  terminal: Terminal,
  json: boolean,
): Promise<void> {
  const { documentKey } = decodePublicId(publicId)
  const choices = choicesOf(await openDocument(sealed, documentKey))
  if (json) {
    terminal.write(printableJson(choices))
    return
  }
  const lines = [
    'Name what to show. This document has',
    `  --fields    ${choices.fields.join(',')}`,
    ...choices.metadata.map((key) => `  --metadata  ${printable(key)}`),
  ]
  terminal.write(lines.join('\n'))
}

async function prove(
  key: DocumentKey,
  { nodes: [provider], registry, asOf }: CommandSources,
): Promise<Presentation['stateProof']> {
  if (!provider) throw new TypeError('no node')
  const reader = createProvingReader(provider, registry)
  const { stateProof } = await reader.read(key, { block: asOf })
  return stateProof ?? null
}

async function write(
  presentation: Presentation,
  { out, link: page, qr }: Values,
  terminal: Terminal,
): Promise<void> {
  const text = decodeUtf8(encodePresentation(presentation))
  if (out !== undefined) await writePrivately(out, `${text}\n`)
  if (page === undefined) {
    if (out === undefined) terminal.write(text)
    return
  }
  const small = { ...presentation, sealed: null, stateProof: null }
  const link = await encodePresentationLink(page, small)
  if (link === undefined)
    throw new InputError('too_long', 'too long for a link: show less, or a file')
  terminal.write(link)
  if (qr === undefined) return
  if (link.length > MAX_QR_LINK)
    throw new InputError(
      'too_long',
      `too long for a QR code: the link has ${link.length} characters, at most ${MAX_QR_LINK} fit`,
    )
  const options = { type: 'svg', errorCorrectionLevel: 'L' } as const
  await writePrivately(qr, await toSvg(link, options))
}
