import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { IssueError } from '../issue/errors.ts'
import { type Binding, bind } from './binding.ts'
import { DataDirError } from './data-dir-error.ts'
import { SCHEMA, SCHEMA_VERSION } from './schema.ts'

/** The gateway's one SQLite file. What `write` resolved for is on the disk. */
export type Database = {
  readonly sqlite: DatabaseSync
  /**
   * Runs `work` in the next transaction, together with all other work that waits: one commit, one flush to the disk. When the
   * commit fails, none of it has happened and all of it rejects, with an `IssueError` `store_unavailable`.
   *
   * @param urgent Others wait for this one: it is committed at once, with what waits, also while a flush is under way.
   */
  write<T>(work: () => T, urgent?: boolean): Promise<T>
  /**
   * Binds a new file to whom it issues for.
   *
   * @throws {DataDirError} `bound_to_another` when it is bound to another: what is promised in it could not be kept there.
   */
  bindTo(binding: Binding): void
  /**
   * Copies the file with everything that `write` has resolved for, while it is in use.
   *
   * @param path The copy; must not exist. One is made at a time.
   * @param beside Runs once the copy is whole, before anything more is written: what it copies is of
   *   the same moment. With it, writes wait until both are done.
   */
  copyTo(path: string, beside?: () => Promise<void>): Promise<void>
  /**
   * Writes something, at most once a second.
   *
   * @throws {IssueError} `store_unavailable` when the disk takes no write now.
   */
  assertReady(): Promise<void>
  close(): Promise<void>
}

/**
 * Pages of the write-ahead log, 4 KiB each, after which it is written into the file: everything stops for that, so not too often; and
 * the next start reads it, so not too late.
 */
const CHECKPOINT = 8_192

/** Turns of the event loop for which work gathers, as long as each brings more: a commit writes some pages whatever is in it. */
const GATHER = 4

/** Pages that a backup copies in one step, some milliseconds: the service waits for a step, not for all. */
const COPIED_PAGES = 500

/** How long a write that succeeded shows that the disk takes writes; milliseconds. */
const PROBE_TTL_MS = 1_000

type Job = { work: () => unknown; settle: (error?: unknown) => void }

const flushToDisk = promisify(fdatasync)

/**
 * Commits and then flushes the write-ahead log itself, off the event loop, before anybody is told: what `synchronous = FULL` does in
 * each commit, while everything waits.
 *
 * @param path The file; made when it is not there.
 * @param flushFailed Called when a flush has failed, before anybody who waits for it hears of it. Nobody
 *   can say then what is on the disk (the kernel may drop what it could not write), so the process has
 *   to end: the next start reads what is there. Until then nothing more is written.
 * @throws {DataDirError} `other_version` when another version of the service wrote it.
 * @throws {Error} when another process has it open: two gateways must not share a data folder.
 */
