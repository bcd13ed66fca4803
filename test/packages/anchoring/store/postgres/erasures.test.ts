import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { toHex } from '#document/hex.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { createScrubber } from '#store/drivers/postgres/postgres.ts'
import { openErasureList } from '#store/erasure-list.ts'
import { createErasures } from '#store/erasures.ts'
import { createPayloadStore } from '#store/payloads.ts'

import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'

// What the receipt says of PostgreSQL's files, and what docs/operate.md says to do about them.

const folder = postgresFolder()
/** Of writing over a part of the log. */
const MAX_ROUNDS = 20

describe.skipIf(folder === undefined)('what PostgreSQL keeps of an erased document', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
  })
  afterAll(() => server.remove())

  /** The folders of the server's files that hold these bytes, once all of them are written. */
  function placesOf(bytes: Buffer): string[] {
    const files = readdirSync(server.data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => readFileSync(path).includes(bytes))
    return [...new Set(files.map((path) => relative(server.data, path).split('/')[0] ?? ''))].sort()
  }

  async function open() {
    const dir = mkdtempSync(join(tmpdir(), 'document-registry-erasures-'))
    const url = await server.newDatabase()
    const database = await openPostgres(url, createLog('silent'))
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(async () => {
      await client.end()
      await database.close()
      rmSync(dir, { recursive: true })
    })
    return {
      client,
      store: createPayloadStore(database),
      erasures: createErasures(
        database,
        createScrubber(database),
        openErasureList(join(dir, 'erased.txt')),
      ),
    }
  }

  test('the receipt names where bytes remain until the server has overwritten them', async () => {
    const { client, store, erasures } = await open()
    // A large payload is kept beside its row.
    const [large, small] = [randomBytes(10_000), randomBytes(300)]
    const hashes = [large, small].map(() => randomBytes(32))
    await store.put(randomBytes(32), randomBytes(300))
    for (const [i, bytes] of [large, small].entries()) await store.put(hashes[i] as Buffer, bytes)
    for (const hash of hashes) await erasures.begin(toHex(hash), 'default')
    await erasures.finish(hashes.map(toHex), new Set())
    expect(await erasures.find(toHex(hashes[0] as Buffer))).toMatchObject({
      removed: ['database'],
      remains: ['database_files', 'write_ahead_log', 'replicas', 'backups'],
    })
    await client.query('VACUUM payload, record')
    await client.query('CHECKPOINT')
    expect(placesOf(small)).toEqual(['base', 'pg_wal'])

    const parts = [large.subarray(0, 32), small.subarray(0, 32)]
    await client.query('VACUUM FULL payload')
    expect(parts.map(placesOf)).toEqual([['pg_wal'], ['pg_wal']])
    const isLeft = () => parts.some((part) => placesOf(part).length > 0)
    for (let round = 0; round < MAX_ROUNDS && isLeft(); round++) {
      await client.query('SELECT pg_switch_wal()')
      await client.query('CHECKPOINT')
    }
    expect(isLeft()).toBe(false)
  })
})
