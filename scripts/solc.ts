/** Makes npm's compiler an executable, for tools that expect one. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const solc = createRequire(import.meta.url).resolve('solc')

/** @returns The path of a program that answers `--version` and `--standard-json`. */
export function writeSolc(directory: string): string {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'solc')
  writeFileSync(
    path,
    `#!${process.execPath}
import { readFileSync } from 'node:fs'
import solc from ${JSON.stringify(solc)}
if (process.argv.includes('--version')) console.log('solc\\nVersion: ' + solc.version())
else process.stdout.write(solc.compile(readFileSync(0, 'utf8')))
`,
  )
  chmodSync(path, 0o755)
  return path
}
