import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { ChainError } from '#verifier/errors.ts'
import type { IssuerCounts } from '#verifier/proof/completeness.ts'
import { slotsOfIssuer, unpackState } from '#verifier/proof/slots.ts'
import { parseRegistry, refuseAnswer } from '#verifier/readers/chain.ts'
import { decodeCounts, encodeIssuerCall } from '#verifier/readers/listing-codec.ts'
import { scanLogs } from '#verifier/readers/log-scan.ts'
import { type Request, readStrictly } from '#verifier/readers/request.ts'
import { readBytes, readQuantity } from '#verifier/readers/rpc-codec.ts'
import type { SlotProver } from '#verifier/readers/slot-prover.ts'
import { InputError } from '../errors.ts'
import { grouped } from './charts.ts'
import { type FindingLog, MAX_EXAMPLES } from './findings.ts'
import { decodeIssuedLog, issuedTopics } from './registry-events.ts'

/** An issuer at a block. */
type IssuerAt = { registry: RegistryId; issuerId: number; block: number }

const LATER = 'run this again when a newer block is final, or name one with --as-of'

/**
 * @returns The counts of an issuer in the registry at a block, by proof.
 * @throws {InputError} `unknown_issuer`, `issuer_newer`
 * @throws {ChainError} as {@link SlotProver}; `no_registry` tells whether the registry is newer.
 */
export async function readKnownIssuer(
  prover: SlotProver,
  at: IssuerAt & { request: Request },
): Promise<IssuerCounts> {
  const { request, registry, issuerId, block } = at
  let counts: IssuerCounts | undefined
  try {
    await prover.prove([slotsOfIssuer(issuerId).state], (word) => {
      counts = unpackState(word)
    })
  } catch (error) {
    if (!(error instanceof ChainError) || error.code !== 'no_registry') throw error
    if (!(await hasCode(request, registry))) throw error
    const message = `the registry was deployed after block ${block}: ${LATER}`
    throw new ChainError('no_registry', message, error)
  }
  if (!counts?.accountCount) throw await unknownIssuer(at)
  return counts
}

/**
 * @param at An issuer that the registry does not have at this block. Without a request, no node is
 * asked whether it has been registered since.
 */
export async function unknownIssuer({
  request,
  ...at
}: IssuerAt & { request?: Request }): Promise<InputError> {
  const { issuerId, block } = at
  const head = request && (await readHead(request, at).catch(() => undefined))
  if (head && head.accountCount > 0)
    return new InputError(
      'issuer_newer',
      `issuer ${issuerId} was registered after block ${block}: ${LATER}`,
    )
  const since = head ? ', nor at the newest block' : ''
  return new InputError(
    'unknown_issuer',
    `the registry has no issuer ${issuerId} at block ${block}${since}`,
  )
}

/** How much the registry counts after the block of an audit, according to the node. */
export type Newer = { documents: number; batches: number }

/**
 * The number of blocks after that of the audit in which newer documents are searched, to name them.
 */
const MAX_NAMED_BLOCKS = 10_000

export async function readNewer(
  issuer: Omit<IssuerAt, 'block'>,
  { request, counts }: { request: Request; counts: IssuerCounts },
): Promise<Newer> {
  const head = await readHead(request, issuer)
  return {
    documents: Math.max(0, head.documentCount - counts.documentCount),
    batches: Math.max(0, head.batchCount - counts.batchCount),
  }
}

/** @returns A sentence; empty if nothing is newer. */
export function newerSentence({ documents, batches }: Newer): string {
  const counts = [
    ...(documents > 0 ? [`${grouped(documents)} document${documents === 1 ? '' : 's'}`] : []),
    ...(batches > 0 ? [`${grouped(batches)} batch${batches === 1 ? '' : 'es'}`] : []),
  ]
  if (counts.length === 0) return ''
  return `Not included, because the node says they are newer than this block: ${counts.join(' and ')}.`
}

/** Adds what is newer to the findings, with the first hashes. */
export async function nameNewer(
  { registry, issuerId }: Omit<IssuerAt, 'block'>,
  { request, header }: { request: Request; header: { blockNumber: number } },
  newer: Newer,
  findings: FindingLog,
): Promise<void> {
  if (newer.documents + newer.batches === 0) return
  const after = { registry, issuerId, block: header.blockNumber }
  const keys = await readNewerKeys(request, after).catch((error) => {
    // The count does not depend on events, which a node may refuse.
    if (error instanceof ChainError) return NO_KEYS
    throw error
  })
  for (const [code, count, named] of [
    ['documents_newer', newer.documents, keys.document],
    ['batches_newer', newer.batches, keys.batch],
  ] as const) {
    const shown = [...named].slice(0, count)
    for (const key of shown) findings.add(code, key)
    if (count > shown.length) findings.add(code, undefined, count - shown.length)
  }
}

type Keys = Record<'document' | 'batch', ReadonlySet<Hex>>
const NO_KEYS: Keys = { document: new Set(), batch: new Set() }

async function readNewerKeys(
  request: Request,
  { registry, issuerId, block }: IssuerAt,
): Promise<Keys> {
  const { address } = parseRegistry(registry)
  const answer = await request('eth_blockNumber', [])
  const head = readStrictly('eth_blockNumber', () => readQuantity(answer))
  const keys = { document: new Set<Hex>(), batch: new Set<Hex>() }
  const filters = [{ address, topics: issuedTopics(issuerId) }]
  const range = { from: block + 1, to: Math.min(head, block + MAX_NAMED_BLOCKS) }
  for await (const { logs } of scanLogs(request, filters, range)) {
    for (const log of logs[0] ?? []) {
      const { kind, key } = readStrictly('eth_getLogs', () =>
        decodeIssuedLog(log, { address, issuerId }),
      )
      keys[kind].add(key)
    }
    if (keys.document.size >= MAX_EXAMPLES) break
  }
  return keys
}

/** @returns The issuer's counts at the newest block, according to the node. */
async function readHead(
  request: Request,
  { registry, issuerId }: Omit<IssuerAt, 'block'>,
): Promise<IssuerCounts> {
  const { address: to } = parseRegistry(registry)
  const answer = await request('eth_call', [{ to, data: encodeIssuerCall(issuerId) }, 'latest'])
  return refuseAnswer(() => decodeCounts(answer))
}

async function hasCode(request: Request, registry: RegistryId): Promise<boolean> {
  const { address } = parseRegistry(registry)
  const answer = await request('eth_getCode', [address, 'latest'])
  return readStrictly('eth_getCode', () => readBytes(answer)).length > 0
}
