import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { postgresFolder, startPostgres } from '#test/support/postgres.ts'
import { statOf, TICKS_A_SECOND } from './processes.ts'

const LOOK_MS = 500
/** The settings that affect the speed, in the order of the report. */
const SETTINGS = ['server_version', 'shared_buffers', 'max_wal_size', 'fsync', 'synchronous_commit']

/** A PostgreSQL server on this machine whose processes are measured. */
export type MeasuredServer = Awaited<ReturnType<typeof measuredServer>>
/** The maximum in bytes; `own` excludes shared memory and files. */
type ServerMemory = { bytes: number; own: number; processes: number }

/** Runs work with a private PostgreSQL, which has its own settings: each commit is on the disk. */
export async function withPostgres<T>(use: (server: MeasuredServer) => Promise<T>): Promise<T> {
  const folder = postgresFolder()
  if (folder === undefined) throw new Error('PostgreSQL is not installed')
  const postgres = await startPostgres(folder, ['fsync=on'])
  const client = new pg.Client({ connectionString: await postgres.newDatabase() })
  try {
    await client.connect()
    return await use(await measuredServer(client))
  } finally {
    await client.end()
    await postgres.remove()
  }
}

async function measuredServer(client: pg.Client) {
  const query = async (text: string) => (await client.query(text)).rows[0]
  const file = "split_part(pg_read_file('postmaster.pid'), E'\\n', 1)"
  const postmaster = Number((await query(`SELECT ${file} AS pid`)).pid)
  return {
    /** @returns The URL of a new database. */
    async create(database: string) {
      await query(`CREATE DATABASE ${database} TEMPLATE template0 ENCODING 'UTF8'`)
      return `postgres://${client.user}@${client.host}:${client.port}/${database}`
    },
    sizeOf: async (database: string) =>
      Number((await query(`SELECT pg_database_size('${database}') AS bytes`)).bytes),
    async settings() {
      const shown: string[] = []
      for (const name of SETTINGS) shown.push(`${name} ${(await query(`SHOW ${name}`))[name]}`)
      return shown
    },
    /** @returns The processor time of all its processes since its start, in seconds. */
    cpu() {
      const ended = ticksOf(postmaster, ['cutime', 'cstime'])
      const running = processesOf(postmaster).map((pid) => ticksOf(pid, ['utime', 'stime']))
      return running.reduce((all, one) => all + one, ended) / TICKS_A_SECOND
    },
    /** Measures the memory of all its processes; shared memory counts once. */
    watchMemory() {
      const most = { bytes: 0, own: 0, processes: 0 }
      const timer = setInterval(() => {
        const now = memoryOf(processesOf(postmaster))
        if (now.bytes > most.bytes) Object.assign(most, now)
      }, LOOK_MS).unref()
      return {
        stop(): ServerMemory {
          clearInterval(timer)
          return most
        },
      }
    },
  }
}

function processesOf(postmaster: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const isChild = (pid: number) => orElse([0], () => statOf(pid, ['ppid']))[0] === postmaster
  return [postmaster, ...pids.map(Number).filter(isChild)]
}

const ticksOf = (pid: number, fields: Parameters<typeof statOf>[1]) =>
  orElse([0], () => statOf(pid, fields)).reduce((all, one) => all + one, 0)

/** @returns The proportional set sizes. */
function memoryOf(pids: readonly number[]): ServerMemory {
  const rollups = pids.map((pid) =>
    orElse('', () => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')),
  )
  const sum = (field: string) => {
    const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm')
    return rollups.reduce((all, text) => all + 1024 * Number(line.exec(text)?.[1] ?? 0), 0)
  }
  return { bytes: sum('Pss'), own: sum('Pss_Anon'), processes: pids.length }
}

/** A process may have ended meanwhile. */
function orElse<T>(absent: T, read: () => T): T {
  try {
    return read()
  } catch {
    return absent
  }
}
