import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { ChainError } from '#verifier/errors.ts'
import { TEST_NETWORK } from '#verifier/network.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { type Completeness, verifyCompleteness } from '#verifier/proof/completeness.ts'
import { decodeHeader } from '#verifier/proof/header.ts'
import {
  type CompletenessSource,
  createCompletenessProof,
  readCompleteness,
} from '#verifier/readers/completeness.ts'
import { collectIssued, type IssuedList } from '#verifier/readers/issued-logs.ts'
import { createRequest, readStrictly } from '#verifier/readers/request.ts'
import { readQuantity } from '#verifier/readers/rpc-codec.ts'
import { unknownIssuer } from '../audit/known-issuer.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { InputError, UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { readAll, writeProof } from '../files.ts'
import { type BatchNotes, linesOf, parseList } from '../kept-list.ts'
import { isUnread, type Recount, recountListed } from '../manifest.ts'
import { printableJson } from '../printable.ts'
import {
  CODE_UNCHECKED,
  type CommandSources,
  firstAnswering,
  readBlockHashes,
  readSources,
  SOURCE_OPTIONS,
  wholeNumber,
} from '../sources.ts'
import type { Terminal } from '../terminal.ts'

const NO_NOTES: BatchNotes = { manifests: new Map(), recounts: new Map() }
const KEPT_LIST = 'use another node, or a stored list with --hashes'
const GAPS = `The node may have dropped old events: ${KEPT_LIST}`

const OPTIONS = {
  issuer: { value: '<id>', about: 'the number of the issuer', isSetting: true },
  ...SOURCE_OPTIONS,
  ipfs: {
    ...SOURCE_OPTIONS.ipfs,
    about: 'recount each batch from its manifest, from this trustless IPFS gateway',
  },
  from: {
    value: '<block>',
    about: 'the first block to search for events; default that of a known deployment, or 0',
  },
  hashes: {
    value: '<file>',
    about:
      'take hashes and roots from this file instead: lines of "document 0x…" or "batch 0x…", as this command prints them',
  },
  proof: {
    value: '<file>',
    about: 'write a proof that anybody can check; the node must support eth_getProof',
  },
  check: { value: '<file>', about: 'check this proof offline' },
  'block-hash': {
    value: '<hash>',
    multiple: true,
    about: 'hash of a block that you trust, for --check',
  },
} as const satisfies Options

export const listCommand = defineCommand({
  name: 'list',
  group: 'Audit',
  summary:
    'List all documents and batches of an issuer from the chain, and prove the list complete',
  about: ['Nodes drop old events: keep the output, and pass it as --hashes later.'],
  options: OPTIONS,
  examples: [
    ['All documents of issuer 1', 'docreg list --issuer 1'],
    ['With a proof for somebody else', 'docreg list --issuer 1 --proof proof.json'],
    ['Check that proof, offline', 'docreg list --issuer 1 --check proof.json --block-hash 0x…'],
  ],
  exitCodes: '0 complete, 1 incomplete, 2 could not check, or no such issuer',
  run: list,
})

async function list(
  { values, flags }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const sources = readSources(values)
  const trustedBlocks = readBlockHashes(values['block-hash'])
  if (values.issuer === undefined) throw new UsageError('--issuer is required')
  const issuerId = wholeNumber('issuer', values.issuer, 1)
  if (issuerId > 0xffff_ffff) throw new UsageError('--issuer must be at most 4294967295')
  const from =
    values.from === undefined ? (sources.deployedIn ?? 0) : wholeNumber('from', values.from)

  const { check, hashes, proof, json } = values
  if (check === undefined) {
    if (trustedBlocks.length > 0) throw new UsageError('--block-hash requires --check')
    const provider = firstAnswering(sources.nodes)
    const origin = hashes === undefined ? { from } : { file: hashes }
    const { result, notes } = await listOnline(provider, sources, {
      issuerId,
      origin,
      ...(proof !== undefined && { out: proof }),
    })
    const isShort = result.status === 'incomplete' && hashes === undefined
    if (isShort && !values.json) terminal.warn(GAPS)
    return tell(result, notes, { sources, provider, issuerId, json, terminal })
  }
  const { rpc, ipfs, 'as-of': asOf } = flags
  if ((rpc ?? ipfs ?? asOf ?? values.from ?? hashes ?? proof) !== undefined)
    throw new UsageError(
      '--check works offline and cannot be used with --rpc, --ipfs, --as-of, --from, --hashes or --proof',
    )
  if (trustedBlocks.length === 0) throw new UsageError('--check requires --block-hash')
  const { registry, codeHash } = sources
  const listing = verifyCompleteness(await readAll(check), {
    registry,
    trustedBlocks,
    ...(codeHash !== undefined && { codeHash }),
  })
  return tell(listing, NO_NOTES, { sources, issuerId, json, terminal })
}

type Order = {
  issuerId: number
  /** The source of the hashes: events since a block, or a file. */
  origin: { from: number } | { file: string }
  /** The file for the proof. */
  out?: string
}

