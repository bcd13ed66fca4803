import type { AnvilWorld } from './world.ts'

/**
 * Replaces the newest blocks with empty ones, like another fork. Anvil drops their transactions
 * permanently.
 */
export async function reorg({ chain }: AnvilWorld, depth: number): Promise<void> {
  chain.rewrites++
  await chain.request('anvil_reorg', depth, [])
  chain.rewrites++
}

/** Kills the node and starts it again with its last saved state. */
export async function loseUnsaved({ chain }: AnvilWorld): Promise<void> {
  chain.rewrites++
  await chain.kill()
  await chain.start()
  chain.rewrites++
}
