import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './http.ts'

const run = promisify(execFile)

/** A real PostgreSQL on loopback, in its own folder. */
export type PostgresServer = {
  port: number
  /** The folder of all its files. */
  data: string
  /** @returns The URL of a new, empty database. */
  newDatabase(): Promise<string>
  /** A fast shutdown, as an administrator makes one. */
  shutDown(): Promise<void>
  start(): Promise<void>
  /** Sends a signal to all of its processes. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
  /** Stops it and removes the folder. */
  remove(): Promise<void>
}

/**
 * @returns The folder of its programs; `undefined` on a machine without it, whose tests are
 * skipped. With `CI=true` that is a failure.
 */
export function postgresFolder(): string | undefined {
  const found = folders().find((folder) => existsSync(join(folder, 'initdb')))
  if (found !== undefined) return found
  const reason =
    'PostgreSQL is not installed (initdb is neither in PATH nor in /usr/lib/postgresql)'
  // biome-ignore lint/style/noProcessEnv: this decides between a skipped test and a failure.
  if (process.env.CI) throw new Error(reason)
  // biome-ignore lint/suspicious/noConsole: a skipped test needs a reason.
  console.warn(`skipped: ${reason}`)
  return undefined
}

function folders(): string[] {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).map(Number) : []
  // biome-ignore lint/style/noProcessEnv: where the programs are.
  const path = (process.env.PATH ?? '').split(delimiter)
  return [
    ...versions.sort((a, b) => b - a).map((version) => join(debian, String(version), 'bin')),
    ...path,
  ]
}

/** PostgreSQL and PgBouncer refuse to run as root. */
export function owner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody']).toString())
  return { uid: id('-u'), gid: id('-g') }
}

/** Each of its processes is in its own group. The first one starts the others. */
function signalAll({ pid = 0 }: ChildProcess, name: NodeJS.Signals): void {
  process.kill(pid, name)
  for (const one of childrenOf(pid))
    try {
      process.kill(one, name)
    } catch {
      // The process has ended.
    }
}

/** Linux lists the children in a file. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`
  if (existsSync(file)) return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number)
  const all = execFileSync('ps', ['-A', '-o', 'ppid=,pid=']).toString().trim().split('\n')
  return all
    .map((line) => line.trim().split(/ +/).map(Number))
    .flatMap(([parent, child = 0]) => (parent === pid ? [child] : []))
}

/**
 * @param folder A folder of `postgresFolder`.
 * @param settings Additional settings, such as `fsync=on`.
 */
export async function startPostgres(
  folder: string,
  settings: readonly string[] = [],
): Promise<PostgresServer> {
  const user = owner()
  const dir = mkdtempSync(join(tmpdir(), 'document-registry-postgres-'))
  if (user) chownSync(dir, user.uid, user.gid)
  const options = { ...user, cwd: dir, env: { PGTZ: 'UTC', LC_ALL: 'C' } }
  const data = join(dir, 'data')
  const port = await freePort()
  let child: ChildProcess | undefined
  let databases = 0

  await run(
    join(folder, 'initdb'),
    ['-D', data, '-U', 'registry', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    options,
  )

  const url = (database: string) => `postgres://registry@127.0.0.1:${port}/${database}`
  const isUp = async () => {
    const client = new pg.Client({ connectionString: url('postgres') })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return true
    } catch {
      return false
    }
  }

  async function start(): Promise<void> {
    const defaults = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      `port=${port}`,
      // Without it, only a killed machine loses data, not a killed process.
      'fsync=off',
      'max_connections=200',
      'logging_collector=off',
    ]
    const args = [...defaults, ...settings].flatMap((setting) => ['-c', setting])
    const started = spawn(join(folder, 'postgres'), ['-D', data, ...args], {
      ...options,
      stdio: 'ignore',
      detached: true,
    })
    child = started
    while (!(await isUp())) {
      if (started.exitCode !== null) throw new Error(`PostgreSQL ended: ${started.exitCode}`)
      await sleep(20)
    }
  }

  /** @param send Sends the signal that stops it. */
  async function end(send: (child: ChildProcess) => void): Promise<void> {
    const ending = child
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
    const exited = once(ending, 'exit')
    send(ending)
    await exited
  }

  await start()
  return {
    port,
    data,
    async newDatabase() {
      const client = new pg.Client({ connectionString: url('postgres') })
      await client.connect()
      const name = `test_${databases++}`
      await client.query(`CREATE DATABASE ${name}`)
      await client.end()
      return url(name)
    },
    start,
    shutDown: () => end((one) => one.kill('SIGINT')),
    async signal(name) {
      if (name === 'SIGKILL') await end((one) => signalAll(one, name))
      else if (child) signalAll(child, name)
    },
    async remove() {
      await end((one) => signalAll(one, 'SIGKILL'))
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
