import { hash as digestOf } from 'node:crypto'
import { CID } from 'multiformats/cid'
import type { PayloadStore } from '../issue/ports.ts'
import { createGroupCommit, createTurn } from './group-commit.ts'
import { type Block, blockCid, groupLinks, groupRoot } from './kubo-group.ts'
import type { KuboNode } from './kubo-node.ts'

export type KuboStore = PayloadStore & {
  /** Rejects with an `IssueError` `store_unavailable` that says why when nothing can be put. */
  assertReady(): Promise<void>
}

/** Most blocks in one group: as many as the batcher puts in one transaction. */
const MAX_GROUP = 200
/** Blocks of which it is remembered in which group they are; of others the node is asked, which reads all its pins. */
const MEMORY = 10_000

/**
 * The payload store on a Kubo node. A group of concurrent puts is one CAR, whose one root links to its blocks, so that it
 * costs one pin and one flush.
 *
 * Methods reject with an `IssueError` `store_unavailable`.
 *
 * @param warn Is told once of each thing that the node's operator should know.
 */
export function createKuboStore(
  node: KuboNode,
  warn: (warning: string) => void,
): KuboStore {
  /** From the CID of a block to that of the group's root. */
  const groupOf = new Map<string, string>()
  const warned = new Set<string>()
  let checked = false

  async function check(): Promise<void> {
    for (const warning of await node.check()) {
      if (!warned.has(warning)) warn(warning)
      warned.add(warning)
    }
  }

  /** After every failure again: what answers then may be another node, or have other settings. */
  const onceChecked =
    <T>(work: (items: T[]) => Promise<void>) =>
    async (items: T[]) => {
      try {
        if (!checked) await check()
        checked = true
        await work(items)
      } catch (error) {
        checked = false
        throw error
      }
    }

  async function putGroup(items: Block[]): Promise<void> {
    const blocks = [...new Map(items.map((b) => [`${b.cid}`, b])).values()]
    await pinGroup(
      blocks.map(({ cid }) => cid),
      blocks,
    )
  }

  /** @param blocks Those of the group that the node may not have. */
  async function pinGroup(cids: CID[], blocks: Block[]): Promise<void> {
    const root = groupRoot(cids)
    await node.pin(root, blocks)
    for (const cid of cids) remember(`${cid}`, `${root.cid}`)
  }

  function remember(cid: string, root: string): void {
    groupOf.delete(cid)
    groupOf.set(cid, root)
    const [oldest] = groupOf.keys()
    if (groupOf.size > MEMORY && oldest) groupOf.delete(oldest)
  }

  async function removeGroup(cids: CID[]): Promise<void> {
    for (const cid of cids) await takeOut(cid, cids)
    await node.remove(cids)
  }

  /** Takes blocks out of every group that holds the first: a new root without them is pinned before the old one goes. */
  async function takeOut(cid: CID, cids: readonly CID[]): Promise<void> {
    for (;;) {
      const known = groupOf.get(`${cid}`)
      groupOf.delete(`${cid}`)
      const found = known ?? (await node.pinnedThrough(cid))
      if (found === undefined) return
      const root = CID.parse(found)
      const bytes = await node.get(root)
      const links = bytes && groupLinks(bytes)
      if (links) {
        const rest = links.filter((link) => !cids.some((c) => c.equals(link)))
        if (rest.length > 0) await pinGroup(rest, [])
        await node.unpin(root)
        await node.remove([root])
      } else if (known === undefined) return // somebody else's pin, who wants to keep it
    }
  }

  const inTurn = createTurn()
  const put = createGroupCommit(inTurn, MAX_GROUP, onceChecked(putGroup))
  const remove = createGroupCommit(inTurn, MAX_GROUP, onceChecked(removeGroup))

  return {
    async put(hash, bytes) {
      // Kubo would refuse it, and the whole group with it.
      if (digestOf('sha256', bytes, 'buffer').compare(hash) !== 0)
        throw new TypeError('the bytes do not have this hash')
      await put({ cid: blockCid(hash), bytes })
    },
    async get(hash) {
      const bytes = await node.get(blockCid(hash))
      return bytes ? { status: 'found', bytes } : { status: 'missing' }
    },
    remove: (hash) => remove(blockCid(hash)),
    assertReady: check,
  }
}