async function listOnline(
  provider: Eip1193Provider,
  sources: CommandSources,
  order: Order,
): Promise<{ result: Completeness; notes: BatchNotes }> {
  const { registry, patientBlocks: blocks, asOf } = sources
  const { issuerId, origin } = order
  const { keys, block } = await bounded(async () =>
    'file' in origin
      ? { keys: parseList(await readAll(origin.file)), block: asOf }
      : collect(provider, registry, issuerId, { ...origin, asOf }),
  )
  const { manifests } = keys
  const result = await judge(provider, sources, order, { ...keys, block })
  const recounts = new Map<Hex, Recount>()
  // Batches are recounted one after another, because a batch takes about 100 bytes of memory per
  // document.
  if (result.status !== 'unverifiable' && blocks.length > 0)
    for (const batch of result.batches.listed)
      recounts.set(
        batch.root,
        await recountListed(batch, manifests.get(batch.root), {
          registry,
          issuerId,
          blocks,
        }),
      )
  return { result, notes: { manifests, recounts } }
}

async function judge(
  provider: Eip1193Provider,
  { registry, codeHash }: CommandSources,
  { issuerId, out }: Order,
  source: CompletenessSource,
): Promise<Completeness> {
  const known = codeHash === undefined ? {} : { codeHash }
  if (out === undefined)
    return bounded(() => readCompleteness(provider, registry, issuerId, { ...source, ...known }))
  const proof = await bounded(() => createCompletenessProof(provider, registry, issuerId, source))
  await writeProof(out, proof)
  const { blockHash } = decodeHeader(proof.header)
  return verifyCompleteness(proof, {
    registry,
    trustedBlocks: [blockHash],
    ...known,
  })
}

/** Collects events up to the block of the list, because new ones may arrive meanwhile. */
async function collect(
  provider: Eip1193Provider,
  registry: RegistryId,
  issuerId: number,
  { from, asOf }: { from: number; asOf: number | undefined },
): Promise<{ keys: IssuedList; block: number }> {
  const head = asOf ?? (await newestBlock(provider))
  const keys = await collectIssued(provider, registry, issuerId, {
    from,
    to: head,
  })
  if (asOf !== undefined) return { keys, block: asOf }
  const block = Math.max(head, await newestBlock(provider))
  const more = await collectIssued(provider, registry, issuerId, {
    from: Math.max(from, head + 1),
    to: block,
  })
  return {
    keys: {
      documentHashes: [...keys.documentHashes, ...more.documentHashes],
      roots: [...keys.roots, ...more.roots],
      manifests: new Map([...keys.manifests, ...more.manifests]),
    },
    block,
  }
}

async function newestBlock(provider: Eip1193Provider): Promise<number> {
  const answer = await createRequest(provider)('eth_blockNumber', [])
  return readStrictly('eth_blockNumber', () => readQuantity(answer))
}

/**
 * Too long a list counts as misuse of the library, but here it may come from a node or a file. Adds
 * advice if the node has pruned its logs.
 */
async function bounded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof ChainError && cause.code === 'pruned')
      throw new ChainError('pruned', `${cause.message}; ${KEPT_LIST}`, cause)
    if (!(cause instanceof RangeError)) throw cause
    throw new InputError('too_many', `the list has ${cause.message}`, cause)
  }
}

async function tell(
  result: Completeness,
  notes: BatchNotes,
  {
    sources: { registry, codeHash, network },
    provider,
    issuerId,
    json,
    terminal,
  }: {
    sources: CommandSources
    /** Absent = the list is checked offline. */
    provider?: Eip1193Provider
    issuerId: number
    json: boolean | undefined
    terminal: Terminal
  },
): Promise<number> {
  if (result.status !== 'unverifiable' && result.issuerId !== issuerId)
    throw new InputError('other_issuer', `the proof is for another issuer, ${result.issuerId}`)
  if (result.status !== 'unverifiable' && !result.isRegistered)
    throw await unknownIssuer({
      registry,
      issuerId,
      block: result.asOf.blockNumber,
      ...(provider && { request: createRequest(provider) }),
    })
  if (json) terminal.write(printableJson({ ...withNotes(result, notes), network }))
  else if (result.status === 'unverifiable') {
    const word = terminal.paint('yellow', 'UNVERIFIABLE')
    terminal.write(`${word}: ${result.code} (${result.message})`)
  } else for (const line of linesOf(result, notes, terminal)) terminal.write(line)
  if (network === 'test') terminal.warn(TEST_NETWORK)
  if (codeHash === undefined) terminal.note(CODE_UNCHECKED)
  if (result.status === 'unverifiable') return EXIT.failed
  const codes = [...notes.recounts.values()].filter((code) => code !== null)
  if (result.status === 'incomplete' || !codes.every(isUnread)) return EXIT.wrong
  return codes.length > 0 ? EXIT.failed : EXIT.ok
}

function withNotes(result: Completeness, { manifests, recounts }: BatchNotes): object {
  if (result.status === 'unverifiable') return result
  const { batches } = result
  const listed = batches.listed.map((batch) => {
    const code = recounts.get(batch.root)
    return {
      ...batch,
      manifest: manifests.get(batch.root) ?? null,
      ...(code !== undefined && { recount: { complete: code === null, code } }),
    }
  })
  return { ...result, batches: { ...batches, listed } }
}
