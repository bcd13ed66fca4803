import type { Delivery, Turn } from '#events/deliveries.ts'
import {
  type DocumentEvent,
  type EventPage,
  type EventQuery,
  type EventType,
  formatEventId,
} from '#events/events.ts'
import type { Webhook } from '#events/webhook.ts'
import { SCOPES } from '#keys/grant.ts'
import type { ApiKey } from '#keys/ports.ts'
import { parseActor } from '#promise/acts.ts'
import type { KnownBatch } from '#promise/batch-log.ts'
import type { IndexedDocument, OwnedDocument } from '#promise/document-index.ts'
import { KEPT_STATUSES } from './rules.ts'
import { hexOf, hexOrNull } from './sql.ts'

// Reads rows whose columns are the same in both databases.

type Row = Record<string, unknown>

/** @param row A row of the table `api_key`. */
export function keyOfRow(row: Row): ApiKey {
  const scopes = String(row.scopes).split(',')
  return {
    id: String(row.id),
    digest: String(row.digest),
    tenant: String(row.tenant),
    scopes: SCOPES.filter((scope) => scopes.includes(scope)),
    ...(row.label !== null && { label: String(row.label) }),
    ...(row.categories !== null && { categories: String(row.categories).split(',') }),
    ...(row.rate_limit !== null && { rateLimit: Number(row.rate_limit) }),
    createdAt: String(row.created_at),
    ...(row.expires_at !== null && { expiresAt: String(row.expires_at) }),
    ...(row.last_used_at !== null && { lastUsedAt: String(row.last_used_at) }),
    ...(row.replaced_by !== null && { replacedBy: String(row.replaced_by) }),
  }
}

/** @param row A row of the table `document`, as both databases read it. */
export function documentOf(row: Row): IndexedDocument {
  return {
    place: Number(row.id),
    documentHash: hexOf(row.document_hash),
    batchBlock: hexOrNull(row.batch_block),
    blockNumber: row.block_number as number | null,
    status: KEPT_STATUSES[Number(row.status)] ?? null,
    createdAt: row.created_at as number | null,
  }
}

/**
 * @param row A row with blind indexes as text, because they have 64 bits, more than a number can
 * represent.
 */
export function ownedOf(row: Row): OwnedDocument {
  return {
    ...documentOf(row),
    validUntil: Number(row.valid_until),
    tenant: row.tenant === null ? null : BigInt(row.tenant as string),
    category: row.category === null ? null : BigInt(row.category as string),
    root: hexOrNull(row.root),
  }
}

export function batchOf(row: Row): KnownBatch {
  return {
    id: Number(row.id),
    root: hexOf(row.root),
    size: Number(row.size),
    manifest: hexOf(row.manifest),
    tenant: String(row.tenant),
  }
}

function documentEventOf(row: Row): DocumentEvent {
  const time = Number(row.time)
  return {
    id: formatEventId({ time, number: Number(row.id) }),
    type: row.type as EventType,
    time,
    tenant: row.tenant as string | null,
    documentHash: hexOf(row.document_hash),
    blockNumber: row.block_number as number | null,
    blockHash: hexOrNull(row.block_hash),
    transactionHash: hexOrNull(row.transaction_hash),
    actor: row.actor === null ? null : parseActor(String(row.actor)),
  }
}

/** @param row An event, with its delivery to one webhook. */
function deliveryOf(row: Row): Delivery {
  return {
    number: Number(row.id),
    event: documentEventOf(row),
    attempts: Number(row.attempts),
    failedSince: row.failed_since as number | null,
  }
}

/** @param scanned The last event that was scanned; not needed for a full page. */
export function eventPageOf(
  rows: readonly Row[],
  { after, limit }: EventQuery,
  { scanned, newest }: { scanned: Row | undefined; newest: number | null },
): EventPage {
  const last = rows.length === limit ? rows.at(-1) : scanned
  return {
    events: rows.map(documentEventOf),
    next: last ? { time: Number(last.time), number: Number(last.id) } : after,
    hasMore: newest !== null && Number(last?.id ?? after?.number ?? 0) < newest,
  }
}

/** @param found `scanned` is the last event that was scanned, if all fresh ones fit. */
export function turnOf(
  webhook: Webhook,
  row: Row,
  { retries, fresh, scanned }: { retries: Row[]; fresh: Row[]; scanned: unknown },
): Turn | undefined {
  const after = Number(row.cursor)
  const upTo = Number(scanned ?? fresh.at(-1)?.id ?? after)
  if (retries.length === 0 && upTo === after) return undefined
  return {
    webhook,
    epoch: Number(row.epoch),
    upTo,
    retries: retries.map(deliveryOf),
    fresh: fresh.map(deliveryOf),
    held: new Set(fresh.filter(({ held }) => held).map((one) => hexOf(one.document_hash))),
  }
}
