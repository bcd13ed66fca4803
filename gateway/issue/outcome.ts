import type { Hex } from '../../document/hex.ts'
import { IssueError } from './errors.ts'
import type { Anchoring, Registry } from './ports.ts'

/** What became of an intent. `taken`: another issuer has a record under this hash. */
export type Outcome = ({ status: 'anchored' } & Anchoring) | { status: 'taken' }

/**
 * Reads what the chain has under these hashes: from records and events, never from a transaction of ours alone, since an
 * earlier attempt may have anchored them.
 *
 * @returns An outcome for each, in their order; `undefined` where there is no record.
 * @throws {IssueError} `chain_unavailable`.
 */
export async function outcomesOf(
  registry: Registry,
  documentHashes: readonly Hex[],
): Promise<(Outcome | undefined)[]> {
  const holders = await registry.holders(documentHashes)
  const ours = holders.flatMap((holder) =>
    holder?.issuerId === registry.issuerId ? [holder.blockNumber] : [],
  )
  const events = await Promise.all(
    [...new Set(ours)].map(registry.transactionsOf),
  )
  const transactions = new Map(events.flatMap((found) => [...found]))
  return documentHashes.map((documentHash, i) => {
    const holder = holders[i]
    if (holder === undefined) return undefined
    if (holder.issuerId !== registry.issuerId) return { status: 'taken' }
    const transactionHash = transactions.get(documentHash)
    if (transactionHash === undefined)
      throw new IssueError('chain_unavailable', 'a record without its event')
    const { blockNumber } = holder
    return { status: 'anchored', blockNumber, transactionHash }
  })
}
