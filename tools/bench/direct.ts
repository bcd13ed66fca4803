// Issuing without a gateway, in transactions of the gateway's maximum size.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { registryAbi } from '#base/registry-abi.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { MAX_BATCH } from '#engine/planner.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import type { BenchChain } from './chain.ts'
import type { Limits } from './processes.ts'

const GAS_A_DOCUMENT = 27_000n
const POLL_MS = 5

type Options = Limits & {
  /**
   * The transactions that may wait for a block; Infinity for a chain that mines before it answers.
   */
  inFlight: number
  /** Wei. geth refuses a transaction that may cost more than 1 ether. */
  maxFeePerGas?: bigint
}

/** Issues hashes, and waits until they are in blocks. @returns The number of documents. */
export async function issueHashes(
  { rpc, registry, issuerKey }: Pick<BenchChain, 'rpc' | 'registry' | 'issuerKey'>,
  { documents, seconds, inFlight, maxFeePerGas = 10n ** 12n }: Options,
  hashOf: (number: number) => Hex = () => toHex(randomBytes(32)),
): Promise<number> {
  const wallet = new Wallet(issuerKey)
  const { chainId, address } = parseRegistry(registry)
  const request = (method: string, ...params: unknown[]) => rpc.request({ method, params })
  const mined = async () =>
    Number(await request('eth_getTransactionCount', wallet.address, 'latest'))

  async function send(nonce: number, from: number): Promise<void> {
    const size = Math.min(MAX_BATCH, documents - from)
    const hashes = Array.from({ length: size }, (_, i) => hashOf(from + i))
    const expiries = hashes.map(() => 0)
    const raw = await wallet.signTransaction({
      type: 2,
      chainId,
      nonce,
      to: address,
      data: registryAbi.encodeFunctionData('issueMany', [1, hashes, expiries]),
      gasLimit: 100_000n + GAS_A_DOCUMENT * BigInt(size),
      maxFeePerGas,
      maxPriorityFeePerGas: 1n,
    })
    await request('eth_sendRawTransaction', raw)
  }

  const until = performance.now() + seconds * 1000
  const first = await mined()
  let issued = 0
  let nonce = first
  for (; issued < documents && performance.now() < until; nonce++) {
    while (nonce - first >= inFlight && nonce - (await mined()) >= inFlight) await sleep(POLL_MS)
    await send(nonce, issued)
    issued = Math.min(documents, issued + MAX_BATCH)
  }
  while ((await mined()) < nonce) await sleep(POLL_MS)
  return issued
}
