import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import { createBlockWatch } from '#finality/block-watch.ts'
import { type BlockId, UNSEEN } from '#promise/anchoring.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createWholeOutbox } from '#test/support/outbox.ts'

const hash = (): Hex => toHex(randomBytes(32))

/** A chain of blocks, and a watch whose outbox can have documents in them. */
function startWatch() {
  const dir = mkdtempSync(join(tmpdir(), 'block-watch-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  onTestFinished(async () => {
    await database.close()
    rmSync(dir, { recursive: true })
  })
  const outbox = createWholeOutbox(database)
  let chain = new Map<number, Hex>()
  const watch = createBlockWatch({
    blocks: { blockHash: async (blockNumber) => chain.get(blockNumber) ?? null },
    outbox,
    signal: new AbortController().signal,
  })
  const replaced: BlockId[] = []

  return {
    /** Replaces the chain from this block on. */
    fork(from: number, to: number) {
      const kept = [...chain].filter(([number]) => number < from)
      const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i)
      chain = new Map([...kept, ...numbers.map((number) => [number, hash()] as const)])
    },
    /** Notes a document in a block of the chain. */
    async anchor(blockNumber: number, blockHash = chain.get(blockNumber) ?? hash()) {
      const action = { kind: 'issue', documentHash: hash(), validUntil: 0 } as const
      const block = { blockNumber, blockHash }
      await outbox.guard(action, { ...block, transactionHash: hash() })
      return block
    },
    isIdle: watch.isIdle,
    /** @param next The chain from now on. @returns The chain before. */
    chainOf(next = chain) {
      const before = chain
      chain = next
      return before
    },
    /** @returns The blocks that were replaced since the last call. */
    async poll(): Promise<BlockId[]> {
      await watch.poll(async (blocks) => void replaced.push(...blocks))
      return replaced.splice(0)
    },
  }
}

test('reports a replaced block at the second poll that misses it', async () => {
  const { fork, anchor, poll } = startWatch()
  fork(1, 6)
  const [five] = [await anchor(5), await anchor(3)]
  expect(await poll()).toEqual([])
  fork(4, 6)
  expect(await poll()).toEqual([])
  expect(await poll()).toEqual([five])
})

test.each([
  ['later', 6],
  ['the same', 5],
  ['an earlier', 4],
])(
  'reports replaced blocks although a new one with %s number is on the chain',
  async (_, newest) => {
    const { fork, anchor, poll } = startWatch()
    fork(1, 6)
    const seen = [await anchor(4), await anchor(5)]
    expect(await poll()).toEqual([])
    fork(3, 6)
    await anchor(newest)
    await poll()
    expect(await poll()).toEqual(seen)
  },
)

test('does not report a block that returns before the second poll', async () => {
  const { fork, anchor, poll, chainOf } = startWatch()
  fork(1, 6)
  await anchor(5)
  const before = chainOf()
  fork(4, 6)
  expect(await poll()).toEqual([])
  chainOf(before)
  expect(await poll()).toEqual([])
  fork(4, 6)
  expect(await poll()).toEqual([])
})

test('reports a block whose hash is unknown at the first poll', async () => {
  const { fork, anchor, poll } = startWatch()
  fork(1, 6)
  const unknown = await anchor(5, UNSEEN)
  expect(await poll()).toEqual([unknown])
})

test('does nothing until something is in a block', async () => {
  const { fork, anchor, poll, isIdle } = startWatch()
  fork(1, 6)
  expect(await isIdle()).toBe(true)
  await anchor(5)
  expect(await isIdle()).toBe(false)
  // It must be watched until it is final.
  await poll()
  expect(await isIdle()).toBe(false)
})
