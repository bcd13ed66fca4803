import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'
import { createLog } from '#base/log.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { openPostgresStores } from '#store/drivers/postgres/postgres.ts'
import { DATABASE_FILE, openSqliteStores } from '#store/drivers/sqlite/sqlite.ts'
import { openErasureList } from '#store/erasure-list.ts'
import type { DatabaseDeps, DatabaseStores } from '#store/stores.ts'
import type { WholeOutbox } from './outbox.ts'
import { type PostgresServer, postgresFolder, startPostgres } from './postgres.ts'

/** The ports of a real database, which is empty before each test. */
export type PortsUnderTest = {
  readonly stores: DatabaseStores
  /** All ports of the outbox: this gateway leads. */
  readonly outbox: WholeOutbox
  /** Closes and opens it again. */
  reopen(): Promise<void>
  /** Adds this many events, each with its own number from 1 on as its time in milliseconds. */
  fillEvents(count: number): Promise<void>
  count(table: string): Promise<number>
  /** Runs a statement that both databases understand. */
  run(sql: string): Promise<void>
  /** Forgets all erasures, like a restored backup from before them. */
  forgetErasures(): Promise<void>
}

const fingerprint: Hex = toHex(randomBytes(32))

function depsIn(dir: string): DatabaseDeps {
  const registry = `eip155:1:0x${'a'.repeat(40)}` as const
  return {
    binding: { registry, issuerId: 1, fingerprints: [fingerprint] },
    erasureList: openErasureList(join(dir, 'erased.txt')),
    termMs: 10_000,
    acceptLoss: false,
    log: createLog('silent'),
    end(error) {
      throw error
    },
  }
}

/** Opens the ports of a gateway that leads, as soon as the one before leads no more. */
async function openLeading(opening: Promise<DatabaseStores>) {
  const stores = await opening
  for (;;) {
    const leading = await stores.shared.lead()
    if (leading) return { stores, outbox: { ...stores.outbox, ...leading.outbox } }
    await sleep(10)
  }
}

async function closeLeading({ shared, close }: DatabaseStores): Promise<void> {
  await shared.leave()
  await close()
}

// biome-ignore lint/style/noProcessEnv: set by vitest.config.ts.
const TIER = process.env.TEST_TIER

/** Describes a suite once for each database of this tier that the machine has. */
function describeEach(
  name: string,
  onSqlite: () => void,
  onPostgres: (folder: string) => void,
): void {
  if (TIER !== 'rest') describe(`${name}, SQLite`, onSqlite)
  if (TIER === 'first') return
  const folder = postgresFolder()
  describe.skipIf(folder === undefined)(`${name}, PostgreSQL`, () => onPostgres(folder ?? ''))
}

/** Runs a suite over each database behind the ports. */
export function describePorts(name: string, suite: (ports: PortsUnderTest) => void): void {
  describeEach(
    name,
    () => suite(sqlitePorts()),
    (folder) => suite(postgresPorts(folder)),
  )
}

/**
 * Runs a suite with gateways on each database.
 *
 * @param suite Receives the settings of a gateway, which are set once hooks run.
 */
export function describeDatabases(
  name: string,
  suite: (settings: () => Promise<Record<string, string>>) => void,
): void {
  const onPostgres = (folder: string) => {
    let server: PostgresServer
    beforeAll(async () => {
      server = await startPostgres(folder)
    })
    afterAll(() => server.remove())
    suite(async () => ({ DATABASE_URL: await server.newDatabase() }))
  }
  describeEach(name, () => suite(async () => ({})), onPostgres)
}

function sqlitePorts(): PortsUnderTest {
  let dir: string
  let opened: Awaited<ReturnType<typeof openLeading>>
  const open = async () => {
    opened = await openLeading(openSqliteStores(dir, depsIn(dir)))
  }
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'document-registry-ports-'))
    await open()
  })
  afterEach(async () => {
    await closeLeading(opened.stores)
    rmSync(dir, { recursive: true })
  })

  function sql(text: string): Record<string, unknown> | undefined {
    const sqlite = new DatabaseSync(join(dir, DATABASE_FILE))
    try {
      return sqlite.prepare(text).get()
    } finally {
      sqlite.close()
    }
  }

  return {
    get stores() {
      return opened.stores
    },
    get outbox() {
      return opened.outbox
    },
    async reopen() {
      await closeLeading(opened.stores)
      await open()
    },
    async fillEvents(count) {
      sql(`WITH RECURSIVE one (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM one WHERE i < ${count})
        INSERT INTO event (type, time, document_hash) SELECT 'document.issued', i, x'00' FROM one`)
    },
    async forgetErasures() {
      sql('DELETE FROM erasure')
      sql('DELETE FROM tombstone')
    },
    count: async (table) => Number(sql(`SELECT count(*) AS count FROM ${table}`)?.count),
    run: async (text) => void sql(text),
  }
}

function postgresPorts(folder: string): PortsUnderTest {
  let server: PostgresServer
  let url: string
  let client: pg.Client
  let dir: string
  let opened: Awaited<ReturnType<typeof openLeading>>
  const open = async () => {
    opened = await openLeading(openPostgresStores(url, depsIn(dir)))
  }

  beforeAll(async () => {
    server = await startPostgres(folder)
    url = await server.newDatabase()
    dir = mkdtempSync(join(tmpdir(), 'document-registry-ports-'))
    await open()
    client = new pg.Client({ connectionString: url })
    await client.connect()
  })
  beforeEach(async () => {
    const { rows } = await client.query(`
      SELECT tablename FROM pg_tables WHERE schemaname = 'public'
      AND tablename NOT IN ('schema_version', 'key_change', 'bound_to', 'issuer_secret')`)
    const tables = rows.map(({ tablename }) => tablename).join(', ')
    await client.query(`TRUNCATE ${tables} RESTART IDENTITY CASCADE`)
    rmSync(join(dir, 'erased.txt'), { force: true })
  })
  afterAll(async () => {
    await client?.end()
    if (opened) await closeLeading(opened.stores)
    await server.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  return {
    get stores() {
      return opened.stores
    },
    get outbox() {
      return opened.outbox
    },
    async reopen() {
      await closeLeading(opened.stores)
      await open()
    },
    async fillEvents(count) {
      await client.query(`
        INSERT INTO event (type, time, document_hash)
        SELECT 'document.issued', i, '\\x00' FROM generate_series(1, ${count}) AS i`)
    },
    async forgetErasures() {
      await client.query('DELETE FROM erasure; DELETE FROM tombstone')
    },
    async count(table) {
      const { rows } = await client.query(`SELECT count(*) AS count FROM ${table}`)
      return Number(rows[0].count)
    },
    async run(text) {
      await client.query(text)
    },
  }
}
