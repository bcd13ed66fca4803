import { setTimeout as sleep } from 'node:timers/promises'
import { keccak256, toQuantity } from 'ethers'
import type { Batch } from '../../../document/batch/batch.ts'
import type { Hex } from '../../../document/hex.ts'
import type { RegistryId } from '../../../document/registry-id.ts'
import { RpcResponseError } from '../../../verifier/errors.ts'
import type { Eip1193Provider } from '../../../verifier/ports.ts'
import { parseRegistry } from '../../../verifier/readers/chain.ts'
import { RELEASED } from '../../../verifier/reasons.ts'
import { asIssueError, IssueError } from '../../issue/errors.ts'
import { registryAbi } from '../../registry-abi.ts'
import type { Signer } from './signer.ts'

/** Between two looks for the block. */
const POLL_INTERVAL_MS = 500
/** Added to the gas estimate; per cent. */
const GAS_MARGIN = 10n

export type AnchorOptions = {
  signer: Signer
  /** Maximum price of a unit of gas, in wei; absent = no maximum. */
  feeCap?: bigint
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
  const { anchoredBlock, accountIndex, revokedBlock, reason } = record
  if (anchoredBlock === 0n) return undefined
  const account = await readView(provider, registry, 'accountAt', [issuerId, accountIndex])
  const { distrustedFrom } = account
  if (distrustedFrom !== 0n && anchoredBlock >= distrustedFrom)
    throw new IssueError('distrusted', `the batch ${root} reads Distrusted`)
  const revoked = revokedBlock !== 0n && Number(reason) !== RELEASED
  return { block: Number(anchoredBlock), revoked }
}

/** @returns The signed transaction. Rejects when it would revert. */
async function signAnchoring(
  provider: Eip1193Provider,
  { registry, issuerId, root, size, manifest }: Batch,
  { signer, feeCap }: AnchorOptions,
): Promise<Hex> {
  const { chainId, address } = parseRegistry(registry)
  const request = requestOf(provider)
  const data = registryAbi.encodeFunctionData('issueBatch', [issuerId, root, size, manifest]) as Hex
  const call = { from: signer.address, to: address, data }
  await request('eth_call', call, 'latest')
  const [estimate, nonce, tip, head] = await Promise.all([
    request<Hex>('eth_estimateGas', call).then(BigInt),
    // Not the pending count: a repeat replaces a waiting transaction, and never follows it.
    request<Hex>('eth_getTransactionCount', signer.address, 'latest'),
    request<Hex>('eth_maxPriorityFeePerGas').then(BigInt),
    request<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', 'latest', false),
  ])
  return signer.sign({
    type: 2,
    chainId,
    nonce: Number(nonce),
    to: address,
    data,
    gasLimit: (estimate * (100n + GAS_MARGIN)) / 100n,
    ...feesWithin(feeCap, BigInt(head.baseFeePerGas), tip),
  })
}

/** @throws {IssueError} `fee_too_high`. */
function feesWithin(feeCap: bigint | undefined, baseFee: bigint, tip: bigint) {
  if (feeCap !== undefined && baseFee + tip > feeCap)
    throw new IssueError(
      'fee_too_high',
      `the chain asks for ${baseFee + tip} wei a gas, over the cap of ${feeCap}`,
    )
  const wanted = 2n * baseFee + tip
  return {
    maxFeePerGas: feeCap !== undefined && wanted > feeCap ? feeCap : wanted,
    maxPriorityFeePerGas: tip,
  }
}

async function broadcast(provider: Eip1193Provider, raw: Hex): Promise<void> {
  try {
    await requestOf(provider)('eth_sendRawTransaction', raw)
  } catch (error) {
    // The node has it, or an earlier one of the same nonce: one of them will be in a block.
    if (!/already (known|imported)|nonce too low|underpriced/i.test(`${error}`)) throw error
  }
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

function requestOf(provider: Eip1193Provider) {
  return <T>(method: string, ...params: unknown[]) =>
    provider.request({ method, params }) as Promise<T>
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
  const { address } = parseRegistry(registry)
  const [fromBlock, toBlock] = [toQuantity(block), toQuantity(block)]
  const topics = registryAbi.encodeFilterTopics('BatchIssued', [root, issuerId])
  const params = [{ address, fromBlock, toBlock, topics }]
  const logs = (await provider.request({ method: 'eth_getLogs', params })) as {
    transactionHash: Hex
  }[]
  return logs[0]?.transactionHash ?? null
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

async function readView(
  provider: Eip1193Provider,
  registry: RegistryId,
  method: string,
  args: unknown[],
) {
  const { address } = parseRegistry(registry)
  const data = registryAbi.encodeFunctionData(method, args)
  const params = [{ to: address, data }, 'latest']
  const result = await provider.request({ method: 'eth_call', params })
  return registryAbi.decodeFunctionResult(method, result as Hex)[0]
}

/** @returns Why the registry or the chain refuses the call; the registry's error if there is one. */
function refusalIn(error: unknown): IssueError | undefined {
  if (!(error instanceof RpcResponseError)) return undefined
  const refused = error.code === 3 || /revert|insufficient funds/i.test(error.message)
  if (!refused) return undefined
  const { data, message } = error
  const reason = typeof data === 'string' ? registryAbi.parseError(data) : null
  return new IssueError(
    'registry_refused',
    reason === null ? message : `${reason.name}(${reason.args.join(', ')})`,
    error,
  )
}
