import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { gethBinary } from '../support/geth.ts'
import { type GethWorld, startGethWorld } from './support/geth-world.ts'
import { NOTHING_WRONG } from './support/oracle.ts'

// Builds geth before the clock runs: the first build takes minutes.
const binary = await gethBinary()

/** The seconds of load before the fork and after it. */
const [BEFORE, AFTER] = [6, 6]

test('behavior: issues through a fork that makes new state several times as dear', async ({
  skip,
}) => {
  const path = binary ?? skip()
  const options: string[] = []
  const world = await startGethWorld(path, {}, {}, options)
  onTestFinished(world.close)
  const { client, chain } = world
  const forkAt = Math.ceil(Date.now() / 1000) + BEFORE
  options.push('--override.amsterdam', String(forkAt))
  await chain.save()
  const issues = (count: number) => Array.from({ length: count }, () => client.issue())
  const load: Promise<unknown>[] = []
  while (Date.now() < (forkAt + AFTER) * 1000) {
    load.push(...issues(30))
    await sleep(500)
  }
  // Without transactions from before the fork, and more than fit in one now.
  await Promise.all(load)
  const settledAt = Date.now() / 1000
  await Promise.all(issues(250))
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)

  const sent = await transactionsOf(world)
  const before = sent.filter(({ time }) => time < forkAt)
  const after = sent.filter(({ time }) => time > settledAt)
  const gasOf = (some: typeof sent) => Math.max(...some.map(({ gas, issued }) => gas / issued))
  expect(before.concat(after).filter(({ issued }) => issued === 0)).toEqual([])
  expect(gasOf(before)).toBeLessThan(60_000)
  expect(gasOf(after)).toBeGreaterThan(100_000)
  expect(Math.max(...after.map(({ issued }) => issued))).toBeGreaterThan(50)
})

/** @returns The transactions of the gateway's account in blocks. */
async function transactionsOf({ chain, accounts }: GethWorld) {
  type Receipt = { from: Hex; gasUsed: Hex; logs: unknown[]; status: Hex }
  const sent: { time: number; gas: number; issued: number }[] = []
  const head = Number(await chain.request<Hex>('eth_blockNumber'))
  for (let number = 0; number <= head; number++) {
    const block = `0x${number.toString(16)}`
    const [{ timestamp }, receipts] = await Promise.all([
      chain.request<{ timestamp: Hex }>('eth_getBlockByNumber', block, false),
      chain.request<Receipt[]>('eth_getBlockReceipts', block),
    ])
    for (const { from, gasUsed, logs, status } of receipts)
      if (from === accounts[0]?.toLowerCase())
        sent.push({
          time: Number(timestamp),
          gas: Number(gasUsed),
          issued: status === '0x1' ? logs.length : 0,
        })
  }
  return sent
}
