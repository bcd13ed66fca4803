import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { COMPILE_CACHE } from '#test/support/compile-cache.ts'
import { filesOf, type Tier } from '#test/support/tiers.ts'
import durations from './test/durations.json' with { type: 'json' }

/** Starts the longest files first, because otherwise one of them would run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const seconds = new Map(Object.entries(durations))
    const of = ({ moduleId }: TestSpecification) =>
      seconds.get(relative(import.meta.dirname, moduleId)) ?? 0
    return sorted.toSorted((a, b) => of(b) - of(a))
  }
}

/** `vitest run --mode <tier>` runs a tier, `vitest run <path>` any file, whole. */
export default defineConfig(({ mode }) => ({
  test: {
    sequence: { sequencer: LongestFirst },
    globalSetup: './test/global-setup.ts',
    include: mode === 'test' ? ['test/**/*.test.ts'] : filesOf(mode as Tier),
    env: { ...COMPILE_CACHE, TEST_TIER: mode },
    // Tests wait for chains more than they compute.
    maxWorkers: 4,
    // Only a failing test takes this long, because a busy machine must not fail a test.
    expect: { poll: { timeout: 120_000 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
}))
