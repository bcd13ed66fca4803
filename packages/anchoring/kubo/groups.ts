import { CID } from 'multiformats/cid'
import { IssueError } from '#promise/errors.ts'
import { type Block, groupLinks, groupRoot } from './group.ts'
import type { KuboNode } from './node.ts'

/** Blocks on a node, pinned in groups with one root each. Calls must not be concurrent. */
export type Groups = {
  /** Pins blocks as one group. */
  put(items: readonly Block[]): Promise<void>
  /**
   * Deletes blocks from the node, however often and by whichever gateway they were put.
   *
   * @throws {IssueError} `store_unavailable` when something else on the node pins one of them.
   */
  erase(cids: readonly CID[]): Promise<void>
  /**
   * Pins blocks as one group, which `unpin` can undo, also in another process.
   *
   * @param note Receives the CID of the root. Nothing is pinned before it resolves.
   */
  pin(blocks: readonly Block[], note: (root: Uint8Array) => Promise<void>): Promise<void>
  /** @param root The CID of a root. */
  unpin(root: Uint8Array): Promise<void>
}

export function createGroups(node: KuboNode): Groups {
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
    if (rest.length > 0) await node.pin(groupRoot(rest), [])
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
    },
    async pin(blocks, note) {
      const root = groupRoot(blocks.map(({ cid }) => cid))
      await note(root.cid.bytes)
      await node.pin(root, blocks)
    },
    unpin: (root) => node.unpin(CID.decode(root)),
    async erase(cids) {
      for (const cid of cids) {
        await unpinAll(cid, cids)
        await node.removeBlock(cid)
      }
    },
  }
}
