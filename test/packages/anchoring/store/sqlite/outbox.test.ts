import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ABSENT } from '#promise/anchoring.ts'
import { openSqlite, type SqliteDatabase } from '#store/drivers/sqlite/driver.ts'
import { createRequestLog, createSuccessions } from '#store/records.ts'
import { createHistory } from '#store/sends/history.ts'
import { ACCOUNT, createWholeOutbox, type WholeOutbox, waitingFor } from '#test/support/outbox.ts'
import {
  anchoredAt,
  ENTRY,
  hash,
  issueOf,
  membersOf,
  ownPlace,
  placeIn,
  resolve,
  revokeOf,
  signed,
  suspendOf,
} from '../ports/given.ts'

type Used = { database: SqliteDatabase; outbox: WholeOutbox }

/**
 * @returns The tables that the statements of some work look through from one end to the other, and
 * how often a statement finds a record by an index.
 */
async function scansOf(work: (used: Used) => Promise<void>) {
  const dir = mkdtempSync(join(tmpdir(), 'outbox-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  const prepared = vi.spyOn(DatabaseSync.prototype, 'prepare')
  onTestFinished(async () => {
    prepared.mockRestore()
    await database.close()
    rmSync(dir, { recursive: true })
  })
  await work({ database, outbox: createWholeOutbox(database) })
  const statements = [...new Set(prepared.mock.calls.map(([sql]) => sql))]
  const steps = statements.flatMap((sql) => {
    const plan = database.sqlite.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    return plan.map(({ detail }) => String(detail))
  })
  const TABLES = /^SCAN (record|change|batch|send|member|attempt|payload|event)\b/
  return {
    scans: [...new Set(steps)].filter((step) => TABLES.test(step)).sort(),
    searches: steps.filter((step) => /^SEARCH record/.test(step)).length,
  }
}

test('no statement reads all records, changes or sends', async () => {
  const { scans, searches } = await scansOf(async ({ database, outbox }) => {
    // Everything that the outbox does, once.
    const [one, two, three, old] = [issueOf(), issueOf(), issueOf(), issueOf()]
    const request = new Uint8Array(16)
    await outbox.add(one, {
      payload: { entry: { ...ENTRY, request, supersedes: old.documentHash } },
    })
    await outbox.add(issueOf(), { payload: { entry: { ...ENTRY, request } } })
    for (const action of [two, three]) await outbox.add(action)
    await outbox.add(suspendOf(one.documentHash), { changedBlock: 9 })
    await outbox.add(revokeOf(old.documentHash))
    for (const kind of ['issue', 'revoke', 'suspend'] as const)
      await outbox.find(kind, one.documentHash)
    await createRequestLog(database).find(request)
    await createSuccessions(database).successorOf(old.documentHash)
    await waitingFor(outbox)
    const [first, second] = await membersOf(outbox, [one, two])
    if (!first || !second) throw new Error('two')
    await outbox.hold([second], 1, 5)
    await outbox.holdIssues(5)
    await outbox.holdIssues(null)
    await outbox.next({ account: ACCOUNT, own: [ACCOUNT] }, { now: 0, limit: 9 })
    await outbox.count(0, 100)
    await outbox.newest()
    await outbox.carriers()
    const planned = await outbox.plan({ account: ACCOUNT }, signed(1), [first, second])
    const send = await outbox.replace(planned, signed(1), 1)
    await outbox.openNonces(ACCOUNT, 0)
    const place = ownPlace(send, placeIn(5))
    await outbox.settle(send, [anchoredAt(place), ABSENT], place, 9n)
    await resolve(outbox, two, anchoredAt(placeIn(5)))
    await resolve(outbox, three, { status: 'conflict' })
    const foreign = placeIn(6)
    const adopted = issueOf()
    await outbox.guard(adopted, foreign)
    await outbox.feesSince(0)
    await outbox.upTo(9, 9)
    await outbox.unseen(undefined, 9)
    await outbox.note([place], true)
    await outbox.newestSeen(1)
    await outbox.lose([place])
    const [others] = await outbox.ofOthers(foreign)
    if (!others) throw new Error('a send')
    const moved = placeIn(7)
    await outbox.move(others.id, others.members, [anchoredAt(moved)])
    await outbox.finish(moved)
    await createHistory(database).transactionOf(adopted.documentHash, 7)
    await createHistory(database).transactionOf(hash(), 7)
  })
  expect(searches).toBeGreaterThan(10)
  // For the time of the newest one.
  expect(scans).toEqual(['SCAN event'])
})

// Few are in flight, but members are never deleted.
test('finds what is in flight without reading all members', async () => {
  const { scans } = await scansOf(async ({ outbox }) => void (await outbox.inFlight()))
  expect(scans).toEqual(['SCAN send USING INDEX send_in_flight'])
})
