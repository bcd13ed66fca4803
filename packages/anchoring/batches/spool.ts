import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { constants, mkdirSync, rmSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createShares, type Limits } from '#base/concurrency.ts'
import { IssueError } from '#promise/errors.ts'

/**
 * An upload on disk that can be read several times. The file has no name, so that the system
 * deletes it with the process, however that ends. Its bytes are documents in clear, so they are
 * encrypted with a key that only this process has.
 */
export type Spool = {
  /** @returns The same bytes in larger chunks. Each chunk has been written when it is returned. */
  write(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>
  /** Reads the upload from the start. */
  read(): AsyncGenerator<Uint8Array>
  close(): Promise<void>
}

const CHUNK = 64 * 1024
/** The maximum number of bytes in all open spools. */
const MAX_BYTES = { all: 4 * 1024 ** 3, each: 2 * 1024 ** 3 }

/** The share of the disk of one owner, in bytes. */
type Room = { take(bytes: number): boolean; give(bytes: number): void }

/**
 * Deletes what a killed process left behind, and creates the folder of spools.
 *
 * @param folder The path of the folder.
 * @returns A function that makes a spool, which uses its owner's share of the disk.
 */
export function openSpoolFolder(
  folder: string,
  limits: Limits = MAX_BYTES,
): (owner: string) => Promise<Spool> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const shares = createShares(limits)
  return (owner) =>
    createSpool(folder, {
      take: (bytes) => shares.take(owner, bytes),
      give: (bytes) => shares.give(owner, bytes),
    })
}

/**
 * @throws {IssueError} `store_unavailable` when the disk refuses the file. Its methods can throw
 * the same.
 */
async function createSpool(folder: string, room: Room): Promise<Spool> {
  const path = join(folder, randomBytes(8).toString('hex'))
  const { O_RDWR, O_CREAT, O_EXCL } = constants
  const file = await onDisk(open(path, O_RDWR | O_CREAT | O_EXCL, 0o600))
  await onDisk(unlink(path))
  return spoolOf(file, room)
}

function spoolOf(file: FileHandle, room: Room): Spool {
  const [key, iv] = [randomBytes(32), randomBytes(16)]
  let length = 0
  let isOpen = true
  return {
    async *write(chunks) {
      const cipher = createCipheriv('aes-256-ctr', key, iv)
      for await (const chunk of gather(chunks)) {
        // The last chunk can arrive after the upload was given up.
        if (!isOpen) return
        if (!room.take(chunk.length))
          throw new IssueError('overloaded', 'uploads use all disk space reserved for them')
        length += chunk.length
        await onDisk(file.appendFile(cipher.update(chunk)))
        yield chunk
      }
    },
    async *read() {
      const decipher = createDecipheriv('aes-256-ctr', key, iv)
      for (let at = 0; ; ) {
        const { bytesRead, buffer } = await onDisk(file.read(Buffer.alloc(CHUNK), 0, CHUNK, at))
        if (bytesRead === 0) return
        at += bytesRead
        yield decipher.update(buffer.subarray(0, bytesRead))
      }
    },
    async close() {
      if (!isOpen) return
      isOpen = false
      await file.close().finally(() => room.give(length))
    },
  }
}

/**
 * A client may send each line as a chunk. Writing each of them would take longer than checking it.
 */
async function* gather(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    waiting.push(chunk)
    length += chunk.length
    if (length < CHUNK) continue
    yield Buffer.concat(waiting)
    waiting = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(waiting)
}

async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new IssueError('store_unavailable', `an upload cannot be stored: ${error}`, error)
  }
}
