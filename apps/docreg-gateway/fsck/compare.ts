import { createHash } from 'node:crypto'
import { InputError } from '#cli/errors.ts'
import { recountListed } from '#cli/manifest.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import type { Hex } from '#document/hex.ts'
import { toHex } from '#document/hex.ts'
import { NO_ACCOUNT, registryStatusOf } from '#verifier/status.ts'
import type { Issued } from '../recover/issued.ts'
import type { Kept } from './kept.ts'

/** The differences between chain, store and database, by code. */
export const DIFFERENCES = {
  database_damaged: 'the database is damaged: restore a backup',
  events_incomplete:
    'the registry counts more than its events show: use a node that has all events',
  payload_missing:
    'a payload is missing from the store: fetch it with docreg-gateway restore or recover',
  payload_damaged: 'a payload does not match its hash: restore a backup',
  payload_not_pinned:
    'the Kubo node lacks a payload: unless it is only behind, start the gateway once without IPFS_API_URL; with it again, all are pinned',
  erased_but_present:
    'an erased document is still in the store: start the gateway, which deletes it',
  record_missing:
    'a document or batch on the chain is missing from the database: another gateway issued it, or run docreg-gateway reindex',
  record_differs:
    'the database has a different block or status than the chain: run docreg-gateway reindex',
  record_not_on_chain: 'the database has a document in a block that is not on the chain',
  manifest_missing:
    'the manifest of a batch is missing from the store, or does not rebuild the root',
} as const
export type Difference = keyof typeof DIFFERENCES

/** Reports a difference with the hash that it concerns. */
export type Tell = (difference: Difference, about: string) => void

/** Compares everything without changing it. @returns The numbers of what was compared. */
export async function compare(
  kept: Kept,
  issued: Issued,
  tell: Tell,
): Promise<{ documents: number; batches: number; erased: number }> {
  const counts = { documents: 0, batches: 0, erased: 0 }
  for (const line of await kept.damage()) tell('database_damaged', line)
  if (!issued.isComplete) tell('events_incomplete', '')

  async function comparePayload(hash: Hex): Promise<void> {
    const payload = await kept.payload(hash)
    if (await kept.isErased(hash)) {
      counts.erased++
      if (payload !== 'missing') tell('erased_but_present', hash)
    } else if (payload === 'missing') tell('payload_missing', hash)
    else if (payload === 'damaged') tell('payload_damaged', hash)
    else if (payload === 'unpinned') tell('payload_not_pinned', hash)
  }

  const anchors = new Map<Hex, number>()
  for (let i = 0; i < issued.documents.length; i++) {
    const { documentHash, own: record } = issued.documents.at(i)
    if (record.anchoredBlock === 0) continue
    counts.documents++
    anchors.set(documentHash, record.anchoredBlock)
    await comparePayload(documentHash)
    const account = issued.accounts.get(record.accountIndex) ?? NO_ACCOUNT
    const revoker = issued.accounts.get(record.revokerIndex) ?? null
    const status = registryStatusOf({ record, account, revoker, blockTime: issued.blockTime })
    const expected = status === 'valid' || status === 'expired' ? null : status
    const row = await kept.indexOf(documentHash)
    if (!row || row.block === null) tell('record_missing', documentHash)
    else if (row.block !== record.anchoredBlock || row.status !== expected)
      tell('record_differs', documentHash)
  }
  for await (const { documentHash } of kept.anchored())
    if (!anchors.has(documentHash)) tell('record_not_on_chain', documentHash)

  for (const { root, manifest, record } of issued.batches) {
    counts.batches++
    const row = await kept.batchOf(root)
    if (!row) tell('record_missing', root)
    else if (row.block !== record.anchoredBlock) tell('record_differs', root)
    const about = { registry: kept.registry, issuerId: kept.issuerId, blocks: [kept.store] }
    const code = await recountListed(
      { root, size: record.validUntil },
      manifest,
      about,
      async (batch) => {
        for (const block of batch.blocks()) {
          counts.documents++
          await comparePayload(block.documentHash)
          const bytes = encodeBatchBlock(block)
          await comparePayload(toHex(createHash('sha256').update(bytes).digest()))
        }
      },
    )
    if (code === 'unreachable')
      throw new InputError('unreachable', 'the store of payloads does not answer')
    if (code !== null) tell('manifest_missing', `${root}: ${code}`)
  }
  return counts
}
