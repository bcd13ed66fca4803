import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'

// Rules of the house that the linter cannot say.

const ROOT = join(import.meta.dirname, '..')

/** What nobody wrote by hand. */
const OTHERS = ['.git', 'artifacts', 'cache', 'dist', 'node_modules', 'types']

/** @returns The paths of the TypeScript files in a folder, from the root. */
const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const SOURCES = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !OTHERS.includes(entry.name))
  .flatMap(({ name }) => filesIn(name))

/** A literal that is spread, such as `...{ a, b }`: its members could stand there by themselves. */
const SPREAD = /\.\.\.\(?([{[])/g
const CLOSING = { '{': '}', '[': ']' } as const

const spreadsLiteral = (text: string) =>
  [...text.matchAll(SPREAD)].some(({ 0: sign, 1: open, index }) => {
    const after = text.slice(endOf(text, index + sign.length, open as keyof typeof CLOSING))
    return (sign.includes('(') ? /^(?: as const)?\)\s*[,)\]}]/ : /^\s*[,)\]}]/).test(after)
  })

/** @returns Behind the bracket that closes what opened before `from`. */
function endOf(text: string, from: number, open: keyof typeof CLOSING): number {
  let depth = 1
  let place = from
  for (; depth > 0 && place < text.length; place++) {
    if (text[place] === open) depth++
    if (text[place] === CLOSING[open]) depth--
  }
  return place
}

test('spreads no literal only to keep its members on one line', () => {
  expect(SOURCES.filter((path) => spreadsLiteral(read(path)))).toEqual([])
})

test('the gateway has one clock', () => {
  const clock = 'packages/anchoring/base/clock.ts'
  const others = ['gateway', 'packages/anchoring']
    .flatMap(filesIn)
    .filter((path) => path !== clock && /Date\.now\(|new Date\(\)/.test(read(path)))
  expect(others).toEqual([])
})

/** The title of a test, behind whatever gives it: `test(`, `describe.skipIf(…)(`, `])(`. */
const PREFIXED = /(?:\b(?:test|describe)\w*(?:\.\w+)*|\))\(\s*(['"`])[a-z]+: /

test('titles of tests have no prefix', () => {
  const prefixed = filesIn('test').filter((path) => PREFIXED.test(read(path)))
  expect(prefixed).toEqual([])
})
