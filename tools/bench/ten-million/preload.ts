// Loaded by `node --import` before a gateway whose event loop is measured. On SIGUSR2 it writes the
// measurements since the last signal as `Pauses` to the file PAUSES_FILE.
import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DatabaseSync, StatementSync } from 'node:sqlite'

/** Pauses of the event loop in milliseconds. */
export type Pauses = {
  longest: number
  p99: number
  /** The time of the longest single statement, and its text. */
  statement: number
  sql: string
  /** The maximum processor time of a single statement. */
  statementCpu: number
}

const file = process.env.PAUSES_FILE ?? ''
const NANO = 1e6
const delay = monitorEventLoopDelay({ resolution: 1 })
let slowest = { ms: 0, sql: '' }
let dearest = 0
delay.enable()

function timed<T>(sql: () => string, work: () => T): T {
  const start = performance.now()
  const before = process.threadCpuUsage()
  const result = work()
  const { user, system } = process.threadCpuUsage(before)
  dearest = Math.max(dearest, (user + system) / 1000)
  const ms = performance.now() - start
  if (ms > slowest.ms) slowest = { ms, sql: sql() }
  return result
}

const { exec } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
  timed(
    () => sql,
    () => exec.call(this, sql),
  )
}

for (const name of ['run', 'get', 'all'] as const) {
  const real = StatementSync.prototype[name] as (...args: unknown[]) => never
  StatementSync.prototype[name] = function (this: StatementSync, ...args: unknown[]) {
    return timed(
      () => this.sourceSQL,
      () => real.apply(this, args),
    )
  }
}

process.on('SIGUSR2', () => {
  const pauses: Pauses = {
    longest: delay.max / NANO,
    p99: delay.percentile(99) / NANO,
    statement: slowest.ms,
    statementCpu: dearest,
    sql: slowest.sql.replaceAll(/\s+/g, ' ').trim(),
  }
  delay.reset()
  slowest = { ms: 0, sql: '' }
  dearest = 0
  writeFileSync(`${file}.new`, JSON.stringify(pauses))
  renameSync(`${file}.new`, file)
})
