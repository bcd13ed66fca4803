import { setTimeout as sleep } from 'node:timers/promises'
import { keccak256, toQuantity } from 'ethers'
import { registryAbi } from '#base/registry-abi.ts'
import type { Batch } from '#document/batch/batch.ts'
import type { Hex } from '#document/hex.ts'
import { asIssueError, IssueError } from '#promise/errors.ts'
import { revocationOf } from '#promise/record.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { isDistrustedAt } from '#verifier/status.ts'
import {
  broadcast,
  type CallOptions,
  readView,
  refusalIn,
  requestOf,
  signCall,
} from './registry-call.ts'

/** Between two looks for the block. */
const POLL_INTERVAL_MS = 500

export type AnchorOptions = CallOptions & {
  /** How long to wait for a block; milliseconds. */
  patience: number
}

type BatchId = Pick<Batch, 'registry' | 'issuerId' | 'root'>

export type Anchored = {
  block: number
  /** `null` when the root was already anchored, or another transaction anchored it first. */
  transactionHash: Hex | null
  /** Whether the whole batch is revoked or suspended now. */
  revoked: boolean
}

/**
 * Anchors the root of a batch in one transaction and waits until it is in a block. A root that is
 * already in the registry is anchored: a repeat is a success.
 *
 * @throws {IssueError} `registry_refused` when the transaction would revert or did; `distrusted`;
 * `fee_too_high`; `signer_unavailable`; `chain_unavailable`, also when the time is up: then a
 * repeat finds the root, or sends the transaction again with the same nonce.
 */
export async function anchorBatch(
  provider: Eip1193Provider,
  batch: Batch,
  options: AnchorOptions,
): Promise<Anchored> {
  try {
    const anchored = await readAnchored(provider, batch)
    if (anchored) return { ...anchored, transactionHash: null }
    const raw = await signAnchoring(provider, batch, options)
    const giveUpAt = performance.now() + options.patience
    await broadcast(provider, raw)
    return await waitForBlock(provider, batch, keccak256(raw) as Hex, giveUpAt)
  } catch (error) {
    throw refusalIn(error) ?? asIssueError(error)
  }
}

/** @returns The registry's record of the root; `undefined` while there is none. */
async function readAnchored(
  provider: Eip1193Provider,
  { registry, issuerId, root }: BatchId,
): Promise<Omit<Anchored, 'transactionHash'> | undefined> {
  const record = await readView(provider, registry, 'batchOf', [issuerId, root])
  const [block, revokedBlock] = [Number(record.anchoredBlock), Number(record.revokedBlock)]
  if (block === 0) return undefined
  const accountAt = async (index: bigint) => {
    const account = await readView(provider, registry, 'accountAt', [issuerId, index])
    return { distrustedFrom: Number(account.distrustedFrom) }
  }
  if (isDistrustedAt(await accountAt(record.accountIndex), block))
    throw new IssueError('distrusted', `the batch ${root} reads Distrusted`)
  const revoker = revokedBlock === 0 ? null : await accountAt(record.revokerIndex)
  const revocation = revocationOf({ revokedBlock, reason: Number(record.reason), revoker })
  return { block, revoked: revocation === 'suspended' || revocation === 'final' }
}

/** @returns The signed transaction. Rejects when it would revert. */
function signAnchoring(
  provider: Eip1193Provider,
  { registry, issuerId, root, size, manifest }: Batch,
  options: CallOptions,
): Promise<Hex> {
  const args = [issuerId, root, size, manifest]
  return signCall(provider, registry, { method: 'issueBatch', args }, options)
}

/** @param giveUpAt In the time of `performance.now()`. */
async function waitForBlock(
  provider: Eip1193Provider,
  batch: BatchId,
  transactionHash: Hex,
  giveUpAt: number,
): Promise<Anchored> {
  const request = requestOf(provider)
  while (performance.now() < giveUpAt) {
    const anchored = await readAnchored(provider, batch)
    const receipt = await request<{ status: Hex } | null>(
      'eth_getTransactionReceipt',
      transactionHash,
    )
    const succeeded = receipt && BigInt(receipt.status) === 1n
    if (anchored) return { ...anchored, transactionHash: succeeded ? transactionHash : null }
    if (receipt && !succeeded)
      throw new IssueError('registry_refused', `transaction ${transactionHash} reverted`)
    await sleep(POLL_INTERVAL_MS)
  }
  throw new IssueError(
    'chain_unavailable',
    `transaction ${transactionHash} is not in a block yet: run the same command again`,
  )
}

/**
 * @param block The block in which the batch was anchored.
 * @returns The transaction that anchored a batch; `null` when the node does not have its event.
 * @throws {RpcResponseError} When the node refuses the question, and what the provider throws.
 */
export async function transactionOf(
  provider: Eip1193Provider,
  { registry, issuerId, root }: BatchId,
  block: number,
): Promise<Hex | null> {
  return (await eventOf(provider, { registry, issuerId, root }, block))?.transactionHash ?? null
}

/**
 * @param block The block in which the batch was anchored.
 * @returns Its size and manifest; `null` when the node does not have its event, the only place on
 *   the chain that has the manifest.
 * @throws {RpcResponseError} When the node refuses the question, and what the provider throws.
 */
export async function contentOf(
  provider: Eip1193Provider,
  batch: BatchId,
  block: number,
): Promise<{ size: bigint; manifest: Hex } | null> {
  const log = await eventOf(provider, batch, block)
  const event = log && registryAbi.parseLog(log)
  return event ? { size: event.args.size, manifest: event.args.manifest } : null
}

async function eventOf(
  provider: Eip1193Provider,
  { registry, issuerId, root }: BatchId,
  block: number,
): Promise<{ transactionHash: Hex; topics: string[]; data: string } | undefined> {
  const { address } = parseRegistry(registry)
  const [fromBlock, toBlock] = [toQuantity(block), toQuantity(block)]
  const topics = registryAbi.encodeFilterTopics('BatchIssued', [root, issuerId])
  const params = [{ address, fromBlock, toBlock, topics }]
  const logs = await provider.request({ method: 'eth_getLogs', params })
  return (logs as { transactionHash: Hex; topics: string[]; data: string }[])[0]
}

/**
 * @returns Whether the registry has the root of a batch.
 * @throws {IssueError} `chain_unavailable`.
 */
export async function isAnchored(
  provider: Eip1193Provider,
  { registry, issuerId, root }: BatchId,
): Promise<boolean> {
  try {
    const view = await readView(provider, registry, 'batchOf', [issuerId, root])
    return view.anchoredBlock !== 0n
  } catch (error) {
    throw asIssueError(error)
  }
}
