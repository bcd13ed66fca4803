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
import { anchoredIn } from '#operate/tables/rows.ts'
import { readSqlite } from '#operate/tables/sqlite.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { RecordKey } from '#promise/record.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
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
])('refuses a backup of %s version, and names the versions', (which, version) => {
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
  'restores a document changed after the backup (%s waits, reason %i), dropped: %s',
  (kind, reason, dropped) => {
    const record = { revokedBlock: 11, reason }
    expect(isOutdated(kind, record, 10)).toBe(dropped)
    expect(isOutdated(kind, record, 11)).toBe(false)
    expect(isOutdated(kind, record, null)).toBe(false)
  },
)

/** Adds sends with these ids, one in block 7 and one in flight. */
function addSends(sqlite: DatabaseSync, { inBlock, inFlight }: Record<string, number>): void {
  const insert = sqlite.prepare('INSERT INTO send (id, block_number) VALUES (?, ?)')
  insert.run(inBlock ?? 0, 7)
  insert.run(inFlight ?? 0, null)
}
const digest = (text: string) => createHash('sha256').update(text).digest()
const anchoredOf = (sqlite: DatabaseSync, table: 'record' | 'batch') =>
  anchoredIn(readSqlite({ main: sqlite, keys: sqlite }), table)

test('reads each block once, however many documents it has', async () => {
  const { sqlite, close } = openSqlite(join(dir, 'gateway.db'))
  const insert = sqlite.prepare(
    'INSERT INTO record (id, hash, issued_on, valid_until, batch) VALUES (?, ?, 1, 0, ?)',
  )
  const carry = sqlite.prepare('INSERT INTO member (send, place, record) VALUES (?, ?, ?)')
  addSends(sqlite, { inBlock: 1, inFlight: 2 })
  for (let n = 1; n <= 1_301; n++) {
    insert.run(n, digest(`${n}`), null)
    carry.run(1, n, n)
  }
  // One waits, one is in flight, and one is in a batch.
  for (const [n, batch] of [
    [1_302, null],
    [1_303, null],
    [1_304, 5],
  ] as const)
    insert.run(n, digest(`${n}`), batch)
  sqlite.prepare('INSERT INTO waiting (record) VALUES (?)').run(1_302)
  carry.run(2, 1_303, 1_303)
  const asked: Hex[] = []
  const records = async (keys: readonly RecordKey[]) => {
    asked.push(...keys.map(({ documentHash }) => documentHash))
    return keys.map(() => ({ anchoredBlock: 7 }))
  }
  expect(await checkHistory(anchoredOf(sqlite, 'record'), { records })).toBe(1_301)
  const wanted = Array.from({ length: 1_301 }, (_, i) => toHex(digest(`${i + 1}`)))
  expect(asked.toSorted()).toEqual(wanted.toSorted())
  await close()
})

test('names anchored batches that the chain does not have', async () => {
  const { sqlite, close } = openSqlite(join(dir, 'gateway.db'))
  const insert = sqlite.prepare(
    "INSERT INTO batch (id, root, size, manifest, tenant, promised) VALUES (?, ?, 1, x'', '', ?)",
  )
  const carry = sqlite.prepare('INSERT INTO member (send, place, batch) VALUES (?, ?, ?)')
  addSends(sqlite, { inBlock: 1, inFlight: 2 })
  const roots = ['one', 'two', 'in flight', 'not promised'].map(digest)
  for (const [i, root] of roots.entries()) insert.run(i + 1, root, i === 3 ? 0 : 1)
  carry.run(1, 1, 1)
  carry.run(1, 2, 2)
  carry.run(2, 3, 3)
  const records = async (keys: readonly RecordKey[]) =>
    keys.map(({ documentHash, root }) => ({
      anchoredBlock: documentHash === root && root === toHex(roots[0] as Uint8Array) ? 7 : 0,
    }))
  await expect(checkBatchHistory(anchoredOf(sqlite, 'batch'), { records })).rejects.toThrow(
    'no record of 1 of 2 batches',
  )
  sqlite.exec('DELETE FROM member WHERE batch = 2')
  sqlite.exec('DELETE FROM batch WHERE id = 2')
  expect(await checkBatchHistory(anchoredOf(sqlite, 'batch'), { records })).toBe(1)
  await close()
})

test('stores payloads that only another source has', async () => {
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
