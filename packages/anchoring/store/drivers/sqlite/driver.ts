import { closeSync, fsyncSync, openSync } from 'node:fs'
import { backup, type DatabaseSync } from 'node:sqlite'
import { groupCalls } from '#base/grouping.ts'
import type { IssueError } from '#promise/errors.ts'
import { type Database, type Group, MAX_GROUP } from '../../database.ts'
import { single, type Work } from '../../sql.ts'
import type { DatabaseParts } from '../../stores.ts'
import { createCheckpoints } from './checkpoints.ts'
import { openLocked } from './open-file.ts'
import { createRun } from './statements.ts'
import { openWriteMark, type WriteMark } from './write-mark.ts'
import { createHolds, createWriteQueue, type Holds, type WriteQueue } from './write-queue.ts'

/**
 * Pages that SQLite copies in one step. The service waits for a step, some milliseconds, not for
 * the whole copy.
 */
const PAGES_PER_STEP = 500
/** How long one successful write proves that the disk takes writes. */
const PROBE_TTL_MS = 1_000

/**
 * The gateway's one SQLite file. Writes that wait share a transaction: one commit, one flush to the
 * disk. When that fails, none of them has happened, and all reject with an `IssueError`
 * `store_unavailable`.
 */
export type SqliteDatabase = Database &
  Pick<DatabaseParts, 'assertReady' | 'copyTo' | 'close'> & {
    readonly sqlite: DatabaseSync
    readonly path: string
    readonly mark: Pick<WriteMark, 'isBehind' | 'accept'>
    /**
     * Leaves the write-ahead log empty, and with it nothing that was deleted before.
     *
     * @throws {Error} when the disk refuses, or a copy is being made.
     */
    emptyLog(): Promise<void>
    /** Rewrites the file without what was deleted; takes time and as much room again. */
    rewrite(): Promise<void>
  }

/**
 * @param path The file; created if it does not exist.
 * @param flushFailed Called after a failed flush, before the writes that wait for it reject. The
 * content of the disk is unknown then (the kernel may drop pages that it could not write), so the
 * process must end; the next start reads what is there. Until then all writes are rejected.
 * @throws {DataDirError} `other_version` when another version of the service wrote it.
 * @throws {Error} when another process has it open: two gateways must not share a data folder.
 */
export function openSqlite(
  path: string,
  flushFailed: (error: IssueError) => void = () => {},
): SqliteDatabase {
  const { sqlite, lock } = openLocked(path)
  const mark = orClose(() => openWriteMark(path, sqlite), [sqlite, lock])
  const holds = createHolds()
  const checkpoints = createCheckpoints(path, sqlite, holds)
  const copier = createCopier(sqlite, holds)
  const committed = checkpoints.startIfDue
  const queue = createWriteQueue(sqlite, `${path}-wal`, { holds, mark, flushFailed, committed })
  let closed = false
  return {
    ...createPort(sqlite, queue.write),
    sqlite,
    path,
    mark,
    copyTo: copier.copyTo,
    emptyLog: checkpoints.emptyLog,
    rewrite: checkpoints.rewrite,
    assertReady: createProbe(queue.write, mark.bump),
    async close() {
      if (closed) return
      closed = true
      const written = queue.close()
      await copier.idle()
      await written
      await checkpoints.close()
      sqlite.close()
      mark.close()
      lock.close()
    },
  }
}

/** @returns What `open` returns; when it throws, the files are closed. */
function orClose<T>(open: () => T, files: readonly DatabaseSync[]): T {
  try {
    return open()
  } catch (error) {
    for (const file of files) file.close()
    throw error
  }
}

/** @param commit Runs work in the next transaction. */
function createPort(sqlite: DatabaseSync, commit: WriteQueue['write']): Database {
  const listeners = new Map<string, Set<(payload: string) => void>>()
  let heard: { channel: string; payload: string }[] = []
  const run = createRun(sqlite, (channel, payload) => heard.push({ channel, payload }))

  /** @returns The result, or the error that the work threw before it changed anything. */
  function attempt<T>(work: () => Work<T>) {
    const about = { hasChanged: false }
    heard = []
    try {
      return { result: run.work(work, about), told: heard }
    } catch (error) {
      // All works of a transaction fail together, unless this one has done nothing.
      if (about.hasChanged || isOfSqlite(error)) throw error
      return { error, told: [] }
    }
  }

  async function write<T>(work: () => Work<T>, urgent = false): Promise<T> {
    const { result, error, told } = await commit(() => attempt(work), urgent)
    if (error !== undefined) throw error
    for (const { channel, payload } of told)
      for (const listener of listeners.get(channel) ?? []) listener(payload)
    return result as T
  }

  return {
    read: async (...asked) => run.rows(...asked),
    snapshot: async (work) => run.work(work),
    // A write resolves when everything before it is on the disk.
    durableSnapshot: (work) => write(work),
    change: (...changed) => write(single(...changed)),
    write,
    together<T, R>({ work, idOf, maxItems = MAX_GROUP, reads }: Group<T, R>) {
      if (reads) return async (item: T) => run.work(() => work([item]))[0] as R
      return groupCalls({
        maxItems,
        ...(idOf && { idOf }),
        run: (items) => write(() => work(items)),
      })
    },
    brief: (read) => read(),
    listen(channel, listener) {
      const all = listeners.get(channel) ?? new Set()
      listeners.set(channel, all.add(listener))
      return () => {
        all.delete(listener)
      }
    },
  }
}

const isOfSqlite = (error: unknown) => error instanceof Error && 'errcode' in error

function createCopier(sqlite: DatabaseSync, holds: Holds) {
  let copying: Promise<void> | undefined
  return {
    /** See `DatabaseStores`. */
    async copyTo(path: string, beside?: () => Promise<void>): Promise<void> {
      if (copying) throw new Error('another copy is being made')
      const begun = Promise.withResolvers<void>()
      copying = copyDatabase(sqlite, path, begun.resolve).then(beside)
      const held = holds.hold(beside ? copying : Promise.race([begun.promise, copying]))
      try {
        await copying
      } finally {
        await held
        copying = undefined
      }
    },
    /** Resolves when no copy is being made. */
    async idle(): Promise<void> {
      await copying?.catch(() => {})
    },
  }
}

/**
 * Uses SQLite's backup API, which adds to the copy what is committed meanwhile.
 *
 * @param begun Called after the first step, if there are more. Until then there must be no
 * transaction: Node repeats a later step that meets one (SQLITE_BUSY), but fails at the first.
 */
async function copyDatabase(sqlite: DatabaseSync, path: string, begun: () => void): Promise<void> {
  closeSync(openSync(path, 'wx', 0o600))
  await backup(sqlite, path, { rate: PAGES_PER_STEP, progress: begun })
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** @returns `assertReady` of `DatabaseStores`. It writes rarely, since anybody may ask for readiness. */
function createProbe(write: WriteQueue['write'], bump: WriteMark['bump']): () => Promise<void> {
  let succeededAt = Number.NEGATIVE_INFINITY
  let probing: Promise<void> | undefined
  return async () => {
    if (performance.now() - succeededAt < PROBE_TTL_MS) return
    probing ??= write(bump)
      .then(() => {
        succeededAt = performance.now()
      })
      .finally(() => {
        probing = undefined
      })
    await probing
  }
}
