import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Transaction, Wallet } from 'ethers'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createKeySigner } from '#chain/signer.ts'

import { fromHex, type Hex } from '#document/hex.ts'
import { makeKey } from '#keys/keys.ts'
import type { PeopleStore } from '#modules/desk/people/ports.ts'
import { createPeopleStore } from '#modules/desk/people/store.ts'
import { bindingOf } from '#operate/binding.ts'
import type { Task } from '#operate/move/task.ts'
import { moveToPostgres } from '#operate/move/to-postgres.ts'
import { moveToSqlite } from '#operate/move/to-sqlite.ts'
import { columnsOf, createSum, type Row, type Side } from '#operate/tables/rows.ts'
import { readSqlite } from '#operate/tables/sqlite.ts'
import { readConfig } from '#settings/config.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { openKeysFile } from '#store/drivers/sqlite/keys-file.ts'
import { MOVED } from '#store/tables.ts'
import { bindFile } from '#test/support/bind-file.ts'
import { randomKey } from '../../../support/given.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '../../../support/postgres.ts'

const folder = postgresFolder()
const key = randomKey()
const secret = randomKey()
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()

describe.skipIf(folder === undefined)('moving between SQLite and PostgreSQL', () => {
  let server: PostgresServer
  let dir: string
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
  })
  afterAll(() => server.remove())
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'move-'))
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  const pathOf = (name: string) => {
    const path = join(dir, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  function taskOf(name: string, databaseUrl: string, issuerKey: Hex = key): Task {
    return {
      config: readConfig({ DATA_DIR: join(dir, name), DATABASE_URL: databaseUrl }),
      databaseUrl,
      identity: {
        rpc: {
          request: fail,
          apart: () => ({ request: fail }),
          sent: new Map(),
          close: async () => {},
        },
        registry: `eip155:1:0x${'a'.repeat(40)}`,
        issuerId: 1,
        signer: createKeySigner(issuerKey),
        issuerSecrets: [secret],
      },
      say: () => {},
      check: async () => {},
    }
  }
  const fail = async () => {
    throw new Error('no chain is needed')
  }

  /** Rows in every table, as no gateway has them at once. */
  async function fillFolder(name: string): Promise<void> {
    const database = openSqlite(join(pathOf(name), 'gateway.db'))
    await bindFile(database, bindingOf(taskOf(name, 'postgres://x').identity))
    await fill(database.sqlite)
    await database.close()
    const keys = openKeysFile(join(dir, name, 'keys.db'))
    await keys.put(makeKey({ scopes: ['verify'], tenant: 'first' }).key)
    const { key: second } = makeKey({
      scopes: ['documents:issue', 'admin'],
      tenant: 'default',
      label: 'ä',
    })
    await keys.put(second)
    await keys.remove(second.id)
    await fillPeople(createPeopleStore(keys.database))
    keys.close()
  }

  async function sumsOf(name: string): Promise<unknown> {
    const main = new DatabaseSync(join(dir, name, 'gateway.db'))
    const keys = new DatabaseSync(join(dir, name, 'keys.db'))
    try {
      return await sumsIn(readSqlite({ main, keys }))
    } finally {
      main.close()
      keys.close()
    }
  }

  async function rowsIn(url: string, sql: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query({ text: sql, rowMode: 'array' })).rows
    } finally {
      await client.end()
    }
  }

  test('keeps every row, and numbers continue', async () => {
    await fillFolder('first')
    const before = await sumsOf('first')
    const url = await server.newDatabase()
    await moveToPostgres(taskOf('first', url))
    await moveToSqlite(taskOf('second', url))
    expect(await sumsOf('second')).toEqual(before)
    for (const file of ['gateway.db.part', 'gateway.db.part-lock', 'keys.db.part'])
      expect(existsSync(join(dir, 'second', file))).toBe(false)
  })

  test('the outbox keeps its bytes, and stays bound to its account', async () => {
    await fillFolder('first')
    const url = await server.newDatabase()
    await moveToPostgres(taskOf('first', url))
    const account = new Wallet(key).address.toLowerCase().slice(2)
    const owned = [[account], [account]]
    expect(
      await rowsIn(
        url,
        `SELECT DISTINCT encode(account, 'hex') FROM send WHERE account IS NOT NULL
         UNION ALL SELECT encode(account, 'hex') FROM waiting JOIN send ON send.id = sent_in
         WHERE change IS NOT NULL`,
      ),
    ).toEqual(owned)
    const [[raw] = []] = (await rowsIn(url, 'SELECT raw FROM attempt')) as [Buffer][]
    expect(Transaction.from(`0x${raw?.toString('hex')}`)).toMatchObject({ nonce: 7 })
    expect(await rowsIn(url, "SELECT nextval(pg_get_serial_sequence('event', 'id'))::int")).toEqual(
      [[901]],
    )
  })

  test('an interrupted move leaves nothing behind, and can be repeated', async () => {
    await fillFolder('first')
    const url = await server.newDatabase()
    const cut = { ...taskOf('first', url), say: (line: string) => cutAt(line, 'event') }
    await expect(moveToPostgres(cut)).rejects.toThrow('cut off')
    expect(await rowsIn(url, 'SELECT 1 FROM payload')).toEqual([])
    await moveToPostgres(taskOf('first', url))
    const back = { ...taskOf('second', url), say: (line: string) => cutAt(line, 'event') }
    await expect(moveToSqlite(back)).rejects.toThrow('cut off')
    expect(existsSync(join(dir, 'second', 'gateway.db'))).toBe(false)
    await moveToSqlite(taskOf('second', url))
  })
  function cutAt(line: string, table: string): void {
    if (line.includes(` ${table}:`)) throw new Error('cut off')
  }

  test('refuses the original after a move, in both directions', async () => {
    await fillFolder('first')
    const url = await server.newDatabase()
    await moveToPostgres(taskOf('first', url))
    expect(() => openSqlite(join(dir, 'first', 'gateway.db'))).toThrow('moved to PostgreSQL')
    expect(() => openKeysFile(join(dir, 'first', 'keys.db'))).toThrow('moved to PostgreSQL')
    await moveToSqlite(taskOf('second', url))
    await expect(moveToSqlite(taskOf('third', url))).rejects.toThrow('moved to a data folder')
    // A gateway that was cut off meanwhile, and comes back, promises nothing.
    await expect(
      rowsIn(url, "INSERT INTO record (hash, issued_on, valid_until) VALUES ('\\x01', 1, 0)"),
    ).rejects.toThrow('moved')
  })

  test('refuses a target that has data, and leaves it unchanged', async () => {
    await fillFolder('first')
    const url = await server.newDatabase()
    await moveToPostgres(taskOf('first', url))
    await fillFolder('second')
    await expect(moveToPostgres(taskOf('second', url))).rejects.toThrow('is not empty')
    await expect(moveToSqlite(taskOf('second', url))).rejects.toThrow(
      'already has gateway.db and keys.db',
    )
    openSqlite(join(dir, 'second', 'gateway.db')).close()
  })

  test('refuses a source or target that is in use', async () => {
    await fillFolder('first')
    const url = await server.newDatabase()
    const gateway = openSqlite(join(dir, 'first', 'gateway.db'))
    await expect(moveToPostgres(taskOf('first', url))).rejects.toThrow('stop it first')
    await gateway.close()
    const listening = new pg.Client({
      connectionString: url,
      application_name: 'document-registry',
    })
    await listening.connect()
    await expect(moveToPostgres(taskOf('first', url))).rejects.toThrow('stop every gateway')
    // As a pooler keeps it.
    await listening.query('DISCARD ALL')
    await moveToPostgres(taskOf('first', url))
    await listening.end()
  })

  test('refuses another registry, another secret and a damaged payload', async () => {
    await fillFolder('first')
    const url = await server.newDatabase()
    const { identity, ...task } = taskOf('first', url)
    const other = { ...identity, issuerSecrets: [randomKey()] as [Hex] }
    await expect(moveToPostgres({ ...task, identity: other })).rejects.toThrow('issuer secret')
    const database = openSqlite(join(dir, 'first', 'gateway.db'))
    database.sqlite.exec("UPDATE payload SET bytes = x'00' WHERE rowid = 7")
    await database.close()
    await expect(moveToPostgres(taskOf('first', url))).rejects.toThrow('is damaged')
  })

  test('refuses transactions in flight of another account', async () => {
    await fillFolder('first')
    const url = await server.newDatabase()
    await expect(moveToPostgres(taskOf('first', url, randomKey()))).rejects.toThrow('is in flight')
    await moveToPostgres(taskOf('first', url))
    await expect(moveToSqlite(taskOf('second', url, randomKey()))).rejects.toThrow('are in flight')
  })

  test('moves each table and column, or leaves it on purpose', async () => {
    const url = await server.newDatabase()
    await fillFolder('first')
    const main = new DatabaseSync(join(dir, 'first', 'gateway.db'))
    const keys = new DatabaseSync(join(dir, 'first', 'keys.db'))
    const sqlite = [main, keys].flatMap((file) =>
      file
        .prepare(`
          SELECT tables.name AS name, columns.name AS one FROM sqlite_schema AS tables
          JOIN pragma_table_info(tables.name) AS columns
          WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'`)
        .all()
        .map(({ name, one }) => [String(name), String(one)] as const),
    )
    main.close()
    keys.close()
    await moveToPostgres(taskOf('first', url))
    const postgres = (await rowsIn(
      url,
      "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'",
    )) as [string, string][]
    expect(movingOf(sqlite, STAYS.sqlite)).toEqual(MOVING)
    expect(movingOf(postgres, STAYS.postgres)).toEqual(MOVING)
  })
})

