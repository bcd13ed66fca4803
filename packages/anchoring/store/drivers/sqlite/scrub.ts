import { open } from 'node:fs/promises'
import { IssueError } from '#promise/errors.ts'
import type { Scrubber } from '../../erasures.ts'
import type { SqliteDatabase } from './driver.ts'

const CHUNK_BYTES = 1024 * 1024

/**
 * SQLite overwrites what is deleted (`secure_delete`), but not always the copies that it left behind
 * when it moved rows between pages. So the file is searched for the end of each document, and
 * rewritten if there is one.
 */
export function createScrubber(
  file: Pick<SqliteDatabase, 'path' | 'emptyLog' | 'rewrite'>,
): Scrubber {
  return {
    writtenBy: 'NULL',
    // Without its bytes, the file could not be searched: the outbox had them until it was final.
    remainsIn: (hadBytes) => (hadBytes ? ['backups'] : ['database_files', 'backups']),
    async scrub(_, probes) {
      await file.emptyLog()
      if (!(await anyInFile(file.path, probes))) return
      await file.rewrite()
      await file.emptyLog()
      if (await anyInFile(file.path, probes))
        throw new IssueError(
          'store_unavailable',
          'a copy of an erased document remains in the file',
        )
    },
  }
}

/** @returns Whether any of these byte strings is in a file, whole and in one piece. */
export async function anyInFile(path: string, wanted: readonly Uint8Array[]): Promise<boolean> {
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1))
  const buffer = Buffer.alloc(overlap + CHUNK_BYTES)
  const file = await open(path, 'r')
  try {
    let kept = 0
    while (true) {
      const { bytesRead } = await file.read(buffer, kept, CHUNK_BYTES)
      if (bytesRead === 0) return false
      const end = kept + bytesRead
      const seen = buffer.subarray(0, end)
      if (wanted.some((bytes) => seen.indexOf(bytes) >= 0)) return true
      kept = Math.min(overlap, end)
      buffer.copy(buffer, 0, end - kept, end)
    }
  } finally {
    await file.close()
  }
}
