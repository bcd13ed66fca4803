import { closeSync, fsyncSync, openSync } from 'node:fs'
import { backup, type DatabaseSync } from 'node:sqlite'
import type { Holds } from './holds.ts'

/**
 * Pages that SQLite copies in one step. The service waits for a step, some milliseconds, not for
 * the whole copy.
 */
const PAGES_PER_STEP = 500

export type Copier = {
  /** See `Database`. */
  copyTo(path: string, beside?: () => Promise<void>): Promise<void>
  /** Resolves when no copy is being made. */
  idle(): Promise<void>
}

export function createCopier(sqlite: DatabaseSync, holds: Holds): Copier {
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
