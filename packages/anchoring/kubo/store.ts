import { hash as digestOf } from 'node:crypto'
import { groupCalls } from '#base/grouping.ts'
import type { PayloadStore } from '#promise/ports.ts'
import { blockCid } from './group.ts'
import { createGroups } from './groups.ts'
import type { KuboNode } from './node.ts'

export type KuboStore = PayloadStore & {
  /** Rejects with an `IssueError` `store_unavailable` when nothing can be put. */
  assertReady(): Promise<void>
  /** Deletes a block and all pins on it at once. @returns Whether the node had it. */
  erase(hash: Uint8Array): Promise<boolean>
  /**
   * Stores blocks as a group of their own, independent of `put`.
   *
   * @param note Receives the CID of the group's root. Nothing is stored before it resolves.
   */
  pin(
    blocks: readonly { hash: Uint8Array; bytes: Uint8Array }[],
    note: (root: Uint8Array) => Promise<void>,
  ): Promise<void>
  /** Undoes one `pin`, also of an earlier process. @param root The CID that `note` received. */
  unpin(root: Uint8Array): Promise<void>
}

/** The maximum number of blocks in one group, which is that of intents in one transaction. */
const MAX_GROUP = 200

/**
 * The payload store on a Kubo node. A group of concurrent puts is one CAR, whose one root links to
 * its blocks, so that it costs one pin and one flush.
 *
 * Methods reject with an `IssueError` `store_unavailable`.
 *
 * @param warn Called once for each warning to the node's operator.
 */
export function createKuboStore(node: KuboNode, warn: (warning: string) => void): KuboStore {
  const groups = createGroups(node)
  const { check, onceChecked } = createCheck(node, warn)

  let last = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work)
    return last
  }
  const grouped = <T>(work: (items: readonly T[]) => Promise<void>, maxItems = MAX_GROUP) =>
    groupCalls({ maxItems, run: onceChecked(work), inTurn })
  const put = grouped(groups.put)
  const erase = grouped(groups.erase)
  const runAlone = grouped<() => Promise<void>>(async ([work]) => work?.(), 1)

  return {
    async put(hash, bytes) {
      // Kubo would refuse such a block, and the whole group with it.
      if (digestOf('sha256', bytes, 'buffer').compare(hash) !== 0)
        throw new TypeError('the bytes do not match the hash')
      await put({ cid: blockCid(hash), bytes })
    },
    async get(hash) {
      const bytes = await node.get(blockCid(hash))
      return bytes ? { status: 'found', bytes } : { status: 'missing' }
    },
    async missing(hashes) {
      if (await node.hasAll(hashes.map(blockCid))) return []
      const missing: Uint8Array[] = []
      for (const hash of hashes) if (!(await node.get(blockCid(hash)))) missing.push(hash)
      return missing
    },
    async erase(hash) {
      const cid = blockCid(hash)
      const had = (await node.get(cid)) !== undefined
      await erase(cid)
      return had
    },
    pin: (blocks, note) =>
      runAlone(() =>
        groups.pin(
          blocks.map(({ hash, bytes }) => ({ cid: blockCid(hash), bytes })),
          note,
        ),
      ),
    unpin: (root) => runAlone(() => groups.unpin(root)),
    assertReady: check,
  }
}

/** Checks the node before its first use and after every failure. */
function createCheck(node: KuboNode, warn: (warning: string) => void) {
  const warned = new Set<string>()
  let checked = false

  async function check(): Promise<void> {
    for (const warning of await node.check()) {
      if (!warned.has(warning)) warn(warning)
      warned.add(warning)
    }
  }

  /** After a failure, another node may respond, or the same node with other settings. */
  const onceChecked =
    <T>(work: (items: readonly T[]) => Promise<void>) =>
    async (items: readonly T[]) => {
      try {
        if (!checked) await check()
        checked = true
        await work(items)
        return items.map(() => undefined)
      } catch (error) {
        checked = false
        throw error
      }
    }

  return { check, onceChecked }
}
