import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { spreadLiterals } from './support/literals.ts'

// Rules of the house that the linter cannot say.

const ROOT = join(import.meta.dirname, '..')

/** What nobody wrote by hand, and tests. */
const OTHERS = ['.git', 'artifacts', 'cache', 'dist', 'node_modules', 'test', 'types']

/** @returns The paths of the TypeScript files in a folder, from the root. */
const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const SOURCES = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !OTHERS.includes(entry.name))
  .flatMap(({ name }) => filesIn(name))

test('spreads no literal only to keep its members on one line', () => {
  const spread = SOURCES.filter((path) => spreadLiterals(read(path)).length > 0)
  expect(spread).toEqual([])
})

test('the gateway has one clock', () => {
  const others = filesIn('gateway').filter(
    (path) => path !== 'gateway/base/clock.ts' && /Date\.now\(|new Date\(\)/.test(read(path)),
  )
  expect(others).toEqual([])
})
