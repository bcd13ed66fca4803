import type { DatabaseSync } from 'node:sqlite'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { ChainError } from '#verifier/errors.ts'
import type { BlockSource, Eip1193Provider } from '#verifier/ports.ts'
import type { IssuerCounts } from '#verifier/proof/completeness.ts'
import { decodeHeader, type Header } from '#verifier/proof/header.ts'
import { readProof } from '#verifier/proof/invalid.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { createFinalityReader } from '#verifier/readers/finality.ts'
import { patientRequest } from '#verifier/readers/patience.ts'
import { fetchHeader, unlessOvertaken } from '#verifier/readers/proof.ts'
import { createRequest, type Request, readStrictly } from '#verifier/readers/request.ts'
import { readQuantity } from '#verifier/readers/rpc-codec.ts'
import { createSlotProver, type SlotProver } from '#verifier/readers/slot-prover.ts'
import { InputError } from '../errors.ts'
import { auditIssuer } from './audit-issuer.ts'
import { type Collection, openCollection } from './collect.ts'
import { createFindingLog } from './findings.ts'
import { type Newer, nameNewer, readKnownIssuer, readNewer } from './known-issuer.ts'
import type { Phases } from './phases.ts'
import type { IssuerAudit } from './result.ts'
import { isScratchError } from './scratch.ts'

export type RunOptions = {
  provider: Eip1193Provider
  registry: RegistryId
  /** keccak256 of the registry's code, if known. */
  codeHash?: Hex | undefined
  issuerId: number
  from: number
  asOf?: number | undefined
  /** The file of an issuer's checkpoint. */
  checkpoint?: (issuerId: number) => string
  list?: string | undefined
  sources: readonly BlockSource[]
  payloads: boolean
  publicIds?: string | undefined
  expectedAccounts: readonly Hex[]
  youngSeconds: number
  phases: Phases
  /** A temporary database for this run. The lines of the result are read from it. */
  scratch: DatabaseSync
}

/** The block of an audit. */
export type AsOf = Header & {
  /** Whether the node reports it as final; `null` = unknown. */
  isFinal: boolean | null
}

/** An audit of one issuer, with its block. */
export type Audit = IssuerAudit & { asOf: AsOf; newer: Newer }

/**
 * Audits an issuer at the newest final block or at the requested one. If the node no longer has the
 * state, it starts again at a newer block, up to five times in all.
 *
 * @throws {ChainError} when the chain cannot be read.
 */
export async function runAudit(options: RunOptions): Promise<Audit> {
  const { codeHash } = options
  const checkpoint = options.checkpoint?.(options.issuerId)
  return withCollection({ ...options, checkpoint }, async (collection, pinned) => {
    const { request, prover, header } = pinned
    const findings = createFindingLog()
    const newer = await readNewer(options, pinned)
    await nameNewer(options, pinned, newer, findings)
    if (!(await collection.advance(header.blockNumber))) findings.add('events_pruned')
    if (header.isFinal !== true) findings.add('not_final')
    if (codeHash === undefined) findings.add('code_unchecked')
    const about = { ...options, request, header, findings }
    return { ...(await auditIssuer(prover, collection.ledger, about)), asOf: header, newer }
  })
}

type IssuerOption = 'registry' | 'codeHash' | 'issuerId' | 'asOf'

/** The block that is read, in which the issuer is registered. */
type Pinned = {
  request: Request
  header: AsOf
  prover: SlotProver
  /** The counts at this block. */
  counts: IssuerCounts
}

/**
 * Opens a collection, and works with it again when the chain has moved on meanwhile. For an issuer
 * that the registry does not have, nothing is read and no file is written.
 */
export async function withCollection<T>(
  options: Pick<RunOptions, IssuerOption | 'provider' | 'from' | 'list' | 'phases' | 'scratch'> & {
    checkpoint?: string | undefined
  },
  work: (collection: Collection, pinned: Pinned) => Promise<T>,
): Promise<T> {
  const request = patientRequest(createRequest(options.provider))
  let collection: Collection | undefined
  try {
    return await unlessOvertaken({ block: options.asOf }, async () => {
      const pinned = await pinIssuer(request, options)
      collection ??= await openCollection({ ...options, request })
      return work(collection, pinned)
    })
  } catch (cause) {
    if (isScratchError(cause))
      throw new InputError('unwritable', 'the temporary files cannot be written', cause)
    if (!(cause instanceof RangeError)) throw cause
    throw new InputError('too_many', `the list has ${cause.message}`, cause)
  } finally {
    options.phases.end()
    await collection?.close()
  }
}

/** @throws {ChainError | InputError} as {@link pinBlock} and {@link readKnownIssuer}. */
async function pinIssuer(
  request: Request,
  { registry, codeHash, issuerId, asOf }: Pick<RunOptions, IssuerOption>,
): Promise<Pinned> {
  const header = await pinBlock(request, registry, asOf)
  const { address } = parseRegistry(registry)
  const prover = createSlotProver({ request, address, header, codeHash })
  const at = { request, registry, issuerId, block: header.blockNumber }
  return { request, header, prover, counts: await readKnownIssuer(prover, at) }
}

/**
 * @returns The header of the newest final block, or of the requested block unless that is too new.
 */
export async function pinBlock(
  request: Request,
  registry: RegistryId,
  asOf: number | undefined,
): Promise<AsOf> {
  const answer = await request('eth_chainId', [])
  const { chainId } = parseRegistry(registry)
  const actual = readStrictly('eth_chainId', () => readQuantity(answer))
  if (actual !== chainId)
    throw new ChainError('wrong_chain', `the node is on chain ${actual}, not ${chainId}`)
  const final = await finalBlock(request)
  const blockNumber = asOf ?? final ?? (await newestBlock(request))
  const rlp = await fetchHeader(request, blockNumber, undefined)
  const header = readProof(() => decodeHeader(rlp))
  if (header.blockNumber !== blockNumber)
    throw new ChainError(
      'state_unavailable',
      `the node returned a header that is not of block ${blockNumber}`,
    )
  return { ...header, isFinal: final === undefined ? null : blockNumber <= final }
}

/** @returns `undefined` when the node does not say, or reports only the first block as final. */
async function finalBlock(request: Request): Promise<number | undefined> {
  try {
    return (await createFinalityReader(request).finalizedBlock()) || undefined
  } catch (error) {
    if (error instanceof ChainError && error.code === 'rpc_error') return undefined
    throw error
  }
}

async function newestBlock(request: Request): Promise<number> {
  const answer = await request('eth_blockNumber', [])
  return readStrictly('eth_blockNumber', () => readQuantity(answer))
}
