import { spawnSync } from 'node:child_process'

/** Vitest does not run the set-up, so contracts must be built before any test deploys them. */
export default function setup(): void {
  const { status } = spawnSync('node', ['scripts/run.mjs'], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the set-up failed')
}
