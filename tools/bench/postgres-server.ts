import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { TICKS_A_SECOND } from './processes.ts'

const LOOK_MS = 500
/** The settings that affect the speed, in the order of the report. */
const SETTINGS = ['server_version', 'shared_buffers', 'max_wal_size', 'fsync', 'synchronous_commit']

/** The sizes of a database in bytes, in total and of each table with its indexes. */
export type Sizes = { all: number; tables: { name: string; table: number; indexes: number }[] }

/** A PostgreSQL server on this machine whose databases are created, copied and measured. */
export type MeasuredServer = {
  urlOf(database: string): string
  has(database: string): Promise<boolean>
  /** @returns The URL of the database. */
  create(database: string, template?: string): Promise<string>
  rename(from: string, to: string): Promise<void>
  /** Drops all databases whose names begin with `prefix`. */
  dropAll(prefix: string): Promise<void>
  sizesOf(url: string): Promise<Sizes>
  settings(): Promise<string[]>
  /** The processor time of all its processes since its start, in seconds. */
  cpu(): number
  /** Measures the memory of all its processes; shared memory counts once. */
  watchMemory(): { stop(): ServerMemory }
}

/** The maximum in bytes; `own` excludes shared memory and files. */
export type ServerMemory = { bytes: number; own: number; processes: number }

/** @param url The URL of a superuser. */
export async function createPostgresServer(url: string): Promise<MeasuredServer> {
  async function query(at: string, text: string) {
    const client = new pg.Client({ connectionString: at })
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }
  const urlOf = (database: string) => {
    const of = new URL(url)
    of.pathname = `/${database}`
    return of.href
  }
  const [first] = await query(
    url,
    "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid",
  )
  const postmaster = Number(first?.pid)
  const names = async () =>
    (await query(url, 'SELECT datname FROM pg_database')).map(({ datname }) => String(datname))

  return {
    urlOf,
    has: async (database) => (await names()).includes(database),
    async create(database, template = 'template0') {
      await query(
        url,
        `CREATE DATABASE ${database} TEMPLATE ${template} ENCODING 'UTF8' STRATEGY file_copy`,
      )
      return urlOf(database)
    },
    async rename(from, to) {
      await query(url, `ALTER DATABASE ${from} RENAME TO ${to}`)
    },
    async dropAll(prefix) {
      for (const name of await names())
        if (name.startsWith(prefix)) await query(url, `DROP DATABASE ${name} WITH (FORCE)`)
    },
    async sizesOf(of) {
      const [row] = await query(of, 'SELECT pg_database_size(current_database()) AS bytes')
      const tables = await query(
        of,
        `SELECT relname, pg_table_size(oid) AS table, pg_indexes_size(oid) AS indexes
         FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
         ORDER BY pg_total_relation_size(oid) DESC LIMIT 5`,
      )
      return {
        all: Number(row?.bytes),
        tables: tables.map((one) => ({
          name: String(one.relname),
          table: Number(one.table),
          indexes: Number(one.indexes),
        })),
      }
    },
    async settings() {
      const shown = await Promise.all(SETTINGS.map((name) => query(url, `SHOW ${name}`)))
      return SETTINGS.map((name, i) => `${name} ${Object.values(shown[i]?.[0] ?? {})[0]}`)
    },
    cpu() {
      const running = processesOf(postmaster).map((pid) => ticksOf(pid, UTIME))
      const ended = ticksOf(postmaster, CUTIME)
      return (running.reduce((all, one) => all + one, 0) + ended) / TICKS_A_SECOND
    },
    watchMemory() {
      const most = { bytes: 0, own: 0, processes: 0 }
      const timer = setInterval(() => {
        const now = memoryOf(processesOf(postmaster))
        if (now.bytes > most.bytes) Object.assign(most, now)
      }, LOOK_MS)
      return {
        stop() {
          clearInterval(timer)
          return most
        },
      }
    },
  }
}

function processesOf(postmaster: number): number[] {
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(Number(name)) === postmaster,
  )
  return [postmaster, ...children.map(Number)]
}

/** Fields of /proc/<pid>/stat, counted from the one after the name. */
const PPID = 1
/** The user time of the process, and of its ended children; each is followed by the system time. */
const UTIME = 11
const CUTIME = 13

function fieldsOf(pid: number): number[] {
  const stat = readOr(`/proc/${pid}/stat`)
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
}

const parentOf = (pid: number) => fieldsOf(pid)[PPID]

function ticksOf(pid: number, at: number): number {
  const fields = fieldsOf(pid)
  return (fields[at] ?? 0) + (fields[at + 1] ?? 0)
}

/** @returns The proportional set sizes. */
function memoryOf(pids: readonly number[]): ServerMemory {
  const rollups = pids.map((pid) => readOr(`/proc/${pid}/smaps_rollup`))
  const sum = (field: string) =>
    rollups.reduce(
      (all, text) =>
        all + 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0),
      0,
    )
  return { bytes: sum('Pss'), own: sum('Pss_Anon'), processes: pids.length }
}

/** A process may have ended meanwhile. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