/** The owner, which the copy gets by itself, and what is about one database alone. */
const OWN = [
  'bound_to',
  'issuer_secret',
  'mirror',
  'unpinned',
  'leader',
  'unfinished',
  'key_change',
]
const STAYS = { sqlite: [...OWN, 'probe', 'backup'], postgres: [...OWN, 'schema_version'] }
const MOVING = MOVED.flatMap((table) =>
  columnsOf(table).map((one) => `${table.name}.${one}`),
).sort()

function movingOf(
  found: readonly (readonly [string, string])[],
  stays: readonly string[],
): string[] {
  const local = MOVED.flatMap((table) => table.local.map((one) => `${table.name}.${one}`))
  return found
    .filter(([table]) => !stays.includes(table))
    .map(([table, column]) => `${table}.${column}`)
    .filter((name) => !local.includes(name))
    .sort()
}

async function fillPeople(people: PeopleStore): Promise<void> {
  const times = { createdAt: EVER, expiresAt: EVER, lastUsedAt: EVER }
  const person = { id: 'ada', name: 'Ada', role: 'clerk', tenant: 'one', createdAt: EVER } as const
  const passkey = { id: 'one', person: 'ada', label: 'ä', counter: 1, createdAt: EVER }
  const challenge = { challenge: 'answered', expiresAt: Date.parse(EVER) }
  const login = { digest: 'at the provider', name: 'Bob', role: 'reader', tenant: 'one' } as const
  await people.useLogin(login, { ...person, id: 'bob' }, { id: 'b', digest: 'b', ...times }, 2)
  await people.add(person, { digest: 'first' }, 2)
  await people.useInvitation('first', { id: 'session', digest: 'of it', ...times })
  const publicKey = new Uint8Array([0, 255])
  await people.addPasskey({ ...passkey, credential: 'AQID', publicKey }, challenge, 'session')
  await people.invite('ada', { digest: 'second', expiresAt: EVER })
}
const EVER = '2099-01-01T00:00:00.000Z'

