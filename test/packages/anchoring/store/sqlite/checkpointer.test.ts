import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Checkpointer, createCheckpointer } from '#store/drivers/sqlite/checkpoints.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { onConnection } from '#test/support/on-connection.ts'

const PAGE = 4_096
/** Length of the log after which the gateway makes a checkpoint. */
const CHECKPOINT_PAGES = 8_192

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'checkpointer-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const pathOf = () => join(dir, 'gateway.db')

function openPlain(): { sqlite: DatabaseSync; checkpointer: Checkpointer; log: () => unknown } {
  const sqlite = new DatabaseSync(pathOf())
  sqlite.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
    CREATE TABLE page (bytes BLOB)`)
  const state = sqlite.prepare('PRAGMA wal_checkpoint(NOOP)')
  return {
    sqlite,
    checkpointer: createCheckpointer(pathOf()),
    log: () => ({ ...state.get() }),
  }
}

test('writes the log into the file beside a transaction, and restarts it', async () => {
  const { sqlite, checkpointer, log } = openPlain()
  const insert = sqlite.prepare('INSERT INTO page VALUES (zeroblob(3000))')
  for (let i = 0; i < 10; i++) insert.run()
  const before = (log() as { log: number }).log
  sqlite.exec('BEGIN IMMEDIATE')
  insert.run()
  await checkpointer.run('PASSIVE')
  sqlite.exec('COMMIT')
  expect(log()).toMatchObject({ checkpointed: before })
  await checkpointer.run('RESTART')
  insert.run()
  expect(log()).toMatchObject({ checkpointed: 0 })
  expect((log() as { log: number }).log).toBeLessThan(5)
  await checkpointer.close()
  sqlite.close()
})

test('reports a file that it cannot open, and can then be closed', async () => {
  const checkpointer = createCheckpointer(join(dir, 'nowhere', 'gateway.db'))
  await expect(checkpointer.run('PASSIVE')).rejects.toThrow('unable to open')
  await expect(checkpointer.run('PASSIVE')).rejects.toThrow()
  await checkpointer.close()
})

test('keeps the log short under constant writes', async () => {
  const database = openSqlite(pathOf())
  const { sqlite } = database
  sqlite.exec('CREATE TABLE page (bytes BLOB)')
  const insert = sqlite.prepare('INSERT INTO page VALUES (zeroblob(4000))')
  const PAGES_A_WRITE = 64
  const WRITES = 200
  const writer = async () => {
    for (let i = 0; i < WRITES; i++)
      await database.write(
        onConnection(() => {
          for (let page = 0; page < PAGES_A_WRITE; page++) insert.run()
        }),
      )
  }
  await Promise.all([writer(), writer(), writer(), writer()])
  const written = 4 * WRITES * PAGES_A_WRITE
  expect(written).toBeGreaterThan(6 * CHECKPOINT_PAGES)
  const log = statSync(`${pathOf()}-wal`).size / PAGE
  expect(log).toBeGreaterThan(CHECKPOINT_PAGES)
  // It grows while a busy machine makes one; never started over, it would have all pages.
  expect(log).toBeLessThan(written)
  // The connection on the event loop makes no checkpoints.
  expect(sqlite.prepare('PRAGMA wal_autocheckpoint').get()).toEqual({ wal_autocheckpoint: 0 })
  await database.close()
  const after = new DatabaseSync(pathOf())
  expect(after.prepare('SELECT count(*) AS pages FROM page').get()).toEqual({ pages: written })
  expect(after.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  after.close()
})

test('refuses to open a file twice until the first is closed', async () => {
  const first = openSqlite(pathOf())
  expect(() => openSqlite(pathOf())).toThrow('locked')
  // The refusal has not released the lock.
  expect(() => openSqlite(pathOf())).toThrow('locked')
  await first.close()
  await openSqlite(pathOf()).close()
})
