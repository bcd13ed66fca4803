import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../../../../support/http.ts'
import { owner, postgresFolder } from '../../../../support/postgres.ts'

/** Debian installs it in a folder that is not in the PATH of other users. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin']

/**
 * @returns The program; `undefined` on a machine without it or without PostgreSQL, where its tests
 * are skipped. With `CI=true` that is a failure.
 */
export function pgbouncerProgram(): string | undefined {
  if (postgresFolder() === undefined) return undefined
  // biome-ignore lint/style/noProcessEnv: where the programs are.
  const { PATH = '', CI } = process.env
  const found = [...PATH.split(delimiter), ...FOLDERS]
    .map((folder) => join(folder, 'pgbouncer'))
    .find((path) => existsSync(path))
  if (found !== undefined) return found
  const reason = 'PgBouncer is not installed'
  if (CI) throw new Error(reason)
  // biome-ignore lint/suspicious/noConsole: a skipped test needs a reason.
  console.warn(`skipped: ${reason}`)
  return undefined
}

/** How PgBouncer shares its connections to the server. */
export type PoolMode = 'session' | 'transaction' | 'statement'

/**
 * Starts a real PgBouncer on loopback with its default settings, except for the mode.
 *
 * @param url The URL of a database of `startPostgres`.
 * @returns The URL of the same database through PgBouncer.
 */
export async function startPgbouncer(program: string, url: string, mode: PoolMode) {
  const user = owner()
  const dir = mkdtempSync(join(tmpdir(), 'document-registry-pgbouncer-'))
  const port = await freePort()
  const server = new URL(url)
  const settings = join(dir, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
* = host=127.0.0.1 port=${server.port} user=${server.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
  )
  if (user) chownSync(dir, user.uid, user.gid)
  server.port = String(port)
  const start = async () => {
    const child = spawn(program, ['-q', settings], { ...user, cwd: dir, stdio: 'ignore' })
    while (!(await answers(server.href))) {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${child.exitCode}`)
      await sleep(20)
    }
    return child
  }
  let child = await start()
  const kill = async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: server.href,
    kill,
    async start() {
      child = await start()
    },
    async stop() {
      await kill()
      rmSync(dir, { recursive: true })
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
