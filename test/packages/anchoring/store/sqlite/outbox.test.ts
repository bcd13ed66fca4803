import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { Anchoring } from '#promise/anchoring.ts'
import type { IssueIntent } from '#promise/intent.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { ACCOUNT, createWholeOutbox, waitingFor } from '#test/support/outbox.ts'

const word = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const issueOf = (n: number): IssueIntent => ({
  kind: 'issue',
  documentHash: word(n),
  validUntil: 0,
})
const at = (blockNumber: number): Anchoring => ({
  blockNumber,
  blockHash: word(1_000 + blockNumber),
  transactionHash: word(2_000 + blockNumber),
})
const signedOf = (nonce: number) => ({
  nonce,
  hash: word(3_000 + nonce),
  raw: '0x02' as const,
  gasLimit: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
})

test('behavior: no statement scans all intents or all blocks', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'outbox-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  const prepared = vi.spyOn(DatabaseSync.prototype, 'prepare')
  onTestFinished(async () => {
    prepared.mockRestore()
    await database.close()
    rmSync(dir, { recursive: true })
  })
  // Everything that the outbox does, once.
  const outbox = createWholeOutbox(database)
  const [one, two, three] = [issueOf(1), issueOf(2), issueOf(3)]
  for (const intent of [one, two, three]) await outbox.add(intent)
  await outbox.add({ kind: 'suspend', documentHash: word(1) }, { changedBlock: 9 })
  await outbox.find('issue', word(1))
  await outbox.hold([two], 1, 5)
  await outbox.holdIssues(5)
  await outbox.holdIssues(null)
  await waitingFor(outbox)
  await outbox.count(0, 100)
  await outbox.newest()
  await outbox.carriers()
  const plan = await outbox.plan(ACCOUNT, signedOf(1), [one, two])
  const replaced = await outbox.replace(plan, signedOf(1), [one])
  await outbox.plans()
  await outbox.settle(replaced, { anchored: [{ intent: one, anchoring: at(5) }], gone: [] }, 9n)
  await outbox.resolve({ anchored: [{ intent: two, anchoring: at(5) }], gone: [three] })
  await outbox.adopt(issueOf(4), at(6))
  await outbox.feesSince(0)
  await outbox.anchoredUpTo(9, 9)
  await outbox.anchoredIn(at(5), 9)
  await outbox.unseen(undefined, 9)
  await outbox.note([at(5)], true)
  await outbox.newestSeen()
  for await (const _ of outbox.payloads()) break
  await outbox.review({
    final: [{ intent: issueOf(4), anchoring: at(6) }],
    gone: [],
    moved: [{ intent: one, anchoring: at(5), now: at(7) }],
    dropped: [{ intent: two, anchoring: at(5) }],
  })

  const statements = [...new Set(prepared.mock.calls.map(([sql]) => sql))]
  const steps = statements.flatMap((sql) => {
    const plan = database.sqlite.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    return plan.map(({ detail }) => String(detail))
  })
  expect(steps.filter((step) => /^SEARCH intent/.test(step)).length).toBeGreaterThan(10)
  // Queued intents and seen blocks have indexes of their own.
  expect(
    [...new Set(steps)]
      .filter((step) => /^SCAN (intent|anchor_block|document|event)/.test(step))
      .sort(),
  ).toEqual([
    'SCAN anchor_block USING INDEX anchor_block_seen',
    'SCAN event',
    'SCAN intent USING INDEX intent_queued',
  ])
})
