import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Database, openDatabase } from '#store/drivers/sqlite/database.ts'
import { BY_HASH } from '#store/sqlite/document-index.ts'
import { createIndexReader } from '#store/sqlite/index-pages.ts'
import { createMergeKeys, KEY_KINDS } from '#store/sqlite/sorted-keys.ts'
import { createSqliteStore } from '#store/sqlite/store.ts'

let dir: string
let database: Database
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sorted-keys-'))
  database = openDatabase(join(dir, 'gateway.db'))
})
afterEach(async () => {
  await database.close()
  rmSync(dir, { recursive: true })
})

/** Ids of different runs of the lowest level, so that few rows fill all levels. */
const APART = 1 << 12
/** Steps for each of these: their runs have one key, and each needs steps of its own. */
const STEPS = 3
/** Seven runs of the second level, and some of the first and lowest. */
const ROWS = 7 * 16 * 16 + 40

/** Adds documents with these ids, merging keys as the gateway does. */
function addDocuments(
  ids: Iterable<number>,
  subjectOf: (id: number) => bigint | number,
  steps = 1,
): void {
  const { sqlite } = database
  const insert = sqlite.prepare(`
    INSERT INTO document (id, document_hash, issued_on, valid_until, subject) VALUES (?, ?, 1, 0, ?)`)
  const merges = [KEY_KINDS.document, KEY_KINDS.subject].map((kind) =>
    createMergeKeys(sqlite, kind),
  )
  sqlite.exec('BEGIN')
  for (const id of ids) {
    const { lastInsertRowid } = insert.run(id, hashOf(id), subjectOf(id))
    for (const merge of merges) for (let step = 0; step < steps; step++) merge(lastInsertRowid)
  }
  sqlite.exec('COMMIT')
}

const hashOf = (id: number) => Buffer.from(`${'0'.repeat(24)}${id}`.slice(-32).padEnd(32), 'latin1')

function* apart(rows: number): Generator<number> {
  for (let i = 1; i <= rows; i++) yield i * APART
}

const levels = () =>
  database.sqlite
    .prepare('SELECT DISTINCT level FROM key_run WHERE kind = 1 AND state = 0 ORDER BY level')
    .all()
    .map(({ level }) => level)

test('behavior: finds every payload while keys are merged, and afterwards', async () => {
  const { sqlite } = database
  const store = createSqliteStore(database)
  const insert = sqlite.prepare('INSERT INTO block (id, hash, bytes) VALUES (?, ?, ?)')
  const merge = createMergeKeys(sqlite, KEY_KINDS.payload)
  const hashes: Buffer[] = []
  let looked = 0
  for (const id of apart(ROWS)) {
    const hash = randomBytes(32)
    hashes.push(hash)
    insert.run(id, hash, hash)
    for (let step = 0; step < STEPS; step++) merge(id)
    if (hashes.length % 100 > 0) continue
    expect(await store.missing(hashes)).toEqual([])
    looked++
  }
  expect(looked).toBeGreaterThan(10)
  expect(levels()).toEqual([0, 1, 2])
  const found = await Promise.all(hashes.map((hash) => store.get(hash)))
  expect(found).toEqual(hashes.map((hash) => ({ status: 'found', bytes: new Uint8Array(hash) })))
  const runs = Number(sqlite.prepare('SELECT count(*) AS runs FROM key_run').get()?.runs)
  expect(runs).toBeLessThan(100)
})

test('behavior: stores a payload once, and none that was erased', async () => {
  const store = createSqliteStore(database)
  const [hash, erased] = [randomBytes(32), randomBytes(32)]
  expect(await store.put(hash, hash)).toBe(true)
  expect(await store.put(hash, hash)).toBe(false)
  database.sqlite.prepare('INSERT INTO tombstone VALUES (?)').run(erased)
  expect(await store.put(erased, erased)).toBe(false)
  expect(await store.missing([hash, erased])).toEqual([erased])
  await store.remove(hash)
  expect(await store.get(hash)).toEqual({ status: 'missing' })
  expect(await store.put(hash, hash)).toBe(true)
})

test('behavior: compares whole hashes, not only their beginnings', async () => {
  const store = createSqliteStore(database)
  const hash = randomBytes(32)
  const similar = Buffer.concat([hash.subarray(0, 31), Buffer.of((hash.at(31) ?? 0) ^ 1)])
  await store.put(hash, hash)
  expect(await store.missing([similar])).toEqual([similar])
  expect(await store.put(similar, similar)).toBe(true)
  expect(await store.get(similar)).toEqual({ status: 'found', bytes: new Uint8Array(similar) })
})

test('behavior: lists the documents of a subject across runs, the newest first', async () => {
  addDocuments(apart(ROWS), (id) => (id / APART) % 3, STEPS)
  const page = createIndexReader(database.sqlite, 'id', (row) => row.id as never)
  const ids: number[] = []
  for (let before: number | undefined; ; ) {
    const { documents, next } = await page({
      subject: [1n],
      limit: 100,
      ...(before !== undefined && { before }),
    })
    ids.push(...(documents as unknown as number[]))
    if (next === null) break
    before = next
  }
  expect(ids).toEqual([...apart(ROWS)].filter((id) => (id / APART) % 3 === 1).reverse())
})

test('behavior: merges the keys of a subject with many documents in small steps', () => {
  const ids = Array.from({ length: 70_000 }, (_, i) => i + 1)
  const before = () => Number(database.sqlite.prepare('SELECT total_changes() AS n').get()?.n)
  let most = 0
  const counted = (function* () {
    let last = before()
    for (const id of ids) {
      yield id
      const now = before()
      most = Math.max(most, now - last)
      last = now
    }
  })()
  addDocuments(counted, () => 7)
  expect(most).toBeGreaterThan(100)
  expect(most).toBeLessThan(3_000)
  const { keys, distinct } = database.sqlite
    .prepare(`SELECT count(*) AS keys, count(DISTINCT sorted_key.id) AS "distinct" FROM sorted_key
      JOIN key_run USING (run) WHERE kind = ${KEY_KINDS.subject} AND state = 0`)
    .get() as Record<string, number>
  expect([keys, distinct]).toEqual([70_000, 70_000])
})

test('behavior: an erasure deletes the keys of the subject, in a run that is being merged too', () => {
  const { sqlite } = database
  const ids = Array.from({ length: 67_000 }, (_, i) => i + 1)
  addDocuments(ids, (id) => id)
  const filling = sqlite
    .prepare('SELECT run FROM key_run WHERE state = 1 AND kind = ?')
    .get(KEY_KINDS.subject)
  const twice = sqlite
    .prepare(`SELECT id FROM sorted_key WHERE run = ?1 LIMIT 1`)
    .get(filling?.run ?? 0)
  expect(twice).toBeDefined()
  const id = Number(twice?.id)
  const left = () =>
    sqlite
      .prepare(`SELECT count(*) AS keys FROM sorted_key WHERE id = ? AND run & 3 = ?`)
      .get(id, KEY_KINDS.subject)?.keys
  expect(left()).toBe(2)
  sqlite.prepare('INSERT INTO tombstone VALUES (?)').run(hashOf(id))
  expect(left()).toBe(0)
  const row = sqlite.prepare(`SELECT id, subject FROM document WHERE ${BY_HASH}`).get(hashOf(id))
  expect(row).toEqual({ id, subject: null })
})
