import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { hkdfWithNode } from '#base/node-crypto.ts'
import type { LedgerBatch } from '#cli/audit/ledger.ts'
import { inParallel } from '#cli/parallel.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { Identity } from '#parts/chain.ts'
import { createIndexEntryOf } from '#promise/blind-index.ts'
import type { KeptStatus } from '#promise/document-index.ts'
import { subkeysOf } from '#settings/secrets.ts'
import type { CommandDatabase } from '#store/commands.ts'
import type { Rebuilt } from '#store/index-rebuild.ts'
import type { BlockSource, RegistryRecord } from '#verifier/ports.ts'
import { NO_ACCOUNT, type RevisedSlot, recordInBatch, registryStatusOf } from '#verifier/status.ts'
import { readManifest } from '../sources.ts'
import type { Issued } from './issued.ts'
import type { Payloads } from './payloads.ts'

/** The number of documents that are fetched, opened and written in one commit. */
const CHUNK = 200
const AT_A_TIME = 16
const NOT_REVOKED = { revokerIndex: 0, revokedBlock: 0, revokedAt: 0, reason: 0, setAside: false }

/** The numbers of documents and batches. */
export type Counts = Record<
  'documents' | 'opened' | 'missing' | 'erased' | 'unopened' | 'batches' | 'unread',
  number
>

/** A document with its record, which takes the batch into account. */
type Found = {
  documentHash: Hex
  slot: RevisedSlot
  transactionHash: Hex | null
  /** `own` is the record without the revocation of the batch, which the row of the batch has. */
  batch: { id: number; root: Hex; block: Hex; own: RevisedSlot } | null
}

type Options = {
  identity: Identity
  /** The file for the publicIds. */
  out: string
  tenant: string | undefined
  say: (line: string) => void
}

/**
 * Writes payloads, batches and records into the database of a new gateway, in the order of
 * the chain. Every step can be repeated.
 */
export async function restoreDocuments(
  issued: Issued,
  payloads: Payloads,
  database: CommandDatabase,
  { identity, out, tenant, say }: Options,
): Promise<Counts> {
  const [newest] = subkeysOf(identity.issuerSecrets)
  const index = await database.rebuildIndex(tenant ?? null)
  const entryOf = createIndexEntryOf(hkdfWithNode)
  const counts: Counts = {
    documents: 0,
    opened: 0,
    missing: 0,
    erased: 0,
    unopened: 0,
    batches: 0,
    unread: 0,
  }
  await using file = await open(out, 'w', 0o600)
  await file.appendFile('publicId,documentHash,batchRoot,status\n')

  async function restoreSome(some: readonly Found[]): Promise<void> {
    const restored: { rebuilt: Rebuilt; line: string }[] = []
    await inParallel(some, AT_A_TIME, async (found) => {
      const { documentHash, batch, slot } = found
      const { record } = slot
      const { word } = statusOf(slot, issued)
      const { kept } = statusOf(batch?.own ?? slot, issued)
      const { publicId, entry, why } = await openOne(found)
      counts[why ?? 'opened']++
      const rebuilt = {
        documentHash,
        validUntil: record.validUntil,
        status: kept,
        ...(batch
          ? { blockNumber: null, batch: batch.id }
          : {
              blockNumber: record.anchoredBlock,
              blockTime: record.anchoredAt,
              transactionHash: found.transactionHash,
            }),
        ...(entry && { entry }),
      }
      const values = [publicId ?? '', documentHash, batch?.root ?? '', why ?? word]
      restored.push({ rebuilt, line: `${values.join(',')}\n` })
    })
    counts.documents += some.length
    restored.sort((a, b) => a.rebuilt.documentHash.localeCompare(b.rebuilt.documentHash))
    await index.replace(restored.map(({ rebuilt }) => rebuilt))
    await file.appendFile(restored.map(({ line }) => line).join(''))
  }

  async function openOne({ documentHash, batch }: Found) {
    const payload = await payloads.fetch(fromHex(documentHash))
    if ('why' in payload) return { why: payload.why }
    const opening = await payloads.open({ documentHash, batchBlock: batch?.block ?? null })
    if (opening.status !== 'opened') return { why: 'unopened' as const }
    const { document, publicId } = opening
    const entry = {
      ...entryOf(newest, document, null),
      ...(batch && { batchBlock: batch.block }),
    }
    return { publicId, entry }
  }

  for (const part of inChainOrder(issued)) {
    if ('documents' in part) await restoreSome(part.documents)
    else if (await restoreBatch(part.batch, issued, { payloads, database, tenant, restoreSome }))
      counts.batches++
    else counts.unread++
    say(`restored  ${counts.documents} documents, ${counts.batches} batches`)
  }
  await file.datasync()
  return counts
}

