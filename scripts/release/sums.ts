import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes SHA256SUMS of the files of a folder, in the form of `sha256sum`. */
export function writeSums(folder: string): void {
  const sums = readdirSync(folder)
    .filter((name) => name !== 'SHA256SUMS')
    .sort()
    .map((name) => `${sumOf(join(folder, name))}  ${name}\n`)
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
}

const sumOf = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')
