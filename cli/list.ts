import { open, readFile, stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { Hex } from '../document/hex.ts'
import { networkOf } from '../verifier/network.ts'
import type { Eip1193Provider } from '../verifier/ports.ts'
import {
  type Completeness,
  type CompletenessProof,
  type IssuedKeys,
  type Listed,
  type Listing,
  verifyCompleteness,
} from '../verifier/proof/completeness.ts'
import { decodeHeader } from '../verifier/proof/header.ts'
import { parseRegistry } from '../verifier/readers/chain.ts'
import {
  createCompletenessProof,
  readCompleteness,
} from '../verifier/readers/completeness.ts'
import { collectIssued } from '../verifier/readers/issued-logs.ts'
import { createRequest, readStrictly } from '../verifier/readers/request.ts'
import { readQuantity } from '../verifier/readers/rpc-codec.ts'
import { InputError, UsageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { printableJson } from './printable.ts'
import { TEST_NETWORK, time } from './report.ts'
import {
  readBlockHashes,
  readSources,
  SOURCE_OPTIONS,
  type Sources,
  wholeNumber,
} from './sources.ts'
import type { Terminal } from './terminal.ts'

export const LIST_USAGE = `docreg list --issuer <id> --rpc <url> [options]
docreg list --issuer <id> --check <file> --block-hash <hash> [options]

  --issuer <id>          the number of the issuer
  --rpc <url>            JSON-RPC endpoint of a node
  --registry <CAIP-10>   the registry that you trust, eip155:<chainId>:<address>; or eip155:<chainId> of a known deployment
  --from <block>         where to begin to look for events; default the block of a known deployment, or 0
  --hashes <file>        take hashes and roots from this file instead: lines of "document 0x…" or "batch 0x…"
  --proof <file>         write a proof that anybody can check; the node must know eth_getProof
  --as-of <block>        as of this block; the node must keep its state
  --check <file>         check this proof offline; nobody is asked
  --block-hash <hash>    hash of a block that you trust, for --check; repeatable
  --timeout <seconds>    for one request; default 10
  --json                 the list as JSON

Lists all documents and batches of an issuer, and says whether that is all of them.
Exit code: 0 complete, 1 incomplete, 2 could not check, 64 wrong usage.`

/** Bytes of the longest file of hashes or of a proof. */
const MAX_FILE = 256 * 1024 * 1024

const { rpc, registry, timeout, 'as-of': asOfOption } = SOURCE_OPTIONS
const OPTIONS = {
  ...{ rpc, registry, timeout, 'as-of': asOfOption },
  issuer: { type: 'string' },
  from: { type: 'string' },
  hashes: { type: 'string' },
  proof: { type: 'string' },
  check: { type: 'string' },
  'block-hash': { type: 'string', multiple: true },
  json: { type: 'boolean' },
} as const

/** @returns The exit code. */
export async function listCommand(
  args: string[],
  terminal: Terminal,
): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS })
  const sources = readSources(values)
  const trustedBlocks = readBlockHashes(values['block-hash'])
  if (values.issuer === undefined) throw new UsageError('--issuer is required')
  const issuerId = wholeNumber('issuer', values.issuer, 1)
  if (issuerId > 0xffff_ffff) throw new UsageError('--issuer is too large')
  const from =
    values.from === undefined
      ? (sources.deployedIn ?? 0)
      : wholeNumber('from', values.from)

  const { check, hashes, proof } = values
  if (check === undefined) {
    if (trustedBlocks.length > 0)
      throw new UsageError('--block-hash is for --check')
    const [provider] = sources.nodes
    if (provider === undefined || sources.nodes.length > 1)
      throw new UsageError('--rpc is required, once')
    const origin = hashes === undefined ? { from } : { file: hashes }
    const listing = await listOnline(provider, sources, {
      issuerId,
      origin,
      ...(proof !== undefined && { out: proof }),
    })
    return tell(listing, { sources, issuerId, json: values.json, terminal })
  }
  const isOnline = sources.nodes.length > 0 || sources.asOf !== undefined
  if (isOnline || (values.from ?? hashes ?? proof) !== undefined)
    throw new UsageError(
      '--check asks nobody: without --rpc, --as-of, --from, --hashes and --proof',
    )
  if (trustedBlocks.length === 0)
    throw new UsageError('--block-hash is required with --check')
  const { registry, codeHash } = sources
  const listing = verifyCompleteness(await readAll(check), {
    registry,
    trustedBlocks,
    ...(codeHash !== undefined && { codeHash }),
  })
  return tell(listing, { sources, issuerId, json: values.json, terminal })
}

type Order = {
  issuerId: number
  /** Where the hashes come from: events since a block, or a file. */
  origin: { from: number } | { file: string }
  /** Where the proof goes. */
  out?: string
}

