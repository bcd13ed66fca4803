import type { DraftBlock } from '#promise/batch-log.ts'

/** Groups of blocks on a Kubo node. */
export type DraftGroups = {
  /**
   * Pins blocks as a group.
   *
   * @param note Resolves when the CID of its root is on the disk; nothing is pinned before.
   */
  pin(blocks: readonly DraftBlock[], note: (root: Uint8Array) => Promise<void>): Promise<void>
  /** Unpins a group. Blocks that other groups pin as well stay. */
  unpin(root: Uint8Array): Promise<void>
}

/** Blocks that are pinned together: the puts of other requests wait for it. */
export const BLOCKS_A_GROUP = 256

export function inParts<T>(items: readonly T[], size: number): (readonly T[])[] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, i) => items.slice(i * size, (i + 1) * size))
}
