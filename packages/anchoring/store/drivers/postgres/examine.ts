import pg from 'pg'
import { clock } from '#base/clock.ts'
import type { Hex } from '#document/hex.ts'
import {
  type Health,
  readBinding,
  refusedHealth,
  secretHealth,
  unfinishedCommand,
} from '../../binding.ts'
import { mirrorHealth } from '../../mirror.ts'
import { GATEWAY, LEADER } from '../../stores.ts'
import { SCHEMA_VERSION } from '../../tables.ts'
import { ANSWER_TIMEOUT_MS, optionsOf, type Query } from './connection.ts'
import { assertNotified, MAX_CONNECTIONS } from './database.ts'
import { DatabaseUrlError } from './errors.ts'
import { createNotifications } from './notifications.ts'
import { readSchemaVersion, serverProblem } from './schema.ts'
import { LOCK_CLASS, lockNumberOf } from './session.ts'
import { POSTGRES, runWork } from './statements.ts'

/** How far the clocks may be apart; seconds. */
const MAX_SKEW_SECONDS = 5
const MEGABYTE = 1e6
/** Of a gateway: the pool, one that listens, one to lead, and three for batches under way. */
const NEEDED_CONNECTIONS = MAX_CONNECTIONS + 5

const ok = (message: string): Health => ({ outcome: 'ok', message })
const warn = (message: string, advice: string): Health => ({ outcome: 'warn', message, advice })
const fail = (message: string, advice: string): Health => ({ outcome: 'fail', message, advice })

/** Examines a PostgreSQL database; see `DatabaseAdapter`. */
export async function examinePostgres(
  url: string,
  fingerprints: readonly Hex[] | undefined,
): Promise<Health[]> {
  // Without limits of its own and prepared statements, which a wrong pooler would mix up.
  const pool = new pg.Pool({ ...optionsOf(url, ANSWER_TIMEOUT_MS), max: 1 })
  pool.on('error', () => {})
  const query = (async (text, values = []) => (await pool.query(text, [...values])).rows) as Query
  try {
    const problem = await serverProblem(query)
    if (problem) return [fail(`DATABASE_URL ${problem}`, 'see docs/operate.md')]
    const version = await readSchemaVersion(query)
    return [
      await checkServer(query),
      checkSchema(version),
      ...(await checkClock(query)),
      await checkNotifications(url),
      await checkSize(query),
      await checkConnections(query),
      ...(version === SCHEMA_VERSION ? await checkContent(query, version, fingerprints) : []),
    ]
  } catch (error) {
    return [
      fail(
        `it does not answer: ${error instanceof Error ? error.message : error}`,
        'check DATABASE_URL, the network and the server: issuing answers 503 until it is back',
      ),
    ]
  } finally {
    await pool.end()
  }
}

async function checkServer(query: Query): Promise<Health> {
  const [row] = await query(
    "SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS replica",
  )
  if (row?.replica === true)
    return fail('it is a read-only replica', 'set DATABASE_URL to the primary')
  return ok(`PostgreSQL ${row?.version} answers`)
}

function checkSchema(version: number): Health {
  if (version < 0)
    return fail('it was moved to a data folder', 'set DATA_DIR to that one, without DATABASE_URL')
  if (version === 0) return ok('it is empty; the first start of a gateway makes its tables')
  if (version === SCHEMA_VERSION) return ok(`its schema is ${version}, that of this version`)
  return fail(
    `its schema is ${version}, this version's is ${SCHEMA_VERSION}`,
    'start the version that wrote it, or name an empty database',
  )
}

/** Some things expire by the clock of the server, others by that of each gateway. */
async function checkClock(query: Query): Promise<Health[]> {
  const asked = clock.wall()
  const [row] = await query(`SELECT ${POSTGRES.nowMs} AS milliseconds`)
  const answered = clock.wall()
  const server = Number(row?.milliseconds)
  const ahead = server > answered ? server - answered : Math.min(0, server - asked)
  const seconds = Math.round(ahead / 1000)
  if (Math.abs(seconds) <= MAX_SKEW_SECONDS) return [ok("its clock agrees with this machine's")]
  const apart = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this machine's`
  return [warn(`its clock is ${apart}`, 'synchronize both (NTP)')]
}

/** A pooler that hands out connections for single transactions does not deliver notifications. */
async function checkNotifications(url: string): Promise<Health> {
  const notifications = createNotifications(url)
  try {
    await assertNotified(notifications, url)
    return ok('notifications arrive: no pooler in transaction mode is in between')
  } catch (error) {
    if (!(error instanceof DatabaseUrlError)) throw error
    return fail(error.message, 'lead around the pooler, or put it into session mode')
  } finally {
    await notifications.close()
  }
}

async function checkSize(query: Query): Promise<Health> {
  const [row] = await query('SELECT pg_database_size(current_database()) AS bytes')
  const size = (Number(row?.bytes) / MEGABYTE).toFixed(0)
  return ok(`it takes ${size} MB; watch the free space of its disk there`)
}

async function checkConnections(query: Query): Promise<Health> {
  const [row] = await query(`
    SELECT current_setting('max_connections')::int AS most,
      (SELECT sum(numbackends) FROM pg_stat_database)::int AS used`)
  const [most, used] = [Number(row?.most), Number(row?.used)]
  const message = `${used} of ${most} connections are in use`
  return most - used >= NEEDED_CONNECTIONS
    ? ok(message)
    : warn(message, `raise max_connections: each gateway needs ${NEEDED_CONNECTIONS} of them`)
}

async function checkContent(
  query: Query,
  version: number,
  fingerprints: readonly Hex[] | undefined,
): Promise<Health[]> {
  const binding = await runWork(query, readBinding)
  if (!binding) return [ok('no gateway has used it yet')]
  const secrets = secretHealth(`schema ${version}`, binding.fingerprints, fingerprints)
  return [
    secrets,
    ...(await runWork(query, refusedHealth)),
    ...(await runWork(query, mirrorHealth)),
    ...(await checkFilled(query)),
    ...(await checkGateways(query)),
  ]
}

async function checkGateways(query: Query): Promise<Health[]> {
  const [row] = await query(
    `
    SELECT count(*) FILTER (WHERE objid = $2) AS leaders,
      count(*) FILTER (WHERE objid = $3) AS gateways
    FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = $1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [LOCK_CLASS, lockNumberOf(LEADER), lockNumberOf(GATEWAY)],
  )
  const [leaders, gateways] = [Number(row?.leaders), Number(row?.gateways)]
  if (leaders > 0) return [ok(`a gateway leads, of ${gateways} that could`)]
  const [waiting] = await query('SELECT count(*) AS count FROM waiting')
  return [
    warn(
      `no gateway leads, and ${Number(waiting?.count)} documents or changes wait for one`,
      'start one; after a crash, another one leads within LOCK_SECONDS',
    ),
  ]
}

async function checkFilled(query: Query): Promise<Health[]> {
  const command = await runWork(query, unfinishedCommand)
  if (command === undefined) return []
  return [
    fail(
      `\`docreg-gateway ${command}\` has not finished`,
      'run that again: gateways do not start before',
    ),
  ]
}
