import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Flushes a folder to disk, by default with everything in it. */
export function syncAll(folder: string, { recursive = true } = {}): void {
  if (recursive)
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) syncAll(path)
      else if (entry.isFile()) syncFile(path)
    }
  // Windows cannot open a folder, and does not need this.
  if (process.platform !== 'win32') sync(folder, 'r')
}

/** Flushes a file to disk. */
export function syncFile(path: string): void {
  sync(path, 'r+')
}

function sync(path: string, flags: string): void {
  const file = openSync(path, flags)
  fsyncSync(file)
  closeSync(file)
}
