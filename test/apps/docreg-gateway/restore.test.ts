import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import { checkBatchHistory } from '#operate/backup/batches.ts'
import { fetchPayloads } from '#operate/backup/blocks.ts'
import { checkHistory, isOutdated } from '#operate/backup/compare.ts'
import { BackupError } from '#operate/backup/contents.ts'
import { openRestored } from '#operate/backup/restored-sqlite.ts'
import { hashesIn } from '#operate/tables/rows.ts'
import { readSqlite } from '#operate/tables/sqlite.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { RecordKey } from '#promise/record.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { tableOf } from '#store/tables.ts'

import { RELEASED, SUSPENDED } from '#verifier/reasons.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'restore-'))
})
afterEach(() => {
  rmSync(dir, { recursive: true })
})

test.each([
  ['an older', 1],
  ['a newer', 1_000],
])('error: a backup of %s version is named as one', (which, version) => {
  const database = new DatabaseSync(join(dir, 'gateway.db'))
  database.exec(`CREATE TABLE bound_to (registry TEXT NOT NULL) STRICT;
    PRAGMA user_version = ${version}`)
  database.close()
  const attempt = () => openRestored(dir)
  expect(attempt).toThrow(BackupError)
  expect(attempt).toThrow(`the backup was written by ${which} version`)
  expect(attempt).not.toThrow('DATA_DIR')
})

test.each([
  ['release', SUSPENDED, true],
  ['suspend', RELEASED, true],
  ['revoke', 0, true],
  ['revoke', SUSPENDED, false],
  ['revoke', RELEASED, false],
  ['issue', 0, false],
] as const)(
  'behavior: of a document that was changed after the backup (%s waits, reason %i), dropped: %s',
  (kind, reason, dropped) => {
    const record = { revokedBlock: 11, reason }
    expect(isOutdated(kind, record, 10)).toBe(dropped)
    expect(isOutdated(kind, record, 11)).toBe(false)
    expect(isOutdated(kind, record, null)).toBe(false)
  },
)

test('behavior: compares every document of the history once, however many a block has', async () => {
  const { sqlite, close } = openSqlite(join(dir, 'gateway.db'))
  const insert = sqlite.prepare('INSERT INTO history VALUES (?, ?, NULL)')
  for (let n = 0; n < 1_301; n++)
    insert.run(n < 1_203 ? 7 : n, createHash('sha256').update(`${n}`).digest())
  const asked: Hex[] = []
  const records = async (keys: readonly RecordKey[]) => {
    asked.push(...keys.map(({ documentHash }) => documentHash))
    return keys.map(() => ({ anchoredBlock: 7 }))
  }
  expect(await checkHistory(historyOf(sqlite), { records })).toBe(1_301)
  expect(new Set(asked).size).toBe(1_301)
  await close()
})

const historyOf = (sqlite: DatabaseSync) =>
  hashesIn(readSqlite({ main: sqlite, keys: sqlite }), tableOf('history'), 'document_hash')
const batchesOf = (sqlite: DatabaseSync) =>
  hashesIn(readSqlite({ main: sqlite, keys: sqlite }), tableOf('batch_history'), 'root')

test('error: names batches that were anchored and that the chain does not have', async () => {
  const { sqlite, close } = openSqlite(join(dir, 'gateway.db'))
  const insert = sqlite.prepare('INSERT INTO batch_history VALUES (?, ?, NULL)')
  const roots = ['one', 'two'].map((text) => createHash('sha256').update(text).digest())
  for (const root of roots) insert.run(7, root)
  const records = async (keys: readonly RecordKey[]) =>
    keys.map(({ documentHash, root }) => ({
      anchoredBlock: documentHash === root && root === toHex(roots[0] as Uint8Array) ? 7 : 0,
    }))
  await expect(checkBatchHistory(batchesOf(sqlite), { records })).rejects.toThrow(
    'no record of 1 of 2 batches',
  )
  sqlite.prepare('DELETE FROM batch_history WHERE root = ?').run(roots[1] as Uint8Array)
  expect(await checkBatchHistory(batchesOf(sqlite), { records })).toBe(1)
  await close()
})

test('behavior: payloads that only another source has are put into the store', async () => {
  const bytesOf = (text: string) => new TextEncoder().encode(text)
  const hashOf = (text: string) => toHex(createHash('sha256').update(text).digest())
  const storeOf = (blocks: Map<Hex, Uint8Array>): PayloadStore => ({
    async put(hash, bytes) {
      blocks.set(toHex(hash), bytes)
    },
    async get(hash) {
      const bytes = blocks.get(toHex(hash))
      return bytes ? { status: 'found', bytes } : { status: 'missing' }
    },
    missing: async (hashes) => hashes.filter((hash) => !blocks.has(toHex(hash))),
  })
  const [kept, fetched, forged] = ['kept', 'fetched', 'forged'].map(hashOf) as [Hex, Hex, Hex]
  const held = new Map([[kept, bytesOf('kept')]])
  const elsewhere = new Map([
    [fetched, bytesOf('fetched')],
    [forged, bytesOf('something else')],
  ])
  const down = { get: () => Promise.reject(new Error('down')) }
  const lost = await fetchPayloads([kept, fetched, forged], storeOf(held), [
    down,
    storeOf(elsewhere),
  ])
  expect(lost).toEqual([forged])
  expect(held.get(fetched)).toEqual(bytesOf('fetched'))
  expect([...held.keys()]).toEqual([kept, fetched])
})
