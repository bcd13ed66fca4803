import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Hex, toHex } from '../../document/hex.ts'
import { openDatabase } from '../../gateway/adapters/database.ts'
import { createSqliteOutbox } from '../../gateway/adapters/sqlite-outbox.ts'
import type { Batcher } from '../../gateway/issue/batcher.ts'
import { watchFinality } from '../../gateway/issue/finality.ts'
import type { Intent } from '../../gateway/issue/ports.ts'
import { RELEASED } from '../../verifier/reasons.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const hash = (): Hex => toHex(randomBytes(32))
const none = async () => Promise.reject(new Error('not called'))

/** A suspension in block 5, final by now, which another account of the issuer released in block 6. */
async function released(isOnChain: boolean) {
  const dir = mkdtempSync(join(tmpdir(), 'finality-'))
  const database = openDatabase(join(dir, 'gateway.db'))
  const outbox = createSqliteOutbox(database)
  const suspension: Intent = { kind: 'suspend', documentHash: hash() }
  const anchoring = {
    ...{ blockNumber: 5, blockHash: hash(), transactionHash: hash() },
  }
  await outbox.add(suspension)
  await outbox.resolve({
    anchored: [{ intent: suspension, anchoring }],
    gone: [],
  })
  const requeued: Intent[] = []
  const batcher = {
    enqueue: (intents: readonly Intent[]) => requeued.push(...intents),
  }
  const stop = watchFinality({
    registry: {
      // Receipts and transactions are gone.
      receiptOf: async () => undefined,
      isPooled: async () => false,
      transactionsOf: async () => undefined,
      records: async () => [
        {
          ...{ accountIndex: 0, anchoredAt: 1, anchoredBlock: 4 },
          ...{ validUntil: 0, distrusted: false, setAside: false },
          ...{ revokerIndex: 1, revokedBlock: 6, revokedAt: 1 },
          reason: RELEASED,
        },
      ],
    },
    blocks: {
      ...{ head: none, finalizedBlock: async () => 10 },
      blockHash: async () => (isOnChain ? anchoring.blockHash : hash()),
    },
    ...{ outbox, batcher: batcher as unknown as Batcher, log },
  })
  onTestFinished(async () => {
    await stop()
    await database.close()
    rmSync(dir, { recursive: true })
  })
  await expect.poll(outbox.blocks, { timeout: 10_000 }).toEqual([])
  return { requeued, suspension }
}

test('behavior: a suspension whose receipt no node keeps is not done again after its release', async () => {
  expect((await released(true)).requeued).toEqual([])
})

test('behavior: is done again when its block is gone', async () => {
  const { requeued, suspension } = await released(false)
  expect(requeued).toEqual([suspension])
})
