import { spawnSync } from 'node:child_process'
import type { TestProject } from 'vitest/node'
import { leftOut } from './support/tiers.ts'

/** Vitest does not run the set-up, so contracts must be built before any test deploys them. */
export default function setup({ config }: TestProject): (() => void) | undefined {
  const { status } = spawnSync('node', ['scripts/run.mjs'], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the set-up failed')
  if (config.env.TEST_TIER !== 'first') return
  // biome-ignore lint/suspicious/noConsole: said at the end of the run.
  return () => console.log(leftOut())
}
