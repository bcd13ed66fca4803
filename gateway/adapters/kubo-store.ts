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
/** Blocks of which it is remembered in which groups they are; others cannot be removed any more. */
const MEMORY = 10_000

/**
 * The payload store on a Kubo node. A group of concurrent puts is one CAR, whose one root links to its blocks, so that it
 * costs one pin and one flush. `remove` undoes one `put` of this process, so that it cannot take a block from another request or
 * gateway that has put the same. What is removed is unpinned, and goes with the node's next garbage collection: `block rm`
 * reads all pins for every block, and keeps everybody from writing meanwhile.
 *
 * Methods reject with an `IssueError` `store_unavailable`.
 *
 * @param warn Is told once of each thing that the node's operator should know.
 */
export function createKuboStore(node: KuboNode, warn: (warning: string) => void): KuboStore {
  /** From the CID of a block to the root of its group, once for each put. */
  const groupsOf = new Map<string, string[]>()
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
    const root = groupRoot(blocks.map(({ cid }) => cid))
    await node.pin(root, blocks)
    for (const { cid } of items) remember(`${cid}`, `${root.cid}`)
  }

  function remember(cid: string, root: string): void {
    const roots = groupsOf.get(cid) ?? []
    groupsOf.delete(cid)
    groupsOf.set(cid, [...roots, root])
    const [oldest] = groupsOf.keys()
    if (groupsOf.size > MEMORY && oldest) groupsOf.delete(oldest)
  }

  async function removeGroup(cids: CID[]): Promise<void> {
    const leaving = new Map<string, CID[]>()
    for (const cid of cids) {
      const [root, ...others] = groupsOf.get(`${cid}`) ?? []
      if (root === undefined) continue
      if (others.length > 0) groupsOf.set(`${cid}`, others)
      else groupsOf.delete(`${cid}`)
      if (!others.includes(root)) leaving.set(root, [...(leaving.get(root) ?? []), cid])
    }
    for (const [root, blocks] of leaving) await takeOut(CID.parse(root), blocks)
  }

  /** A new root without these blocks is pinned before the old one goes. */
  async function takeOut(old: CID, blocks: readonly CID[]): Promise<void> {
    const bytes = await node.get(old)
    const links = bytes && groupLinks(bytes)
    // Unknown what else is in the group: it stays as it is.
    if (links === undefined) return
    const rest = links.filter((link) => !blocks.some((b) => b.equals(link)))
    if (rest.length > 0) {
      const root = groupRoot(rest)
      await node.pin(root, [])
      for (const link of rest) replace(`${link}`, `${old}`, `${root.cid}`)
    }
    await node.unpin(old)
  }

  function replace(cid: string, old: string, root: string): void {
    const roots = groupsOf.get(cid)?.map((r) => (r === old ? root : r))
    if (roots) groupsOf.set(cid, roots)
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
      // A pin of its own, also of a block that is there already.
      return true
    },
    async get(hash) {
      const bytes = await node.get(blockCid(hash))
      return bytes ? { status: 'found', bytes } : { status: 'missing' }
    },
    remove: (hash) => remove(blockCid(hash)),
    assertReady: check,
  }
}
