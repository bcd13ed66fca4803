import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

/** Runs statements on the database of a gateway, as its settings name it. */
export type DatabaseRows = {
  /** Runs statements. */
  run(sql: string): Promise<void>
  all(sql: string): Promise<Record<string, unknown>[]>
  /** @returns The bytes as a literal of the database. */
  bytes(hex: string): string
  /** @returns An expression for a column of bytes in upper-case hexadecimal. */
  hex(column: string): string
}

/** @param env The settings of a gateway, which must not run if it uses SQLite. */
export function databaseRows({
  DATABASE_URL,
  DATA_DIR = '',
}: Record<string, string>): DatabaseRows {
  return DATABASE_URL === undefined ? sqliteRows(DATA_DIR) : postgresRows(DATABASE_URL)
}

function sqliteRows(dataDir: string): DatabaseRows {
  const on = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(join(dataDir, 'gateway.db'))
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  return {
    run: async (sql) => on((database) => database.exec(sql)),
    all: async (sql) => on((database) => database.prepare(sql).all()),
    bytes: (hex) => `x'${hex}'`,
    hex: (column) => `hex(${column})`,
  }
}

function postgresRows(connectionString: string): DatabaseRows {
  async function query(sql: string) {
    const client = new pg.Client({ connectionString })
    await client.connect()
    try {
      return await client.query(sql)
    } finally {
      await client.end()
    }
  }
  return {
    async run(sql) {
      await query(sql)
    },
    all: async (sql) => (await query(sql)).rows,
    bytes: (hex) => `'\\x${hex}'::bytea`,
    hex: (column) => `upper(encode(${column}, 'hex'))`,
  }
}
