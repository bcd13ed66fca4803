import { setTimeout as sleep } from 'node:timers/promises'
import { Interface, keccak256 } from 'ethers'
import type { Batch } from '../../document/batch/batch.ts'
import type { Hex } from '../../document/hex.ts'
import { RpcResponseError } from '../../verifier/errors.ts'
import type { Eip1193Provider } from '../../verifier/ports.ts'
import { parseRegistry } from '../../verifier/readers/chain.ts'
import { registryAbi } from '../../verifier/readers/registry-abi.ts'
import { RELEASED } from '../../verifier/reasons.ts'
import { asIssueError, IssueError } from '../issue/errors.ts'
import type { Signer } from './signer.ts'

const abi = new Interface(registryAbi)
/** Between looks for the block; milliseconds. */
const POLL = 500
/** Over the estimate; per cent. */
const GAS_MARGIN = 10n

export type AnchorOptions = {
  signer: Signer
  /** Maximum price of a unit of gas, in wei; absent = no maximum. */
  feeCap?: bigint
  /** Milliseconds to wait for a block. */
  patience: number
}

export type Anchored = {
  block: number
  /** `null` when the registry had the root before, or another transaction came first. */
  transactionHash: Hex | null
  /** Whether the whole batch is revoked or suspended by now. */
  revoked: boolean
}

/**
 * Anchors the root of a batch in one transaction and waits until it is in a block. A root that the
 * registry has already is anchored: a repeat is a success.
 *
 * @throws {IssueError} `registry_refused` when it would revert or did; `distrusted`;
 * `fee_too_high`; `signer_unavailable`; `chain_unavailable`, also when the time is up: then a
 * repeat finds it, or sends it again with the same nonce.
 */
export async function anchorBatch(
  provider: Eip1193Provider,
  batch: Batch,
  { signer, feeCap, patience }: AnchorOptions,
): Promise<Anchored> {
  const { issuerId, root, size, manifest } = batch
  const { chainId, address } = parseRegistry(batch.registry)
  const request = <T>(method: string, ...params: unknown[]) =>
    provider.request({ method, params }) as Promise<T>

  const view = (method: string, ...args: unknown[]) =>
    readView(provider, batch.registry, method, args)

  /** @returns What the registry has under the root; `undefined` while it has nothing. */
  async function read(): Promise<Omit<Anchored, 'transactionHash'> | undefined> {
    const record = await view('batchOf', issuerId, root)
    const { anchoredBlock, accountIndex, revokedBlock, reason } = record
    if (anchoredBlock === 0n) return undefined
    const account = await view('accountAt', issuerId, accountIndex)
    const { distrustedFrom } = account
    if (distrustedFrom !== 0n && anchoredBlock >= distrustedFrom)
      throw new IssueError('distrusted', `the batch ${root} reads Distrusted`)
    const revoked = revokedBlock !== 0n && Number(reason) !== RELEASED
    return { block: Number(anchoredBlock), revoked }
  }

  async function sign(): Promise<Hex> {
    const data = abi.encodeFunctionData('issueBatch', [issuerId, root, size, manifest]) as Hex
    const call = { from: signer.address, to: address, data }
    await request('eth_call', call, 'latest')
    const [estimate, nonce, tip, head] = await Promise.all([
      request<Hex>('eth_estimateGas', call).then(BigInt),
      request<Hex>('eth_getTransactionCount', signer.address, 'latest'),
      request<Hex>('eth_maxPriorityFeePerGas').then(BigInt),
      request<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', 'latest', false),
    ])
    const baseFee = BigInt(head.baseFeePerGas)
    if (feeCap !== undefined && baseFee + tip > feeCap)
      throw new IssueError(
        'fee_too_high',
        `the chain asks for ${baseFee + tip} wei a gas, over the cap of ${feeCap}`,
      )
    const wanted = 2n * baseFee + tip
    return signer.sign({
      type: 2,
      chainId,
      // Not the pending one: a repeat replaces what still waits, and never comes on top of it.
      nonce: Number(nonce),
      to: address,
      data,
      gasLimit: (estimate * (100n + GAS_MARGIN)) / 100n,
      maxFeePerGas: feeCap !== undefined && wanted > feeCap ? feeCap : wanted,
      maxPriorityFeePerGas: tip,
    })
  }

  async function broadcast(raw: Hex): Promise<void> {
    try {
      await request('eth_sendRawTransaction', raw)
    } catch (error) {
      // The node has it, or an earlier one of the same nonce: one of them will be in a block.
      if (!/already (known|imported)|nonce too low|underpriced/i.test(`${error}`)) throw error
    }
  }

  async function send(): Promise<Anchored> {
    const raw = await sign()
    const transactionHash = keccak256(raw) as Hex
    const giveUp = performance.now() + patience
    await broadcast(raw)
    while (performance.now() < giveUp) {
      const there = await read()
      const receipt = await request<{ status: Hex } | null>(
        'eth_getTransactionReceipt',
        transactionHash,
      )
      const succeeded = receipt && BigInt(receipt.status) === 1n
      if (there) return { ...there, transactionHash: succeeded ? transactionHash : null }
      if (receipt && !succeeded)
        throw new IssueError('registry_refused', `transaction ${transactionHash} reverted`)
      await sleep(POLL)
    }
    throw new IssueError(
      'chain_unavailable',
      `transaction ${transactionHash} is in no block yet: run the same again`,
    )
  }

  try {
    const there = await read()
    return there ? { ...there, transactionHash: null } : await send()
  } catch (error) {
    throw refusalIn(error) ?? asIssueError(error)
  }
}

/**
 * @returns Whether the registry has the root of a batch.
 * @throws {IssueError} `chain_unavailable`.
 */
export async function isAnchored(
  provider: Eip1193Provider,
  { registry, issuerId, root }: Batch,
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
  registry: string,
  method: string,
  args: unknown[],
) {
  const { address } = parseRegistry(registry)
  const data = abi.encodeFunctionData(method, args)
  const params = [{ to: address, data }, 'latest']
  const result = await provider.request({ method: 'eth_call', params })
  return abi.decodeFunctionResult(method, result as Hex)[0]
}

/** @returns Why the registry or the chain refuses it, in the registry's own words where it gave any. */
function refusalIn(error: unknown): IssueError | undefined {
  if (!(error instanceof RpcResponseError)) return undefined
  const refused = error.code === 3 || /revert|insufficient funds/i.test(error.message)
  if (!refused) return undefined
  const { data, message } = error
  const reason = typeof data === 'string' ? abi.parseError(data) : null
  return new IssueError(
    'registry_refused',
    reason === null ? message : `${reason.name}(${reason.args.join(', ')})`,
    error,
  )
}
