/** How long the entries of one request wait for blocks. */
export type Patience = {
  /** @returns Milliseconds that an entry may still wait. */
  left(): number
  /** Reports that an entry has been answered with a block. */
  progressed(): void
}

/** However steadily the chain goes on; milliseconds. */
const MAX_WAIT_MS = 5 * 60_000

/**
 * Thousands of entries need many blocks: they wait while the chain goes on, and no longer than one
 * request would once it stands still.
 *
 * @param wait How long without a block; milliseconds. 0 = do not wait.
 */
export function createPatience(wait: number, now = () => performance.now()): Patience {
  const last = now() + MAX_WAIT_MS
  let end = now() + wait
  return {
    left: () => Math.max(0, Math.min(end, last) - now()),
    progressed() {
      if (wait > 0) end = now() + wait
    },
  }
}
