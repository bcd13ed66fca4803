import type { CID } from 'multiformats/cid'
import { IssueError } from '#promise/errors.ts'
import { groupLinks, groupRoot } from './group.ts'
import type { KuboNode } from './node.ts'

/**
 * Deletes a block from a node, however often and by whichever gateway it was pinned. Calls must not
 * be concurrent.
 *
 * @throws {IssueError} `store_unavailable` when something else on the node pins it.
 */
export async function eraseBlock(node: KuboNode, cid: CID): Promise<void> {
  for (let root = await node.pinOf(cid); root; root = await node.pinOf(cid)) {
    if (root.equals(cid)) await node.unpin(cid)
    else if (!(await takeOut(node, root, cid)))
      throw new IssueError(
        'store_unavailable',
        `Kubo: ${root} still pins a block that is to be erased`,
      )
  }
  await node.removeBlock(cid)
}

/**
 * Pins a new root without the block, and then unpins the old one.
 *
 * @returns `false` when the root is missing or is not that of a group. Nothing was done then.
 */
async function takeOut(node: KuboNode, old: CID, block: CID): Promise<boolean> {
  const bytes = await node.get(old)
  const links = bytes && groupLinks(bytes)
  // The other blocks of the group are unknown, so it stays as it is.
  if (links === undefined) return false
  const rest = links.filter((link) => !link.equals(block))
  if (rest.length > 0) await node.pin(groupRoot(rest), [])
  await node.unpin(old)
  return true
}
