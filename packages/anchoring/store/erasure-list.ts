import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs'
import type { Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'

/** Matches a documentHash, and the time at which its erasure was requested. */
const LINE = /^(0x[0-9a-f]{64}) \S*$/
/**
 * Matches the beginning of a line whose write a kill or a power cut interrupted. Nobody was told of
 * it.
 */
const TORN = /^(0(x[0-9a-f]{0,64})?)?$/

/**
 * The erased documents, in a file outside the data folder and its backups, because a restored
 * backup must not bring them back. Lines are only added.
 */
export type ErasureList = {
  /** @returns The documentHashes in order; empty if the file does not exist. */
  read(): Hex[]
  /**
   * Adds an entry, which is on disk when this returns.
   *
   * @param requestedAt Milliseconds of the Unix epoch.
   * @throws {IssueError} `store_unavailable`.
   */
  add(documentHash: Hex, requestedAt: number): void
}

/** @throws {Error} when the file cannot be read, or somebody else has written to it. */
export function openErasureList(path: string): ErasureList {
  const read = () => hashesIn(path)
  read()
  return {
    read,
    add(documentHash, requestedAt) {
      const line = `${documentHash} ${new Date(requestedAt).toISOString()}\n`
      try {
        append(path, line)
      } catch (cause) {
        throw new IssueError(
          'store_unavailable',
          `the erasure list cannot be written: ${cause}`,
          cause,
        )
      }
    },
  }
}

function hashesIn(path: string): Hex[] {
  const lines = textOf(path).split('\n')
  return lines.flatMap((line, index) => {
    const hash = LINE.exec(line)?.[1]
    if (hash !== undefined) return [hash as Hex]
    if (TORN.test(line)) return []
    throw new Error(`${path}, line ${index + 1}: malformed erasure`)
  })
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** Appends in one write, which does not mix with those of other processes. */
function append(path: string, line: string): void {
  const file = openSync(path, 'a+', 0o600)
  try {
    writeSync(file, isTorn(file) ? `\n${line}` : line)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** @returns Whether the last line has no end. */
function isTorn(file: number): boolean {
  const { size } = fstatSync(file)
  const last = Buffer.from('\n')
  if (size > 0) readSync(file, last, 0, 1, size - 1)
  return last.toString() !== '\n'
}
