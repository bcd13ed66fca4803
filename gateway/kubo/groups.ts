import { CID } from 'multiformats/cid'
import { IssueError } from '#promise/errors.ts'
import { type Block, groupLinks, groupRoot } from './group.ts'
import type { KuboNode } from './node.ts'

/**
 * The maximum number of blocks whose groups are remembered. Older ones can no longer be removed.
 */
const MAX_REMEMBERED = 10_000

/** Blocks on a node, pinned in groups with one root each. Calls must not be concurrent. */
export type Groups = {
  /** Pins blocks as one group. */
  put(items: readonly Block[]): Promise<void>
  /** Undoes one `put` of each block. */
  remove(cids: readonly CID[]): Promise<void>
  /**
   * Deletes blocks from the node, however often and by whichever gateway they were put.
   *
   * @throws {IssueError} `store_unavailable` when something else on the node pins one of them.
   */
  erase(cids: readonly CID[]): Promise<void>
  /**
   * Pins blocks as one group, which `unpin` can undo, also in another process. `remove` does not
   * undo it.
   *
   * @param note Receives the CID of the root. Nothing is pinned before it resolves.
   */
  pin(blocks: readonly Block[], note: (root: Uint8Array) => Promise<void>): Promise<void>
  /** @param root The CID of a root. */
  unpin(root: Uint8Array): Promise<void>
}

/**
 * The groups of the blocks that this process has put, as the roots for each block, once for each
 * put.
 */
function createMemory() {
  const rootsOf = new Map<string, string[]>()
  return {
    remember(cid: string, root: string): void {
      const roots = rootsOf.get(cid) ?? []
      rootsOf.delete(cid)
      rootsOf.set(cid, [...roots, root])
      const [oldest] = rootsOf.keys()
      if (rootsOf.size > MAX_REMEMBERED && oldest) rootsOf.delete(oldest)
    },
    /** Forgets one put of each block. @returns The blocks that leave each group, by its root. */
    forget(cids: readonly CID[]): Map<string, CID[]> {
      const leaving = new Map<string, CID[]>()
      for (const cid of cids) {
        const [root, ...others] = rootsOf.get(`${cid}`) ?? []
        if (root === undefined) continue
        if (others.length > 0) rootsOf.set(`${cid}`, others)
        else rootsOf.delete(`${cid}`)
        if (!others.includes(root)) leaving.set(root, [...(leaving.get(root) ?? []), cid])
      }
      return leaving
    },
    forgetAll: (cid: CID) => void rootsOf.delete(`${cid}`),
    replace(cid: string, old: string, root: string): void {
      const roots = rootsOf.get(cid)?.map((r) => (r === old ? root : r))
      if (roots) rootsOf.set(cid, roots)
    },
  }
}

export function createGroups(node: KuboNode): Groups {
  const memory = createMemory()

  /**
   * Pins a new root without these blocks, and then unpins the old one.
   *
   * @returns `false` when the root is missing or is not that of a group. Nothing was done then.
   */
  async function takeOut(old: CID, blocks: readonly CID[]): Promise<boolean> {
    const bytes = await node.get(old)
    const links = bytes && groupLinks(bytes)
    // The other blocks of the group are unknown, so it stays as it is.
    if (links === undefined) return false
    const rest = links.filter((link) => !blocks.some((b) => b.equals(link)))
    if (rest.length > 0) {
      const root = groupRoot(rest)
      await node.pin(root, [])
      for (const link of rest) memory.replace(`${link}`, `${old}`, `${root.cid}`)
    }
    await node.unpin(old)
    return true
  }

  async function unpinAll(cid: CID, erased: readonly CID[]): Promise<void> {
    for (let root = await node.pinOf(cid); root; root = await node.pinOf(cid)) {
      if (root.equals(cid)) await node.unpin(cid)
      else if (!(await takeOut(root, erased)))
        throw new IssueError(
          'store_unavailable',
          `Kubo: ${root} still pins a block that is to be erased`,
        )
    }
  }

  return {
    async put(items) {
      const blocks = [...new Map(items.map((b) => [`${b.cid}`, b])).values()]
      const root = groupRoot(blocks.map(({ cid }) => cid))
      await node.pin(root, blocks)
      for (const { cid } of items) memory.remember(`${cid}`, `${root.cid}`)
    },
    async pin(blocks, note) {
      const root = groupRoot(blocks.map(({ cid }) => cid))
      await note(root.cid.bytes)
      await node.pin(root, blocks)
    },
    unpin: (root) => node.unpin(CID.decode(root)),
    async remove(cids) {
      for (const [root, blocks] of memory.forget(cids)) await takeOut(CID.parse(root), blocks)
    },
    async erase(cids) {
      for (const cid of cids) {
        await unpinAll(cid, cids)
        await node.removeBlock(cid)
        memory.forgetAll(cid)
      }
    },
  }
}
