import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { clock } from '#base/clock.ts'

/** The number of the last commit that changed something: a time in milliseconds that only rises. */
const BUMP = `
  INSERT INTO probe VALUES (1, ?1)
  ON CONFLICT DO UPDATE SET written_at = max(written_at + 1, ?1) RETURNING written_at`
const SELECT = 'SELECT written_at FROM probe'

export const LOST_WRITES =
  'the database lacks writes that were on the disk: its log (-wal) was deleted or damaged, or an older copy is in its place'
export const AFTER_LOSS =
  'run docreg-gateway fsck, restore a backup, or start once with ACCEPT_LOST_WRITES=true'

/** In the place of the number: writes were lost, and nobody has accepted it yet. */
const LOST = 'lost'
/** Enough for two numbers of 64 bits. */
const LENGTH = 44

/**
 * Notices that commits are gone which were on the disk: SQLite starts without a word from a log that
 * was deleted or damaged. Each commit has a number in the database. After its flush the number is
 * written to a file beside it, with the inode of the database, because a copy of the folder has files
 * of different moments. That file is not flushed: a kill leaves it as it is, and a power cut may
 * leave an older number. So it is never ahead of what was on the disk.
 */
export type WriteMark = {
  /** Whether writes were lost. The mark stays until `accept`. */
  readonly isBehind: boolean
  /** Call it before each commit that changed something. @returns The number for `flushed`. */
  bump(): number
  flushed(number: number): void
  /** Goes on from what the database has. */
  accept(): void
  /** Call it after the database is closed: all is in its file then. */
  close(): void
}

/** @param path The database, which this process has locked. */
export function openWriteMark(path: string, sqlite: DatabaseSync): WriteMark {
  const bump = sqlite.prepare(BUMP)
  const inode = inodeOf(path)
  let isBehind = hasLostWrites(path, sqlite)
  closeSync(openSync(markOf(path), 'a', 0o600))
  const file = openSync(markOf(path), 'r+')
  const write = (text: string) => void writeSync(file, text.padEnd(LENGTH), 0)
  let last = 0
  if (isBehind) {
    write(`${LOST} ${inode}`)
    fsyncSync(file)
  }
  return {
    get isBehind() {
      return isBehind
    },
    bump: () => Number(bump.get(clock.wall())?.written_at),
    flushed(number) {
      // Of two flushes at a time, the one of the later commit may end first.
      if (isBehind || number <= last) return
      last = number
      write(`${number} ${inode}`)
    },
    accept() {
      isBehind = false
      write('')
    },
    close() {
      closeSync(file)
      if (!isBehind) removeMark(path)
    },
  }
}

/** @returns Whether a database lacks writes that were on the disk. */
export function hasLostWrites(path: string, sqlite: DatabaseSync): boolean {
  // The mark first, because a gateway may be writing: the number in the database rises before it.
  const [number, inode] = readMark(path)
  if (inode !== inodeOf(path)) return false
  return number === LOST || Number(number) > Number(sqlite.prepare(SELECT).get()?.written_at ?? 0)
}

/** Takes the mark away, for a database that no gateway is writing. */
export function removeMark(path: string): void {
  rmSync(markOf(path), { force: true })
}

const markOf = (path: string) => `${path}-mark`

const inodeOf = (path: string) => String(statSync(path, { bigint: true }).ino)

function readMark(path: string): string[] {
  try {
    return readFileSync(markOf(path), 'latin1').trim().split(' ')
  } catch {
    return []
  }
}
