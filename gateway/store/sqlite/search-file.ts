import { open } from 'node:fs/promises'

const CHUNK_BYTES = 1024 * 1024

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