async function listOnline(
  provider: Eip1193Provider,
  { registry, codeHash, asOf }: Sources,
  { issuerId, origin, out }: Order,
): Promise<Completeness> {
  const { keys, block } = await bounded(async () =>
    'file' in origin
      ? { keys: parseHashes(await readAll(origin.file)), block: asOf }
      : collect(provider, registry, issuerId, { ...origin, asOf }),
  )
  const source = { ...keys, block }
  const known = codeHash === undefined ? {} : { codeHash }
  if (out === undefined)
    return bounded(() =>
      readCompleteness(provider, registry, issuerId, { ...source, ...known }),
    )
  const proof = await bounded(() =>
    createCompletenessProof(provider, registry, issuerId, source),
  )
  await write(out, proof)
  const { blockHash } = decodeHeader(proof.header)
  return verifyCompleteness(proof, {
    registry,
    trustedBlocks: [blockHash],
    ...known,
  })
}

/** Events up to the block that the list is for. To collect all takes a while, in which there can be more. */
async function collect(
  provider: Eip1193Provider,
  registry: string,
  issuerId: number,
  { from, asOf }: { from: number; asOf: number | undefined },
): Promise<{ keys: IssuedKeys; block: number }> {
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
    },
    block,
  }
}

async function newestBlock(provider: Eip1193Provider): Promise<number> {
  const answer = await createRequest(provider)('eth_blockNumber', [])
  return readStrictly('eth_blockNumber', () => readQuantity(answer))
}

/** The library takes a list of more than it can hold for misuse; here it may come from a node or a file. */
async function bounded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new InputError('too_many', `the list has ${cause.message}`, cause)
  }
}

/** @returns What is in the lines of a file; what this command prints is one. Other lines are passed over. */
function parseHashes(bytes: Uint8Array): IssuedKeys {
  const documentHashes = new Set<Hex>()
  const roots = new Set<Hex>()
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    const [kind, key] = /^(document|batch)\s+(\S+)/.exec(line)?.slice(1) ?? []
    if (kind === undefined) continue
    if (!/^0x[0-9a-fA-F]{64}$/.test(key ?? ''))
      throw new InputError('unreadable', 'the file has a line without a hash')
    const keys = kind === 'batch' ? roots : documentHashes
    keys.add(key?.toLowerCase() as Hex)
  }
  return { documentHashes: [...documentHashes], roots: [...roots] }
}

async function readAll(file: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(file)
    if (size > MAX_FILE) throw new RangeError(`more than ${MAX_FILE} bytes`)
    return await readFile(file)
  } catch (cause) {
    throw new InputError('unreadable', `${file} cannot be read`, cause)
  }
}

/** In pieces: the text of a long proof need not be in memory twice. */
async function write(file: string, proof: CompletenessProof): Promise<void> {
  try {
    await using opened = await open(file, 'w')
    await opened.writeFile(piecesOf(proof))
  } catch (cause) {
    throw new InputError('unwritable', `${file} cannot be written`, cause)
  }
}

function* piecesOf({ nodes, ...head }: CompletenessProof): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"nodes":[`
  for (const [i, node] of nodes.entries()) yield `${i ? ',' : ''}"${node}"`
  yield ']}\n'
}

function tell(
  result: Completeness,
  {
    sources: { registry },
    issuerId,
    json,
    terminal,
  }: {
    sources: Sources
    issuerId: number
    json: boolean | undefined
    terminal: Terminal
  },
): number {
  if (result.status !== 'unverifiable' && result.issuerId !== issuerId)
    throw new InputError(
      'other_issuer',
      `the proof is one of issuer ${result.issuerId}`,
    )
  const network = networkOf(parseRegistry(registry).chainId)
  if (json) terminal.write(printableJson({ ...result, network }))
  else if (result.status === 'unverifiable') {
    const word = terminal.paint('yellow', 'UNVERIFIABLE')
    terminal.write(`${word}: ${result.code} (${result.message})`)
  } else for (const line of linesOf(result, terminal)) terminal.write(line)
  if (network === 'test') terminal.warn(TEST_NETWORK)
  if (result.status === 'complete') return EXIT.ok
  return result.status === 'incomplete' ? EXIT.notValid : EXIT.noVerdict
}

function* linesOf(
  { status, issuerId, asOf, documents, batches }: Listing,
  { paint }: Terminal,
): Generator<string> {
  for (const { documentHash, record, ...one } of documents.listed)
    yield `document ${documentHash} ${one.status} block ${record.anchoredBlock}, ${time(record.anchoredAt)}, by ${one.account}`
  for (const { root, size, record, ...one } of batches.listed)
    yield `batch ${root} ${one.status} block ${record.anchoredBlock}, ${time(record.anchoredAt)}, by ${one.account}, ${size} documents`
  for (const key of documents.notIssued) yield `not issued: document ${key}`
  for (const key of batches.notIssued) yield `not issued: batch ${key}`
  const word =
    status === 'complete'
      ? paint('green', 'COMPLETE')
      : paint('red', 'INCOMPLETE')
  yield `${word}: ${tallyOf('documents', documents)}, ${tallyOf('batches', batches)}`
  yield `issuer ${issuerId}, as of block ${asOf.blockNumber}, ${time(asOf.blockTime)}${asOf.blockHash ? `, ${asOf.blockHash}` : ''}`
}

function tallyOf(name: string, { count, listed }: Listed<unknown>): string {
  const missing = count - listed.length
  const tally = `${listed.length} of ${count} ${name}`
  return missing === 0 ? tally : `${tally} (${missing} missing)`
}
