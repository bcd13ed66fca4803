import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import { watchFinality } from '#finality/finality.ts'
import type { Intent } from '#promise/intent.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createWholeOutbox, waitingFor } from '#test/support/outbox.ts'
import { RELEASED } from '#verifier/reasons.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const hash = (): Hex => toHex(randomBytes(32))
const none = async () => Promise.reject(new Error('not called'))

/**
 * A suspension in block 5, final by now, which another account of the issuer released in block 6.
 */
async function released(isOnChain: boolean) {
  const dir = mkdtempSync(join(tmpdir(), 'finality-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  const outbox = createWholeOutbox(database)
  const suspension: Intent = { kind: 'suspend', documentHash: hash() }
  const anchoring = {
    blockNumber: 5,
    blockHash: hash(),
    transactionHash: hash(),
  }
  await outbox.add(suspension)
  await outbox.resolve({
    anchored: [{ intent: suspension, anchoring }],
    gone: [],
  })
  const stop = watchFinality({
    registry: {
      // Receipts and transactions are gone.
      receiptOf: async () => undefined,
      isPooled: async () => false,
      transactionsOf: async () => undefined,
      records: async () => [
        {
          accountIndex: 0,
          anchoredAt: 1,
          anchoredBlock: 4,
          validUntil: 0,
          distrusted: false,
          revoker: null,
          setAside: false,
          revokerIndex: 1,
          revokedBlock: 6,
          revokedAt: 1,
          reason: RELEASED,
        },
      ],
    },
    blocks: {
      head: none,
      block: none,
      finalizedBlock: async () => 10,
      blockHash: async () => (isOnChain ? anchoring.blockHash : hash()),
    },
    outbox,
    batcher: { wake() {} },
    final() {},
    interval: () => undefined,
    after: Promise.resolve(),
    log,
  })
  onTestFinished(async () => {
    await stop()
    await database.close()
    rmSync(dir, { recursive: true })
  })
  await expect.poll(() => outbox.anchoredUpTo(10, 1)).toEqual([])
  return { queued: () => waitingFor(outbox), suspension }
}

test('behavior: does not repeat a suspension without a receipt after its release', async () => {
  const { queued } = await released(true)
  expect(await queued()).toEqual([])
})

test('behavior: repeats a suspension whose block is gone', async () => {
  const { queued, suspension } = await released(false)
  await expect.poll(queued).toMatchObject([{ intent: suspension }])
})

/** More than one read returns. */
const BLOCKS = 1_100

test('behavior: asks for each block once, also after a restart, and reads some at a time', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'finality-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  const outbox = createWholeOutbox(database)
  const places = Array.from({ length: BLOCKS }, (_, i) => ({
    blockNumber: i + 1,
    blockHash: hash(),
    transactionHash: hash(),
  }))
  const anchored = places.map((anchoring) => ({
    intent: { kind: 'issue', documentHash: hash(), validUntil: 0 } as const,
    anchoring,
  }))
  await Promise.all(anchored.map(({ intent }) => outbox.add(intent)))
  await outbox.resolve({ anchored, gone: [] })
  const read: number[] = []
  const asked: number[] = []
  const counting = {
    ...outbox,
    unseen: async (...args: Parameters<typeof outbox.unseen>) => {
      const blocks = await outbox.unseen(...args)
      read.push(blocks.length)
      return blocks
    },
  }
  const watch = () =>
    watchFinality({
      registry: { receiptOf: none, isPooled: none, transactionsOf: none, records: none },
      blocks: {
        head: none,
        block: none,
        finalizedBlock: async () => 0,
        async blockHash(blockNumber) {
          asked.push(blockNumber)
          return places[blockNumber - 1]?.blockHash ?? null
        },
      },
      outbox: counting,
      batcher: { wake() {} },
      final() {},
      interval: () => undefined,
      after: Promise.resolve(),
      log,
    })
  const first = watch()
  const numbers = [...places.keys()].map((i) => i + 1)
  // With each part, the newest block of those before it.
  const once = [...numbers.slice(0, 1000), 500, ...numbers.slice(1000), 1000]
  const isComplete = (looks: number) => () => asked.length >= once.length + looks
  await expect.poll(isComplete(1)).toBe(true)
  await first()
  const second = watch()
  await expect.poll(isComplete(2)).toBe(true)
  await second()
  expect(asked.slice(0, once.length)).toEqual(once)
  expect(new Set(asked.slice(once.length))).toEqual(new Set([BLOCKS]))
  expect(Math.max(...read)).toBe(500)
  await database.close()
  rmSync(dir, { recursive: true })
})
