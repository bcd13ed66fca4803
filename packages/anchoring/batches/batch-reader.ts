import type { Hex } from '#document/hex.ts'
import type { BatchList } from '#promise/batch-log.ts'
import type { History } from '#promise/history.ts'
import type { Outbox, RegistryReader } from '#promise/ports.ts'
import type { TrustedRecord } from '#promise/record.ts'
import { statusOfBatch } from '#promise/revisable.ts'
import type { RegistryStatus } from '#verifier/ports.ts'

/** A batch, and where it is. */
export type FoundBatch = {
  root: Hex
  size: number
  /** The sha-256 of the root block of its manifest; `null` when this gateway did not issue it. */
  manifest: Hex | null
  status: RegistryStatus | 'pending'
  /** The record of the batch; `null` while it is pending. */
  record: TrustedRecord | null
  transactionHash: Hex | null
}

/** Reads batches of the issuer. Rejects with an `IssueError` when the chain cannot be read. */
export type BatchReader = {
  /**
   * @param tenant The tenant of the batch; `null` = any batch of the issuer, also one of another
   * gateway.
   * @returns `undefined` for a root that is neither in the registry nor promised here.
   */
  get(root: Hex, tenant: string | null): Promise<FoundBatch | undefined>
  /** @returns Whether a batch belongs to this tenant; `null` = any tenant. */
  isOf(root: Hex, tenant: string | null): Promise<boolean>
  /**
   * @param before A cursor; absent = from the newest batch.
   * @returns Batches that this gateway promised, the newest first, and the next cursor if there are
   * more.
   */
  list(
    tenant: string | null,
    before: number | undefined,
    limit: number,
  ): Promise<{ batches: FoundBatch[]; next?: number }>
}

export function createBatchReader(deps: {
  log: BatchList
  registry: RegistryReader
  outbox: Outbox
  history: History
}): BatchReader {
  const { log, registry, outbox, history } = deps

  const isOf = async (root: Hex, tenant: string | null) =>
    tenant === null || (await log.get(root))?.tenant === tenant

  async function get(root: Hex): Promise<FoundBatch | undefined> {
    const [record] = await registry.records([{ documentHash: root, root }])
    const [known, found] = await Promise.all([log.get(root), outbox.find('issue', root)])
    const manifest = known?.manifest ?? null
    if (record?.anchoredBlock) {
      const { anchoredBlock, validUntil: size } = record
      const transactionHash =
        (await history.transactionOf(root, anchoredBlock)) ??
        (await registry.transactionsOf('issued', anchoredBlock))?.get(root)?.transactionHash ??
        null
      return { root, size, manifest, record, status: statusOfBatch(record), transactionHash }
    }
    if (!known || !found) return undefined
    const { transactionHash } = found.outcome
    return { root, size: known.size, manifest, record: null, status: 'pending', transactionHash }
  }

  return {
    isOf,
    get: async (root, tenant) => ((await isOf(root, tenant)) ? get(root) : undefined),
    async list(tenant, before, limit) {
      const known = await log.list(tenant, before, limit + 1)
      const page = known.slice(0, limit)
      const standings = await Promise.all(page.map(({ root }) => get(root)))
      const batches = standings.filter((batch) => batch !== undefined)
      const last = page.at(-1)
      return { batches, ...(known.length > limit && last && { next: last.id }) }
    },
  }
}
