import { groupCalls } from '#base/grouping.ts'
import type { IssueError } from '#promise/errors.ts'
import type { Database, Group } from '../../database.ts'
import { MAX_GROUP } from '../../rules.ts'
import { single, type Work } from '../../sql.ts'
import { openFile, type SqliteFile } from './file.ts'
import { createRun } from './statements.ts'

/** The gateway's one SQLite file. */
export type SqliteDatabase = Database & Omit<SqliteFile, 'write'>

/**
 * @param path The file; created if it does not exist.
 * @param flushFailed See `openFile`.
 * @throws {DataDirError} `other_version` when another version of the service wrote it.
 * @throws {Error} when another process has it open: two gateways must not share a data folder.
 */
export function openSqlite(
  path: string,
  flushFailed?: (error: IssueError) => void,
): SqliteDatabase {
  return openOver(openFile(path, flushFailed))
}

function openOver(file: SqliteFile): SqliteDatabase {
  const listeners = new Map<string, Set<(payload: string) => void>>()
  let heard: { channel: string; payload: string }[] = []
  const run = createRun(file.sqlite, (channel, payload) => heard.push({ channel, payload }))

  function tell(told: typeof heard): void {
    for (const { channel, payload } of told)
      for (const listener of listeners.get(channel) ?? []) listener(payload)
  }

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
    const { result, error, told } = await file.write(() => attempt(work), urgent)
    if (error !== undefined) throw error
    tell(told)
    return result as T
  }

  return {
    ...file,
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
