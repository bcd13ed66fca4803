import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Hex, toHex } from '../document/hex.ts'

/**
 * @param name The file's name in `<dataDir>/secrets`.
 * @returns The 32 random bytes that it holds; made, mode 0600, when it is not there.
 */
export function ensureSecret(dataDir: string, name: string): Hex {
  const folder = join(dataDir, 'secrets')
  const path = join(folder, name)
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeDurably(path, `${toHex(randomBytes(32))}\n`)
  }
  return readFileSync(path, 'utf8').trim() as Hex
}

/** By rename, so that a kill leaves a whole file or none; and flushed, since everything sealed hangs on it. */
function writeDurably(path: string, text: string): void {
  const next = `${path}.tmp`
  const file = openSync(next, 'w', 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  renameSync(next, path)
}
