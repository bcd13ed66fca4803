// `npm run test:quick` runs the tests that start neither a chain, a browser nor another program.
// They are found by their imports, so that a new test needs no entry in a list.
import { globSync, readFileSync } from 'node:fs'
import { defineConfig, mergeConfig } from 'vitest/config'
import { modulesOf } from '#test/support/imports.ts'
import everything from './vitest.config.ts'

/**
 * These test properties over many cases, run the compiler once more, or wait for several seconds,
 * which takes more than half of the time.
 */
const SLOW = [
  'test/contracts/storage-layout.test.ts',
  'test/gateway/store/sqlite/erasures.test.ts',
  'test/gateway/events/courier.test.ts',
  'test/hostile/documents.test.ts',
  'test/hostile/nodes.test.ts',
  'test/hostile/presented-canaries.test.ts',
]

const startsPrograms = (path: string) =>
  readFileSync(path, 'utf8').includes("from 'node:child_process'")

const tests = globSync('test/**/*.test.ts').filter(
  (path) => ![...modulesOf(path)].some(startsPrograms),
)

export default mergeConfig(
  { ...everything, test: { ...everything.test, include: [] } },
  defineConfig({ test: { include: tests.filter((path) => !SLOW.includes(path)) } }),
)
