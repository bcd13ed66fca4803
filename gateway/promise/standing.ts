import { decodeBatchBlock } from '#document/batch/block.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { DocumentKey } from '#verifier/ports.ts'
import type { Standing } from './intent.ts'
import type { Outbox, PayloadStore } from './ports.ts'

/**
 * @param issuerId The one that the gateway writes for.
 * @returns A function that finds where the intent to issue a document stands, or that of its batch.
 * The hash of its key is that in the publicId, so of a batch block.
 */
export function createStandingOf(
  issuerId: number,
  outbox: Outbox,
  store: Pick<PayloadStore, 'get'>,
): (key: DocumentKey) => Promise<Standing | undefined> {
  async function rootIn(hash: Hex): Promise<Hex | undefined> {
    const read = await store.get(fromHex(hash))
    if (read.status !== 'found') return undefined
    try {
      return decodeBatchBlock(read.bytes).root
    } catch (error) {
      if (error instanceof FormatError) return undefined
      throw error
    }
  }

  return async ({ issuerId: of, documentHash }) => {
    if (of !== issuerId) return undefined
    const standing = await outbox.find('issue', documentHash)
    if (standing !== undefined) return standing
    const root = await rootIn(documentHash)
    return root && outbox.find('issue', root)
  }
}
