import { closeSync, fsyncSync, openSync } from 'node:fs'
import { backup, type DatabaseSync } from 'node:sqlite'
import type { IssueError } from '#promise/errors.ts'
import { createCheckpoints } from './checkpoints.ts'
import { createDurableCommit } from './durable-commit.ts'
import { createHolds, type Holds } from './holds.ts'
import { openLocked } from './open-file.ts'
import { createWriteQueue, type WriteQueue } from './write-queue.ts'

/**
 * Pages that SQLite copies in one step. The service waits for a step, some milliseconds, not for
 * the whole copy.
 */
const PAGES_PER_STEP = 500
/** How long one successful write proves that the disk takes writes. */
const PROBE_TTL_MS = 1_000

/** The gateway's one SQLite file. When `write` resolves, its change is on the disk. */
export type SqliteFile = {
  readonly sqlite: DatabaseSync
  readonly path: string
  /**
   * Runs `work` in the next transaction, together with other waiting work: one commit, one flush to
   * the disk. When that takes long, the rest waits for another one. When the commit fails, none of
   * the waiting work has happened and all of it rejects with an `IssueError` `store_unavailable`.
   *
   * @param urgent Other work depends on this: commit it at once, together with all waiting work,
   * even while a flush is under way.
   */
  write<T>(work: () => T, urgent?: boolean): Promise<T>
  /**
   * Copies the file with everything that `write` has resolved for, while it is in use.
   *
   * @param path The copy; must not exist. Only one copy can be made at a time.
   * @param beside Runs once the copy is complete and before the next commit, so that whatever it
   * copies is of the same moment. With it, writes wait until both are done.
   */
  copyTo(path: string, beside?: () => Promise<void>): Promise<void>
  /**
   * Leaves the write-ahead log empty, and with it nothing that was deleted before.
   *
   * @throws {Error} when the disk refuses, or a copy is being made.
   */
  emptyLog(): Promise<void>
  /** Rewrites the file without what was deleted; takes time and as much room again. */
  rewrite(): Promise<void>
  /**
   * Makes a test write, at most once a second.
   *
   * @throws {IssueError} `store_unavailable` when the disk takes no writes now.
   */
  assertReady(): Promise<void>
  close(): Promise<void>
}

/**
 * @param path The file; created if it does not exist.
 * @param flushFailed Called after a failed flush, before the writes that wait for it reject. The
 * content of the disk is unknown then (the kernel may drop pages that it could not write), so the
 * process must end; the next start reads what is there. Until then all writes are rejected.
 * @throws {DataDirError} `other_version` when another version of the service wrote it.
 * @throws {Error} when another process has it open: two gateways must not share a data folder.
 */
export function openFile(
  path: string,
  flushFailed: (error: IssueError) => void = () => {},
): SqliteFile {
  const { sqlite, lock } = openLocked(path)
  const commits = createDurableCommit(sqlite, `${path}-wal`, flushFailed)
  const holds = createHolds()
  const checkpoints = createCheckpoints(path, sqlite, holds)
  const copier = createCopier(sqlite, holds)
  const queue = createWriteQueue({ commits, holds, committed: checkpoints.startIfDue })
  const { write } = queue

  async function close(): Promise<void> {
    const written = queue.close()
    await copier.idle()
    await written
    await checkpoints.close()
    commits.close()
    sqlite.close()
    lock.close()
  }

  let closed = false
  return {
    sqlite,
    write,
    path,
    copyTo: copier.copyTo,
    emptyLog: checkpoints.emptyLog,
    rewrite: checkpoints.rewrite,
    assertReady: createProbe(sqlite, write),
    async close() {
      if (closed) return
      closed = true
      await close()
    },
  }
}

type Copier = {
  /** See `Database`. */
  copyTo(path: string, beside?: () => Promise<void>): Promise<void>
  /** Resolves when no copy is being made. */
  idle(): Promise<void>
}

function createCopier(sqlite: DatabaseSync, holds: Holds): Copier {
  let copying: Promise<void> | undefined
  return {
    async copyTo(path, beside) {
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
    async idle() {
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

/** @returns `assertReady` of `Database`. It writes rarely, since anybody may ask for readiness. */
function createProbe(sqlite: DatabaseSync, write: WriteQueue['write']): () => Promise<void> {
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
