import { hash as digestOf } from 'node:crypto'
import { CID } from 'multiformats/cid'
import type { BlockRead } from '#verifier/ports.ts'
import { eraseBlock } from './erase.ts'
import { blockCid, groupRoot } from './group.ts'
import type { KuboNode } from './node.ts'

/** The payloads on a Kubo node. Methods reject with an `IssueError` `store_unavailable`. */
export type KuboStore = {
  /** Rejects when nothing must be pinned on the node. */
  assertReady(): Promise<void>
  get(hash: Uint8Array): Promise<BlockRead>
  /** Runs work during which nothing is erased by this process. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /**
   * Pins payloads as one group, with a root that links to them: that is one pin and one flush.
   * Leaves out damaged ones, because the node would refuse the whole group.
   *
   * @returns The CID of the root; `undefined` when there was nothing to pin.
   */
  pin(payloads: readonly { hash: Uint8Array; bytes: Uint8Array }[]): Promise<Uint8Array | undefined>
  /** @returns Whether the group that was pinned last is still there, or was replaced by `erase`. */
  hasPinned(root: Uint8Array): Promise<boolean>
  /** Deletes a payload and all pins on it at once. @returns Whether the node had it. */
  erase(hash: Uint8Array): Promise<boolean>
}

/** @param warn Called once for each warning to the node's operator. */
export function createKuboStore(node: KuboNode, warn: (warning: string) => void): KuboStore {
  const warned = new Set<string>()
  let last: Promise<unknown> = Promise.resolve()
  /** Whether an erasure may have replaced the group that was pinned last. */
  let isReplaced = false

  function alone<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }

  return {
    alone,
    async assertReady() {
      for (const warning of await node.check()) {
        if (!warned.has(warning)) warn(warning)
        warned.add(warning)
      }
    },
    async get(hash) {
      const bytes = await node.get(blockCid(hash))
      return bytes ? { status: 'found', bytes } : { status: 'missing' }
    },
    async pin(payloads) {
      const blocks = payloads
        .filter(({ hash, bytes }) => digestOf('sha256', bytes, 'buffer').equals(hash))
        .map(({ hash, bytes }) => ({ cid: blockCid(hash), bytes }))
      if (blocks.length === 0 && !isReplaced) return undefined
      const root = groupRoot(blocks.map(({ cid }) => cid))
      await node.pin(root, blocks)
      isReplaced = false
      return root.cid.bytes
    },
    hasPinned: async (root) => isReplaced || node.hasPin(CID.decode(root)),
    erase: (hash) =>
      alone(async () => {
        const cid = blockCid(hash)
        const had = (await node.get(cid)) !== undefined
        await eraseBlock(node, cid)
        isReplaced ||= had
        return had
      }),
  }
}
