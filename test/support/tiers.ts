import { globSync, readFileSync } from 'node:fs'
import { modulesOf } from './imports.ts'

/** `npm run test:quick`, `npm test`, `npm run test:rest` and `npm run test:long`. */
export type Tier = 'quick' | 'first' | 'rest' | 'long'

/** What `npm test` does without, by the module that starts it. `databases.ts` does without too. */
const PARTS: Record<string, string> = {
  'test/support/chromium.ts': 'Chromium (Debian: chromium, chromium-headless-shell)',
  'test/support/postgres.ts': 'PostgreSQL and PgBouncer (Debian: postgresql, pgbouncer)',
  'tools/go-tool.ts': 'Go, for Kubo, geth and a wallet (Debian: golang)',
  'test/tools/examples/python.ts': 'Python 3.11 (Debian: python3, python3-venv)',
}
const BOTH_DATABASES = 'test/support/databases.ts'

/** Seconds of the files that `npm test` leaves out for their length alone, on two idle cores. */
const COSTLY: Record<string, number> = {
  'test/apps/docreg-gateway/start.test.ts': 108,
  'test/contracts/solidity.test.ts': 103,
  'test/contracts/deployment.test.ts': 54,
}

/**
 * `test:quick` leaves these out too: they test properties over many cases, run the compiler once
 * more, or wait for several seconds, which takes more than half of its time.
 */
const NOT_QUICK = [
  'test/contracts/storage-layout.test.ts',
  'test/packages/anchoring/store/sqlite/erasures.test.ts',
  'test/modules/webhooks/courier.test.ts',
  'test/hostile/documents.test.ts',
  'test/hostile/nodes.test.ts',
  'test/hostile/presented-canaries.test.ts',
]

const all = () => globSync('test/**/*.test.ts').sort()

const startsPrograms = (path: string) =>
  readFileSync(path, 'utf8').includes("from 'node:child_process'")

/** @returns Why `npm test` leaves a file out; `undefined` if it runs it. */
function reasonOf(path: string): string | undefined {
  if (path in COSTLY) return 'long tests'
  if (path.startsWith('test/faults/')) return 'faults'
  const modules = modulesOf(path)
  const part = Object.keys(PARTS).find((module) => modules.has(module))
  if (part === 'test/support/postgres.ts' && modules.has(BOTH_DATABASES)) return undefined
  return part && PARTS[part]
}

/** @returns The test files of a tier. Imports tell, so that a new file needs no entry in a list. */
export function filesOf(tier: Tier): string[] {
  switch (tier) {
    case 'quick':
      return all().filter(
        (path) => ![...modulesOf(path)].some(startsPrograms) && !NOT_QUICK.includes(path),
      )
    case 'first':
      return all().filter((path) => reasonOf(path) === undefined)
    case 'rest':
      return all().filter(
        (path) => reasonOf(path) !== undefined || modulesOf(path).has(BOTH_DATABASES),
      )
    case 'long':
      return all().filter((path) => modulesOf(path).has('test/support/long.ts'))
  }
}

/** @returns What `npm test` left out, and how to run it. */
export function leftOut(): string {
  const counts = new Map<string, number>()
  for (const path of all()) {
    const reason = reasonOf(path)
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  const lines = [...counts].map(([reason, count]) => `  ${count} files: ${reason}`)
  return `\nnpm test leaves to npm run test:rest, besides PostgreSQL where tests run on both databases:\n${lines.join('\n')}`
}