type Part = { documents: Found[] } | { batch: Issued['batches'][number] }

/** @returns Documents that were issued alone, some at a time, with the batches in between. */
function* inChainOrder(issued: Issued): Generator<Part> {
  const { documents, batches } = issued
  const blocks = Float64Array.from(
    { length: documents.length },
    (_, i) => documents.at(i).own.anchoredBlock,
  )
  const order = Uint32Array.from(blocks, (_, i) => i).sort(
    (a, b) => (blocks[a] as number) - (blocks[b] as number),
  )
  const rest = batches.toSorted((a, b) => a.record.anchoredBlock - b.record.anchoredBlock)
  let some: Found[] = []
  for (const index of order) {
    const { documentHash, own: record, event } = documents.at(index)
    if (record.anchoredBlock === 0) continue
    const isBatchNext = () => (rest[0]?.record.anchoredBlock ?? Infinity) < record.anchoredBlock
    if (some.length === CHUNK || isBatchNext()) {
      yield { documents: some }
      some = []
    }
    while (isBatchNext()) yield { batch: rest.shift() as Issued['batches'][number] }
    const transactionHash = event?.transactionHash ?? null
    some.push({ documentHash, slot: slotOf(record, issued), transactionHash, batch: null })
  }
  yield { documents: some }
  for (const batch of rest) yield { batch }
}

type BatchOptions = {
  payloads: Payloads
  database: CommandDatabase
  tenant: string | undefined
  restoreSome(some: readonly Found[]): Promise<void>
}

/** @returns Whether the manifest was found and rebuilds the root. */
async function restoreBatch(
  { root, manifest, event, record: anchored }: LedgerBatch & { record: RegistryRecord },
  issued: Issued,
  { payloads, database, tenant, restoreSome }: BatchOptions,
): Promise<boolean> {
  const batch = manifest === null ? undefined : await readManifest(manifest, [sourceOf(payloads)])
  if (batch?.root !== root || batch.size !== anchored.validUntil) return false
  const transactionHash = event?.transactionHash ?? null
  const slot = slotOf(anchored, issued)
  const { kept } = statusOf(slotOf({ ...anchored, validUntil: 0 }, issued), issued)
  const id = await database.addBatch(
    // The tenant is unknown until its request is repeated.
    { ...batch, tenant: tenant ?? '' },
    {
      blockNumber: anchored.anchoredBlock,
      blockTime: anchored.anchoredAt,
      transactionHash,
      status: kept,
    },
  )
  const unrevoked = slotOf({ ...anchored, ...NOT_REVOKED }, issued)
  let some: { documentHash: Hex; validUntil: number; block: Hex }[] = []
  const restoreRest = async () => {
    const own = await issued.recordsOf(some.map(({ documentHash }) => documentHash))
    const ownOf = (i: number) => slotOf(own[i] as RegistryRecord, issued)
    await restoreSome(
      some.map(({ documentHash, validUntil, block }, i) => ({
        documentHash,
        transactionHash,
        batch: { id, root, block, own: recordInBatch(ownOf(i), unrevoked, validUntil) },
        slot: recordInBatch(ownOf(i), slot, validUntil),
      })),
    )
    some = []
  }
  for (const block of batch.blocks()) {
    const bytes = encodeBatchBlock(block)
    const hash = createHash('sha256').update(bytes).digest()
    // Batch blocks are computed from the manifest.
    await payloads.put(hash, bytes)
    some.push({
      documentHash: block.documentHash,
      validUntil: block.validUntil,
      block: toHex(hash),
    })
    if (some.length === CHUNK) await restoreRest()
  }
  await restoreRest()
  return true
}

function sourceOf(payloads: Payloads): BlockSource {
  return {
    async get(hash) {
      const payload = await payloads.fetch(hash)
      return 'bytes' in payload ? { status: 'found', bytes: payload.bytes } : { status: 'missing' }
    },
  }
}

function slotOf(record: RegistryRecord, { accounts }: Issued): RevisedSlot {
  const revoker = record.revokedBlock === 0 ? undefined : accounts.get(record.revokerIndex)
  return { record, revoker: revoker ?? null }
}

function statusOf(
  slot: RevisedSlot,
  { accounts, blockTime }: Issued,
): { kept: KeptStatus | null; word: string } {
  const account = accounts.get(slot.record.accountIndex) ?? NO_ACCOUNT
  const word = registryStatusOf({ ...slot, account, blockTime })
  const isKept = word !== 'valid' && word !== 'expired' && word !== 'not_issued'
  return { kept: isKept ? word : null, word }
}
