import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import type { AnvilNode } from '../../support/anvil.ts'
import type { Told } from './wish.ts'
import type { World } from './world.ts'

/** The result of requests at a steady rate. */
export type SteadyLoad = {
  requests: number
  /** The number of requests answered once the document was in a block (201), and before (202). */
  anchored: number
  pending: number
  /** The response time in milliseconds: 99th percentile and maximum. */
  p99: number
  slowest: number
  blocks: number
  transactions: number
}

/** Makes the chain mine at this interval only, in seconds. */
export async function mineEvery({ request }: AnvilNode, seconds: number): Promise<void> {
  // Anvil dates many blocks within one second ahead; wait until the clock catches up.
  const isAhead = async () => {
    const { timestamp } = await request<{ timestamp: string }>(
      'eth_getBlockByNumber',
      'latest',
      false,
    )
    return Number(timestamp) >= Date.now() / 1000
  }
  while (await isAhead()) await sleep(250)
  await request('evm_setAutomine', false)
  await request('evm_setIntervalMining', seconds)
}

/** Sends requests at a steady rate without waiting for earlier ones. */
export async function runSteadyLoad(
  { chain, client, issuerKeys: [issuerKey] }: Omit<World, 'settle' | 'judge'>,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<SteadyLoad> {
  const { address } = new Wallet(issuerKey)
  const read = async () => ({
    nonce: Number(await chain.request('eth_getTransactionCount', address, 'latest')),
    block: Number(await chain.request('eth_blockNumber')),
  })
  const before = await read()
  const answers: Promise<{ told: Told | undefined; took: number }>[] = []
  const began = performance.now()
  for (let i = 0; i < perSecond * seconds; i++) {
    await sleep(Math.max(0, began + (i * 1000) / perSecond - performance.now()))
    const sent = performance.now()
    answers.push(
      client.issue().then(({ told: [told] }) => ({ told, took: performance.now() - sent })),
    )
  }
  const answered = await Promise.all(answers)
  const after = await read()
  const times = answered.map(({ took }) => took).sort((a, b) => a - b)
  const count = (status: number) =>
    answered.filter(({ told }) => told?.kind === 'issued' && told.status === status).length
  return {
    requests: answered.length,
    anchored: count(201),
    pending: count(202),
    p99: Math.round(times[Math.floor(times.length * 0.99)] ?? 0),
    slowest: Math.round(times.at(-1) ?? 0),
    blocks: after.block - before.block,
    transactions: after.nonce - before.nonce,
  }
}
