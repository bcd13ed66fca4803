import { fromHex } from '#document/hex.ts'
import type { IndexEntry } from '#promise/document-index.ts'
import type { IssueIntent } from '#promise/intent.ts'
import { bytesOf, hexOf } from '../../columns.ts'
import type { Query } from '../../drivers/postgres/query.ts'
import type { LeasedAccount } from '../../stores.ts'

/** A document or batch to issue, with what is written in the same statement. */
export type NewIssue = {
  intent: IssueIntent
  promised: boolean
  /** Whether it inserted its payload in a store elsewhere. */
  inserted?: boolean
  /** See `Payload`. */
  sealed?: Uint8Array | undefined
  entry?: IndexEntry | undefined
  /** Goes into the table of payloads, unless it is there or was erased. */
  bytes?: Uint8Array
}

/** Whether the intent is new, and whether its payload was inserted in the table of payloads. */
export type AddedIssue = { isNew: boolean; stored: boolean }

/**
 * `xmax` is 0 in a row that was inserted and not updated. A payload that is there already is locked
 * (`WHERE false` changes nothing), before its intent is inserted: a withdrawal must not take it away
 * from under a new intent.
 */
const INSERT = `
  WITH holder AS (
    SELECT $15::bytea AS account FROM lease WHERE name = $16 AND token = $17 FOR KEY SHARE
  ), item AS (
    SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bytea[], $5::text[],
      $6::boolean[], $7::boolean[], $8::bytea[], $9::bytea[], $10::integer[], $11::bigint[],
      $12::bigint[], $13::bigint[], $14::bigint[]) WITH ORDINALITY AS item (hash, root,
      valid_until, manifest, tenant, promised, inserted, sealed, bytes, issued_on, expires,
      subject, category, owner, place)
  ), stored AS (
    INSERT INTO block (hash, bytes) SELECT hash, bytes FROM item
    WHERE bytes IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM tombstone WHERE tombstone.hash = item.hash)
    ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash WHERE false
    RETURNING hash
  ), added AS (
    INSERT INTO intent (account, kind, document_hash, root, valid_until, manifest, tenant,
      promised, inserted, sealed)
    SELECT (SELECT account FROM holder), 'issue', hash, root, valid_until, manifest, tenant, promised,
      inserted OR EXISTS (SELECT 1 FROM stored WHERE stored.hash = item.hash), sealed
    FROM item ORDER BY place
    ON CONFLICT (document_hash, kind)
      DO UPDATE SET promised = intent.promised OR excluded.promised
    RETURNING document_hash, intent.xmax = 0 AS is_new
  ), listed AS (
    INSERT INTO document (document_hash, issued_on, valid_until, subject, category, tenant)
    SELECT hash, issued_on, expires, subject, category, owner FROM item
    WHERE issued_on IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM document WHERE document.document_hash = item.hash)
    ORDER BY place
    ON CONFLICT DO NOTHING
  )
  SELECT document_hash, is_new,
    EXISTS (SELECT 1 FROM stored WHERE stored.hash = document_hash) AS stored
  FROM added`

/** An account, and the name and token of its lease. */
export function valuesOfOwner(owner?: LeasedAccount) {
  return [bytesOf(owner?.account), owner?.lease.name ?? null, owner?.lease.token ?? null]
}

/**
 * Inserts intents to issue, or repeats them.
 *
 * @param issues Of different documents.
 * @param owner The account that new ones get, while its lease lasts.
 * @returns For each, in order.
 */
export async function insertIssues(
  query: Query,
  issues: readonly NewIssue[],
  owner?: LeasedAccount,
): Promise<AddedIssue[]> {
  const rows = await query(INSERT, [
    issues.map(({ intent }) => fromHex(intent.documentHash)),
    issues.map(({ intent }) => bytesOf(intent.root)),
    issues.map(({ intent }) => intent.validUntil),
    issues.map(({ intent }) => bytesOf(intent.manifest)),
    issues.map(({ intent }) => intent.tenant ?? null),
    issues.map(({ promised }) => promised),
    issues.map(({ inserted = false }) => inserted),
    issues.map(({ sealed = null }) => sealed),
    issues.map(({ bytes = null }) => bytes),
    issues.map(({ entry }) => entry?.issuedOn ?? null),
    issues.map(({ entry }) => entry?.validUntil ?? null),
    issues.map(({ entry }) => entry?.subject ?? null),
    issues.map(({ entry }) => entry?.category ?? null),
    issues.map(({ entry }) => entry?.tenant ?? null),
    ...valuesOfOwner(owner),
  ])
  const found = new Map(rows.map((row) => [hexOf(row.document_hash), row]))
  return issues.map(({ intent }) => {
    const row = found.get(intent.documentHash)
    return { isNew: row?.is_new === true, stored: row?.stored === true }
  })
}
