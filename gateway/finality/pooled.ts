import type { Hex } from '#document/hex.ts'
import type { Anchored } from '#promise/anchoring.ts'
import type { RegistryReader } from '#promise/ports.ts'

/**
 * How long a transaction that a reorg dropped may stay in a node's pool before its intents are
 * planned again.
 */
const POOLED_TIMEOUT_MS = 60_000

/** Transactions that a reorg dropped, and that a node has put back into its pool. */
export type Pooled = {
  /**
   * Leaves out intents whose transactions are back in the pool: these get into a block without
   * help.
   */
  without(dropped: readonly Anchored[]): Promise<Anchored[]>
  /** Forgets them: nothing waits for finality. */
  reset(): void
}

export function createPooled(registry: Pick<RegistryReader, 'isPooled'>): Pooled {
  /** When transactions were first seen back in the pool, by hash; `performance.now()`. */
  const firstSeen = new Map<Hex, number>()

  async function isWaiting(hash: Hex): Promise<boolean> {
    const since = firstSeen.get(hash) ?? performance.now()
    const isLate = performance.now() - since >= POOLED_TIMEOUT_MS
    if (isLate || !(await registry.isPooled(hash))) return false
    firstSeen.set(hash, since)
    return true
  }

  return {
    reset: () => firstSeen.clear(),
    async without(dropped) {
      const hashes = new Set(dropped.map((one) => one.anchoring.transactionHash))
      const waiting = new Set<Hex | null>()
      for (const hash of hashes) if (hash !== null && (await isWaiting(hash))) waiting.add(hash)
      return dropped.filter((one) => !waiting.has(one.anchoring.transactionHash))
    },
  }
}