async function sumsIn(side: Side): Promise<unknown> {
  const sums: Record<string, unknown> = { keyVersion: await side.keyVersion() }
  for (const table of MOVED) {
    const { add, sum } = createSum()
    const some: Row[] = []
    for await (const rows of side.rows(table)) {
      add(rows)
      some.push(...rows.slice(0, 2))
    }
    expect(sum().rows, table.name).toBeGreaterThan(0)
    sums[table.name] = { ...sum(), next: table.numbered && (await side.nextNumber(table)) }
  }
  return sums
}

/** @param sqlite Of a new file. */
async function fill(sqlite: DatabaseSync): Promise<void> {
  const run = (sql: string, ...values: SQLInputValue[]) => sqlite.prepare(sql).run(...values)
  const hash = (text: string) => sha256(Buffer.from(text))
  sqlite.exec('BEGIN')
  for (let i = 0; i < 1_200; i++) {
    const bytes = randomBytes(10 + i)
    run('INSERT INTO payload (hash, bytes) VALUES (?, ?)', sha256(bytes), bytes)
    if (i % 2 === 0)
      run(
        `INSERT INTO record (hash, issued_on, valid_until, subject, category, tenant)
         VALUES (?, 20260131, 0, ?, ?, ?)`,
        sha256(bytes),
        -(2n ** 63n) + BigInt(i),
        2n ** 63n - 1n,
        ['one', 'two', null][i % 3] ?? null,
      )
  }
  sqlite.exec('COMMIT')
  const raw = await new Wallet(key).signTransaction({
    chainId: 1,
    nonce: 7,
    gasLimit: 21_000,
    maxFeePerGas: 10n ** 20n,
    type: 2,
    maxPriorityFeePerGas: 1n,
    to: new Wallet(key).address,
    data: '0x00ff',
  })
  const account = fromHex(new Wallet(key).address.toLowerCase() as Hex)
  run('INSERT INTO send (account, nonce, head) VALUES (?, 7, 12)', account)
  run(
    `INSERT INTO attempt (
       send, hash, raw, carried, gas_limit, max_fee_per_gas, max_priority_fee_per_gas)
     VALUES (1, ?, ?, 1, 21000, '100000000000000000000', '1')`,
    hash('attempt'),
    fromHex(raw as Hex),
  )
  run(
    `INSERT INTO send (account, nonce, block_number, block_hash, transaction_hash, fee, settled_at,
       seen, final)
     VALUES (?, 6, 9, ?, ?, 123456789, 1800000000000, 1, 1)`,
    account,
    hash('block'),
    hash('transaction'),
  )
  // Of another gateway, in a block of an unknown hash.
  run("INSERT INTO send (block_number, block_hash) VALUES (10, x'')")
  const record = (name: string, more: Record<string, SQLInputValue> = {}): number => {
    const row = { hash: hash(name), issued_on: 1, valid_until: 0, ...more }
    const marks = Object.keys(row).map(() => '?')
    const { lastInsertRowid } = run(
      `INSERT INTO record (${Object.keys(row).join(', ')}) VALUES (${marks.join(', ')})`,
      ...Object.values(row),
    )
    return Number(lastInsertRowid)
  }
  run(
    "INSERT INTO batch (root, size, manifest, tenant, promised) VALUES (?, 3, ?, 'default', 1)",
    hash('root'),
    hash('manifest'),
  )
  const of = { created_at: 5, actor: 'key k', tenant: 'default' }
  const ids = {
    inFlight: record('in flight', { ...of, request: hash('key').subarray(0, 16) }),
    queued: record('queued'),
    anchored: record('anchored', { ...of, supersedes: hash('old'), status: 2 }),
    foreign: record('foreign'),
    inBatch: record('in the batch', { batch: 1, batch_block: hash('batch block') }),
  }
  run(
    `INSERT INTO change (kind, hash, root, reason, time, actor, tenant, after)
     VALUES ('revoke', ?, ?, 4, 5, 'person 1 Ada', 'default', ?), ('erase', ?, NULL, NULL, 6, NULL,
       NULL, NULL), ('suspend', ?, NULL, NULL, 7, NULL, NULL, NULL)`,
    hash('old'),
    hash('root'),
    ids.anchored,
    hash('erased'),
    hash('in flight'),
  )
  run('INSERT INTO waiting (record) VALUES (?)', ids.queued)
  run('INSERT INTO waiting (batch, sent_in) VALUES (1, 0)')
  run('INSERT INTO waiting (change, not_before, tries) VALUES (1, 1800000000000, 3)')
  run('INSERT INTO waiting (change, sent_in) VALUES (3, 1)')
  run('INSERT INTO member (send, place, record) VALUES (1, 20, ?)', ids.inFlight)
  run('INSERT INTO member (send, place, record) VALUES (2, 19, ?)', ids.anchored)
  run('INSERT INTO member (send, place, record) VALUES (3, ?, ?)', -ids.foreign, ids.foreign)
  run('INSERT INTO tombstone VALUES (?)', hash('erased'))
  run(
    `INSERT INTO erasure (hash, requested_at, from_database, probe, tenant)
     VALUES (?, 5, 1, x'ff', 'default')`,
    hash('erased'),
  )
  run('UPDATE erasure SET erased_at = 6, probe = NULL')
  run('INSERT INTO status_list VALUES (1, 2, 0), (2, 0, 1)')
  run(
    "INSERT INTO status_slot VALUES (1, 7, ?, x''), (1, 9, ?, ?)",
    hash('a'),
    hash('b'),
    hash('root'),
  )
  run("INSERT INTO tally VALUES (20000, 'one', 'issued', 3)")
  run('INSERT INTO batch_request VALUES (?, ?, 5, 1)', hash('request'), hash('content'))
  run('INSERT INTO batch_draft (request, hashes) VALUES (?, ?)', hash('r'), hash('block'))
  run('INSERT INTO batch_draft (request, batch) VALUES (?, 1)', hash('r'))
  run(
    "INSERT INTO event (id, type, time, document_hash) VALUES (900, 'document.issued', 8, ?)",
    hash('in flight'),
  )
  run(
    `INSERT INTO webhook (id, tenant, created_by, created_at, url, types, secrets, cursor)
     VALUES ('one', NULL, 'api', 5, 'https://example.org', '["document.issued"]', '["b", "a"]', 900),
       ('two', 'default', 'api', 5, 'https://example.org', NULL, '[{"b":1,"a":2}]', 0)`,
  )
  run("INSERT INTO spent_nonce VALUES (x'01', 4000000000)")
  run("INSERT INTO used_offer VALUES (x'02', 1, 4, 4000000000)")
  run("INSERT INTO run VALUES ('r', 'default', 'key k', 'single', 1, x'01', 'done', NULL, 5, 6)")
  run("INSERT INTO run_row VALUES ('r', 1, x'ff00', NULL), ('r', 2, x'', x'01')")
  run("INSERT INTO kind VALUES ('diploma', 1, x'ff', 5, 6), ('diploma', 2, x'', 6, NULL)")
  run("INSERT INTO delivery VALUES ('one', ?, 900, 2, 5, 6)", hash('in flight'))
}
