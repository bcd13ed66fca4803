// `npm run test:quick`: the tests that start no program, neither a chain nor a browser. Found by
// what they import, so that a new test needs no entry in a list.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import everything from './vitest.config.ts'

const STARTS_PROGRAMS = /from 'node:child_process'/
const IMPORTED = /\b(?:from|import)\s*\(?'(\.[^']+\.m?[jt]s)'/g
/**
 * Properties over many cases, one more run of the compiler, and waits of several seconds: more than
 * half of the time.
 */
const SLOW = [
  'test/contracts/storage-layout.test.ts',
  'test/gateway/store/sqlite/erasures.test.ts',
  'test/gateway/events/courier.test.ts',
  'test/hostile/documents.test.ts',
  'test/hostile/nodes.test.ts',
  'test/hostile/presented-canaries.test.ts',
]

const known = new Map<string, boolean>()

/** @returns Whether a module, or one that it imports, starts programs. */
function startsPrograms(path: string): boolean {
  const answer = known.get(path)
  if (answer !== undefined) return answer
  known.set(path, false)
  const text = readFileSync(path, 'utf8')
  const imported = [...text.matchAll(IMPORTED)].map(([, to = '']) => join(dirname(path), to))
  const starts = STARTS_PROGRAMS.test(text) || imported.some(startsPrograms)
  known.set(path, starts)
  return starts
}

const tests = globSync('test/**/*.test.ts').filter((path) => !startsPrograms(path))

export default mergeConfig(
  { ...everything, test: { ...everything.test, include: [] } },
  defineConfig({ test: { include: tests.filter((path) => !SLOW.includes(path)) } }),
)
