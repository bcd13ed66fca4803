import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'

// Rules of the house that the linter cannot say.

const ROOT = join(import.meta.dirname, '..')

/** @returns The paths of the TypeScript files in a folder, from the root. */
const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

test('the gateway has one clock', () => {
  const others = filesIn('gateway').filter(
    (path) => path !== 'gateway/base/clock.ts' && /Date\.now\(|new Date\(\)/.test(read(path)),
  )
  expect(others).toEqual([])
})
