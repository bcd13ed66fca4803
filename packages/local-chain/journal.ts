import { createReadStream, existsSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { LocalChainError } from './errors.ts'

// A chain is one file: the first line is a snapshot, and each later line is a change. The first
// line also has a mark with the number of flushed changes. It is overwritten in place before a
// change is acknowledged, so that a lost end of the file is noticed.

const FORMAT = 2
const MARK_AT = Buffer.byteLength(`{"format":${FORMAT},"flushed":"`)
const COUNT_DIGITS = 10

/** The complete state of a chain at one moment. */
export type Snapshot = {
  /** The time of block 0, in seconds. */
  genesisTime: number
  /** Seconds that the chain's clock is ahead of the wall clock. */
  offset: number
  /** The hash of the newest block; absent for the genesis. */
  head?: string
  /** Anvil's dump, in Base64; absent for the genesis. */
  state?: string
  /** Transactions in Anvil's pool, which its dump omits, in the order of arrival. */
  waiting: string[]
}

export type Change =
  /** Transactions that share a block. */
  | { method: 'eth_sendRawTransaction'; params: string[] }
  /** A number of blocks, and the seconds between them. */
  | { method: 'evm_mine'; params: [count: number, interval: number] }
  | { method: 'evm_increaseTime'; params: [seconds: number] }
  | { method: 'anvil_setBalance'; params: [address: string, wei: unknown] }

/** A change of the chain, which is on disk before Anvil gets it. */
export type Entry = Change & {
  /** The hash of the previous block. */
  parent: string
  /** The time of its block, in seconds. */
  time: number
  offset: number
}

export type JournalContent = { snapshot: Snapshot; entries: Entry[] }

type FirstLine = Snapshot & {
  format: number
  /** The mark; absent in a file that an earlier build wrote. */
  flushed?: string
}

export function journalPath(dir: string): string {
  return join(dir, 'chain.jsonl')
}

/**
 * Copies a chain, also one in use, into another folder, which is created if missing. The copy has
 * everything answered so far; opening it cuts off an incomplete last line.
 */
export async function copyChain(from: string, to: string): Promise<void> {
  await fs.mkdir(to, { recursive: true, mode: 0o700 })
  // The mark is read first and the end last, so that the copy has all changes that its mark counts.
  await fs.writeFile(journalPath(to), createReadStream(journalPath(from)), { mode: 0o600 })
}

/**
 * An open journal: one file, with a snapshot in its first line and a change in each other one, so
 * that no two files have to agree. The first line also has the mark, which counts the changes: a
 * mark at the end would be lost with the end. Only the chain's writer may use it.
 */
export class Journal {
  /** Number of entries since the snapshot. */
  entries: number
  readonly #dir: string
  #file: fs.FileHandle
  #bytes: number
  #hasMark: boolean

  private constructor(dir: string, file: fs.FileHandle, { content, bytes, hasMark }: Parsed) {
    this.#dir = dir
    this.#file = file
    this.#bytes = bytes
    this.#hasMark = hasMark
    this.entries = content.entries.length
  }

  /**
   * Opens the journal of a folder; an empty folder gets a new chain. Cuts off an incomplete last
   * line that the mark does not count: that change was never acknowledged.
   * @throws {LocalChainError} `journal_corrupt`, `other_version`
   */
  static async open(dir: string): Promise<{ journal: Journal; content: JournalContent }> {
    const path = journalPath(dir)
    if (!existsSync(path)) await create(dir)
    // One character is one byte, also in a damaged file.
    const parsed = parse(await fs.readFile(path, 'latin1'), path)
    const file = await fs.open(path, 'r+')
    await file.truncate(parsed.bytes)
    // A kill may have come before the flush of the last line, or before its mark.
    await file.datasync()
    const journal = new Journal(dir, file, parsed)
    await journal.#mark(journal.entries, parsed.lastLine)
    return { journal, content: parsed.content }
  }

  /** Resolves once the entry is flushed to disk and marked. */
  async append(entry: Entry): Promise<void> {
    const line = JSON.stringify(entry)
    const bytes = Buffer.from(`${line}\n`)
    try {
      await writeAt(this.#file, bytes, this.#bytes)
      await this.#file.datasync()
      await this.#mark(this.entries + 1, line)
    } catch (cause) {
      // Removes a partial line, because the next entry would turn it into a corrupt line.
      await this.#file.truncate(this.#bytes)
      throw cause
    }
    this.#bytes += bytes.length
    this.entries += 1
  }

  /**
   * Needs no separate flush: the mark survives a kill at once, and a power cut once the next
   * entry is flushed.
   */
  async #mark(entries: number, lastLine: string | undefined): Promise<void> {
    if (this.#hasMark) await writeAt(this.#file, Buffer.from(markOf(entries, lastLine)), MARK_AT)
  }

  /** Replaces all entries so far by a snapshot. */
  async restart(snapshot: Snapshot): Promise<void> {
    const file = await putInPlace(this.#dir, snapshot)
    await this.#file.close()
    // If this flush fails, a power cut could bring back the old file without later entries. So the
    // journal then closes.
    await syncFolder(this.#dir)
    this.#file = file
    this.#bytes = (await file.stat()).size
    this.#hasMark = true
    this.entries = 0
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

/** @throws {LocalChainError} `other_version` for a chain of several files, the former format */
async function create(dir: string): Promise<void> {
  const names = await fs.readdir(dir)
  if (names.some((name) => /^journal-\d+\.jsonl$/.test(name))) throw otherVersion(dir)
  const genesisTime = Math.floor(Date.now() / 1000)
  const file = await putInPlace(dir, { genesisTime, offset: 0, waiting: [] })
  await file.close()
  await syncFolder(dir)
}

/** After a crash, the file is either complete or the previous one. */
async function putInPlace(dir: string, snapshot: Snapshot): Promise<fs.FileHandle> {
  const temporary = `${journalPath(dir)}.tmp`
  await fs.rm(temporary, { force: true })
  const file = await fs.open(temporary, 'w', 0o600)
  try {
    // The members must be in this order; see MARK_AT.
    const firstLine: FirstLine = { format: FORMAT, flushed: markOf(0), ...snapshot }
    await file.writeFile(`${JSON.stringify(firstLine)}\n`)
    await file.sync()
    await fs.rename(temporary, journalPath(dir))
    return file
  } catch (error) {
    await file.close()
    // On a full disk, a partial file would waste space.
    await fs.rm(temporary, { force: true })
    throw error
  }
}

/** Flushes a folder, so that the names in it survive a power cut. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await fs.open(dir, 'r')
  await folder.sync().finally(() => folder.close())
}

/**
 * @param lastLine The line of the last change. Later lines would show that an earlier one was
 * altered.
 */
function markOf(entries: number, lastLine = ''): string {
  const check = crc32(lastLine).toString(16).padStart(8, '0')
  return `${String(entries).padStart(COUNT_DIGITS, '0')}-${check}`
}

async function writeAt(file: fs.FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const rest = bytes.subarray(done)
    done += (await file.write(rest, 0, rest.length, position + done)).bytesWritten
  }
}

type Parsed = {
  content: JournalContent
  bytes: number
  hasMark: boolean
  /** Absent if there are no changes. */
  lastLine: string | undefined
}

function parse(text: string, path: string): Parsed {
  // Text after the last line break is incomplete; the line before it may be damaged too.
  const lines = text.split('\n').slice(0, -1)
  if (lines.length > 1 && parseLine(lines.at(-1)) === undefined) lines.pop()
  const values = lines.map(parseLine)
  const damaged = values.length === 0 ? 0 : values.indexOf(undefined)
  if (damaged >= 0) throw corrupt(`Line ${damaged + 1} of ${path} is damaged`)
  const [{ format, flushed, ...snapshot }, ...entries] = values as [FirstLine, ...Entry[]]
  if (format !== FORMAT) throw otherVersion(path)
  const changes = lines.slice(1)
  const marked = changes.slice(0, Number(flushed?.slice(0, COUNT_DIGITS)))
  if (flushed !== undefined && markOf(marked.length, marked.at(-1)) !== flushed)
    throw corrupt(`Acknowledged changes are missing or damaged at the end of ${path}`)
  return {
    content: { snapshot, entries },
    bytes: lines.join('\n').length + 1,
    hasMark: flushed !== undefined,
    lastLine: changes.at(-1),
  }
}

function corrupt(problem: string): LocalChainError {
  return new LocalChainError(
    'journal_corrupt',
    `${problem}. Restore the file from a copy, or move its directory away to begin with a new chain.`,
  )
}

function parseLine(line = ''): object | undefined {
  try {
    return JSON.parse(line) ?? undefined
  } catch {
    return undefined
  }
}

function otherVersion(path: string): LocalChainError {
  return new LocalChainError(
    'other_version',
    `Another version of this service wrote ${path}, which this version cannot convert: start with another DATA_DIR, or with the version that wrote it.`,
  )
}
