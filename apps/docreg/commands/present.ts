import { qrSvg } from '#certificates/qr-code.ts'
import { decodeUtf8 } from '#document/bytes.ts'
import { fromHex } from '#document/hex.ts'
import {
  type Choice,
  choicesOf,
  createPresentation,
  encodePresentation,
  type Presentation,
  type PresentationSource,
} from '#document/presentation.ts'
import { encodePresentationLink, MAX_QR_LINK } from '#document/presentation-link.ts'
import { decodePublicId } from '#document/public-id.ts'
import { openDocument } from '#document/sealed.ts'
import { createBundleSource } from '#verifier/bundle.ts'
import { readBatch } from '#verifier/checks/batch.ts'
import { readPayload } from '#verifier/checks/payload.ts'
import { TEST_NETWORK } from '#verifier/network.ts'
import type { DocumentKey, Eip1193Provider } from '#verifier/ports.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { keyOf } from '#verifier/verify.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { InputError, UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { printable, printableJson } from '../printable.ts'
import { writePrivately } from '../private-file.ts'
import { type CommandSources, firstAnswering, readSources, SOURCE_OPTIONS } from '../sources.ts'
import { readSubject, type Subject } from '../subject.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  ...SOURCE_OPTIONS,
  fields: {
    value: '<names>',
    multiple: true,
    about: 'the fields to show, with commas between: subjectName,category',
  },
  metadata: { value: '<key>', multiple: true, about: 'an entry of the metadata to show' },
  sealed: { about: 'include the sealed document, for a reader who cannot fetch it' },
  proof: {
    about:
      'include a proof of what the registry says now, for a reader without a node; requires --rpc',
  },
  out: { value: '<file>', about: 'where to write it; default standard output' },
  link: {
    value: '<page>',
    about:
      'write a link to this verify page to standard output; the link omits --sealed and --proof',
  },
  qr: { value: '<file.svg>', about: 'write a QR code of that link' },
} as const satisfies Options

export const presentCommand = defineCommand({
  name: 'present',
  group: 'Verify',
  summary: 'Show some fields of a document and keep the rest',
  about: [
    'Without --fields and --metadata it lists what can be shown.',
    'Whoever receives a presentation can pass it on, and tell that two of them are of one document.',
  ],
  args: [
    {
      name: '<document>',
      about: 'a file (publicId, QR code as PNG or JPEG, bundle), an address, or -',
    },
  ],
  options: OPTIONS,
  examples: [
    ['What can be shown', 'docreg present letter.jpg'],
    [
      'Name and category, in a file',
      'docreg present letter.jpg --fields subjectName,category --out shown.json',
    ],
    [
      'The same as a link and its QR code',
      'docreg present letter.jpg --fields subjectName,category --link https://registry.example/verify --qr shown.svg',
    ],
  ],
  exitCodes: '0 written or listed, 2 could not be written',
  run: present,
})

async function present(
  { values, flags, args: [given = ''] }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const sources = readSources(values)
  assertUsage(values, flags)

  const held = await locate(await readSubject(given), sources)
  const choose = readChoice(values)
  if (!choose) {
    await list(held.source, terminal, values.json ?? false)
    return EXIT.ok
  }
  if (sources.network === 'test') terminal.warn(TEST_NETWORK)
  const presentation = await createPresentation({ ...held.source, choose })
  if (presentation.registry !== sources.registry)
    throw new InputError('other_registry', 'the document belongs to another registry')
  const stateProof = values.proof
    ? await prove(held.key, firstAnswering(sources.nodes), sources)
    : null
  const { sealed, ...shown } = presentation
  const file = { ...shown, sealed: values.sealed ? sealed : null, stateProof }
  await write(file, values, terminal)
  return EXIT.ok
}

type Values = {
  rpc?: string[]
  fields?: string[]
  metadata?: string[]
  proof?: boolean
  sealed?: boolean
  out?: string
  link?: string
  qr?: string
}

/** @throws {UsageError} */
function assertUsage({ proof, rpc, link, qr }: Values, flags: { rpc?: string[] }): void {
  if (proof && rpc === undefined) throw new UsageError('--proof requires exactly one --rpc')
  if (!proof && flags.rpc !== undefined) throw new UsageError('--rpc requires --proof')
  if (qr !== undefined && link === undefined) throw new UsageError('--qr requires --link')
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
    throw new InputError('other_registry', 'the document belongs to another registry')
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
  return new InputError('unavailable', `${what} cannot be fetched from any --ipfs: ${code}`)
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
    'Name what to show. This document has:',
    `  --fields    ${choices.fields.join(',')}`,
    ...choices.metadata.map((key) => `  --metadata  ${printable(key)}`),
  ]
  terminal.write(lines.join('\n'))
}

async function prove(
  key: DocumentKey,
  provider: Eip1193Provider,
  { registry, asOf }: CommandSources,
): Promise<Presentation['stateProof']> {
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
    throw new InputError(
      'too_long',
      'the presentation is too long for a link: show fewer fields, or use --out',
    )
  terminal.write(link)
  if (qr === undefined) return
  if (link.length > MAX_QR_LINK)
    throw new InputError(
      'too_long',
      `the link is too long for a QR code: it has ${link.length} characters, at most ${MAX_QR_LINK} fit`,
    )
  await writePrivately(qr, qrSvg(link, { ecc: 'low', border: 4 }))
}
