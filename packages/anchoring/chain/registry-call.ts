import { setTimeout as sleep } from 'node:timers/promises'
import { keccak256 } from 'ethers/crypto'
import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { asIssueError, IssueError } from '#promise/errors.ts'
import { RpcResponseError } from '#verifier/errors.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import type { Signer } from './signer.ts'

// Sends transactions of commands while no gateway uses the account.

const POLL_INTERVAL_MS = 500
/** Per cent that are added to the gas estimate. */
const GAS_MARGIN = 10n

type CallOptions = {
  signer: Signer
  /** The maximum wei per gas; absent = no maximum. */
  feeCap?: bigint
  /** How long to wait for the block, in milliseconds. */
  patience: number
}

/** A function of the registry with its arguments. */
export type RegistryCall = { method: string; args: readonly unknown[] }

/**
 * Sends a call in one transaction and waits until it is in a block.
 *
 * @throws {IssueError} `registry_refused` when the transaction would revert or has reverted;
 * `fee_too_high`; `signer_unavailable`; `chain_unavailable`, also when the time is up, in which
 * case the transaction may still be mined.
 */
export async function sendCall(
  provider: Eip1193Provider,
  registry: RegistryId,
  call: RegistryCall,
  options: CallOptions,
): Promise<{ blockNumber: number; transactionHash: Hex }> {
  const request = requestOf(provider)
  try {
    const raw = await signCall(provider, registry, call, options)
    const transactionHash = keccak256(raw) as Hex
    const giveUpAt = performance.now() + options.patience
    await broadcast(provider, raw)
    while (performance.now() < giveUpAt) {
      const receipt = await request<{ status: Hex; blockNumber: Hex } | null>(
        'eth_getTransactionReceipt',
        transactionHash,
      )
      if (receipt && BigInt(receipt.status) !== 1n)
        throw new IssueError('registry_refused', `transaction ${transactionHash} reverted`)
      if (receipt) return { blockNumber: Number(receipt.blockNumber), transactionHash }
      await sleep(POLL_INTERVAL_MS)
    }
    throw new IssueError(
      'chain_unavailable',
      `transaction ${transactionHash} is not in a block yet: run the same command again`,
    )
  } catch (error) {
    throw refusalIn(error) ?? asIssueError(error)
  }
}

/**
 * @returns The signed transaction. Its nonce is the next one after the newest block, so that a
 * repeat replaces a waiting transaction instead of following it. Rejects when it would revert.
 */
async function signCall(
  provider: Eip1193Provider,
  registry: RegistryId,
  { method, args }: RegistryCall,
  { signer, feeCap }: CallOptions,
): Promise<Hex> {
  const { chainId, address } = parseRegistry(registry)
  const request = requestOf(provider)
  const data = registryAbi.encodeFunctionData(method, args) as Hex
  const call = { from: signer.address, to: address, data }
  await request('eth_call', call, 'latest')
  const [estimate, nonce, tip, head] = await Promise.all([
    request<Hex>('eth_estimateGas', call).then(BigInt),
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
      `the chain requires ${baseFee + tip} wei per gas, which is more than the cap of ${feeCap}`,
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
    // The node has this transaction, or an earlier one with the same nonce. One of them will be in
    // a block.
    if (!/already (known|imported)|nonce too low|underpriced/i.test(`${error}`)) throw error
  }
}

function requestOf(provider: Eip1193Provider) {
  return <T>(method: string, ...params: unknown[]) =>
    provider.request({ method, params }) as Promise<T>
}

/**
 * @returns Why the registry or the chain refuses the call, with the registry's error if there is
 * one.
 */
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

/** @returns The first value that a view of the registry returns at the newest block. */
export async function readView(
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
