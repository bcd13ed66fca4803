import { sep } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { COMPILE_CACHE } from '#test/support/compile-cache.ts'

/** They start services and nodes, so that they take longest. */
const LONG = ['operate', 'scripts', 'corpus', 'faults', 'examples', 'web']

/** Starts long files first: otherwise one of them runs alone at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((folder) => moduleId.includes(`${sep}test${sep}${folder}${sep}`))
      return found < 0 ? LONG.length : found
    }
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    globalSetup: './test/global-setup.ts',
    include: ['test/**/*.test.ts'],
    env: COMPILE_CACHE,
    // Tests wait for chains more than they compute.
    maxWorkers: 3,
    // Only a test that fails takes as long: a busy machine is no failure.
    expect: { poll: { timeout: 120_000 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