export function openDatabase(
  path: string,
  flushFailed: (error: IssueError) => void = () => {},
): Database {
  // For this user alone; SQLite gives its side files the same mode.
  closeSync(openSync(path, 'a', 0o600))
  const sqlite = new DatabaseSync(path)
  // EXCLUSIVE also keeps a second gateway out, and the lock goes with the process that held it.
  sqlite.exec('PRAGMA locking_mode = EXCLUSIVE')
  assertVersion(sqlite)
  sqlite.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA foreign_keys = ON;
    PRAGMA wal_autocheckpoint = ${CHECKPOINT};
  `)
  // Together: tables without a version would be refused at the next start. The log is there from this write on, until the file is closed.
  sqlite.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
  const log = openSync(`${path}-wal`, 'r+')
  // A second one, for a second flush at the same time: each file descriptor is told of a failure once (errseq of Linux).
  const urgentLog = openSync(`${path}-wal`, 'r+')
  syncFolder(dirname(path))
  sqlite.exec('PRAGMA synchronous = NORMAL')

  let jobs: Job[] = []
  let closed = false
  let broken: IssueError | undefined
  let flushing: Promise<void> | undefined
  let hurrying: Promise<void> | undefined
  let copying: Promise<void> | undefined
  /** While it is there, nothing is committed. */
  let held: Promise<void> | undefined

  async function flushAll(): Promise<void> {
    while (jobs.length > 0) {
      await gather()
      await flushGroup(log)
    }
    flushing = undefined
  }

  async function gather(): Promise<void> {
    for (let turn = 0; turn < GATHER; turn++) {
      const before = jobs.length
      await nextTurn()
      if (jobs.length <= before) return
    }
  }

  async function flushGroup(file: number): Promise<void> {
    while (held) await held
    const group = jobs
    jobs = []
    if (group.length === 0) return
    const error = commit(group) ?? (await flush(file))
    for (const { settle } of group) settle(error)
  }

  async function hurry(): Promise<void> {
    await flushGroup(urgentLog)
    hurrying = undefined
    if (jobs.length > 0) flushing ??= flushAll()
  }

  function commit(group: readonly Job[]): IssueError | undefined {
    if (broken) return broken
    try {
      sqlite.exec('BEGIN IMMEDIATE')
      for (const { work } of group) work()
      sqlite.exec('COMMIT')
      return undefined
    } catch (cause) {
      if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
      return notWritten(cause)
    }
  }

  async function flush(file: number): Promise<IssueError | undefined> {
    try {
      await flushToDisk(file)
      // What another flush could not write lies before this in the log.
      return broken
    } catch (cause) {
      broken ??= notWritten(cause)
      flushFailed(broken)
      return broken
    }
  }

  const write: Database['write'] = (work, urgent = false) =>
    new Promise((resolve, reject) => {
      if (closed) throw new Error('the database is closed')
      let result: ReturnType<typeof work>
      const settle = (error?: unknown) => (error === undefined ? resolve(result) : reject(error))
      jobs.push({
        settle,
        work: () => {
          result = work()
        },
      })
      if (urgent) hurrying ??= hurry()
      else flushing ??= flushAll()
    })

  async function copyTo(path: string, beside?: () => Promise<void>) {
    if (copying) throw new Error('another copy is being made')
    const begun = Promise.withResolvers<void>()
    copying = copyDatabase(sqlite, path, begun.resolve).then(beside)
    const release = () => {
      held = undefined
    }
    const free = beside ? copying : Promise.race([begun.promise, copying])
    held = free.then(release, release)
    try {
      await copying
    } finally {
      await held
      copying = undefined
    }
  }

  return {
    sqlite,
    write,
    copyTo,
    assertReady: createProbe(sqlite, write),

    bindTo: (binding) => bind(sqlite, binding),

    async close() {
      if (closed) return
      closed = true
      await copying?.catch(() => {})
      while (flushing || hurrying) await Promise.all([flushing, hurrying])
      closeSync(log)
      closeSync(urgentLog)
      sqlite.close()
    },
  }
}

/**
 * By SQLite's backup API: what is committed meanwhile goes into the copy too.
 *
 * @param begun Called after the first step, if there are more. Until then there must be no
 *   transaction: Node repeats a later step that meets one (SQLITE_BUSY), but fails at the first.
 */
async function copyDatabase(sqlite: DatabaseSync, path: string, begun: () => void): Promise<void> {
  closeSync(openSync(path, 'wx', 0o600))
  await backup(sqlite, path, { rate: COPIED_PAGES, progress: begun })
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** See `assertReady`: readiness is asked for by anybody, as often as they like. */
function createProbe(sqlite: DatabaseSync, write: Database['write']): () => Promise<void> {
  const probe = sqlite.prepare(`
    INSERT INTO probe VALUES (1, ?1) ON CONFLICT DO UPDATE SET written_at = ?1`)
  let succeededAt = Number.NEGATIVE_INFINITY
  let probing: Promise<void> | undefined
  return async () => {
    if (performance.now() - succeededAt < PROBE_TTL_MS) return
    probing ??= write(() => {
      probe.run(Date.now())
    })
      .then(() => {
        succeededAt = performance.now()
      })
      .finally(() => {
        probing = undefined
      })
    await probing
  }
}

/** @throws {DataDirError} `other_version` */
function assertVersion(sqlite: DatabaseSync): void {
  const schema = sqlite.prepare('SELECT count(*) AS tables FROM sqlite_schema')
  if (schema.get()?.tables === 0) return
  const row = sqlite.prepare('PRAGMA user_version').get()
  const version = Number(row?.user_version)
  if (version === SCHEMA_VERSION) return
  sqlite.close()
  const writer = version > SCHEMA_VERSION ? 'a newer version' : 'an older version'
  throw new DataDirError(
    'other_version',
    `was written by ${writer} of this service (its format is ${version}, this one's is ${SCHEMA_VERSION}), and is not converted`,
    ': start with another DATA_DIR, or with the version that wrote it',
  )
}

function notWritten(cause: unknown): IssueError {
  const message = cause instanceof Error ? cause.message : cause
  return new IssueError('store_unavailable', `not written: ${message}`, cause)
}

/** So that the names of new files survive a loss of power. Not on Windows, which cannot and need not. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}
