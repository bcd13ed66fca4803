import { hash } from 'node:crypto'
import { clock } from '#base/clock.ts'
import { fromHex } from '#document/hex.ts'
import type { Database } from '#store/database.ts'
import { IS_PENDING, IS_PROMISED } from '#store/index-pages.ts'
import { MAX_LISTED } from '#store/lost-lists.ts'
import { all, first, hexOf, isSet, onPostgres, type Row, statement, type Work } from '#store/sql.ts'
import { type CredentialStore, MAX_TRIES } from './ports.ts'
import type { Known, KnownDocuments, Slot, StatusSlots } from './status-slots.ts'

// Slots are given one after another. Any other number would do.
const LOCK = onPostgres('SELECT pg_advisory_xact_lock(7160025)')
const SELECT_SLOT = statement(
  'SELECT list, slot FROM status_slot WHERE document_hash = :hash AND root = :root',
)
const SELECT_OPEN = statement(`
  SELECT coalesce(
    (SELECT min(list) FROM status_list WHERE NOT lost AND used < ${MAX_LISTED}),
    (SELECT coalesce(max(list), 0) + 1 FROM status_list)) AS list`)
const OPEN = statement(`
  INSERT INTO status_list (list, used, lost) VALUES (:list, 0, false) ON CONFLICT (list) DO NOTHING`)
const TAKE = statement(`
  INSERT INTO status_slot (list, slot, document_hash, root) VALUES (:list, :slot, :hash, :root)
  ON CONFLICT DO NOTHING RETURNING list, slot`)
const COUNT = statement('UPDATE status_list SET used = used + 1 WHERE list = :list')
const SELECT_LIST = statement('SELECT lost FROM status_list WHERE list = :list')
const SELECT_ENTRIES = statement(`
  SELECT slot, document_hash, root,
    EXISTS (SELECT 1 FROM tombstone WHERE tombstone.hash = document_hash) AS erased
  FROM status_slot WHERE list = :list`)
const SELECT_KNOWN = statement(`
  SELECT hash AS document_hash, batch, ${IS_PENDING} AS pending,
    EXISTS (SELECT 1 FROM tombstone WHERE tombstone.hash = record.hash) AS erased,
    (SELECT whole.root FROM batch AS whole WHERE whole.id = batch) AS root
  FROM record WHERE ${IS_PROMISED}`)
const SELECT_BATCHES = statement('SELECT id, size FROM batch WHERE promised')

const NO_ROOT = new Uint8Array()

/** The places of documents in status lists. */
export function createStatusSlots({ durableSnapshot, write, snapshot }: Database): StatusSlots {
  return {
    async take({ documentHash, root }, indexesIn) {
      const key = { hash: fromHex(documentHash), root: root ? fromHex(root) : NO_ROOT }
      const kept = await durableSnapshot(() => first(SELECT_SLOT, key))
      return kept ? slotOf(kept) : write(() => take(key, indexesIn))
    },
    entries: (list) =>
      snapshot(function* () {
        const row = yield* first(SELECT_LIST, { list })
        if (!row) return undefined
        const rows = yield* all(SELECT_ENTRIES, { list })
        const entries = rows.map((row) => ({ index: Number(row.slot), ...knownOf(row) }))
        return { entries, isLost: isSet(row.lost) }
      }),
    known: () => snapshot(readKnown),
  }
}

function* readKnown(): Work<KnownDocuments> {
  const rows = yield* all(SELECT_KNOWN)
  const sizes = new Map<number, number>()
  for (const { batch } of rows)
    if (batch !== null) sizes.set(Number(batch), (sizes.get(Number(batch)) ?? 0) + 1)
  const batches = yield* all(SELECT_BATCHES)
  return {
    documents: rows.map(knownOf),
    alone: rows.filter(({ batch, pending }) => batch === null && !isSet(pending)).length,
    batches: batches.filter(({ id, size }) => sizes.get(Number(id)) === Number(size)).length,
  }
}

function knownOf({ document_hash, root, erased }: Row): Known {
  const hasRoot = root !== null && (root as Uint8Array).length > 0
  return {
    documentHash: hexOf(document_hash),
    ...(hasRoot && { root: hexOf(root) }),
    erased: isSet(erased),
  }
}

function* take(
  key: { hash: Uint8Array; root: Uint8Array },
  indexesIn: (list: number) => readonly number[],
): Work<Slot> {
  yield* all(LOCK)
  const kept = yield* first(SELECT_SLOT, key)
  if (kept) return slotOf(kept)
  const open = yield* first(SELECT_OPEN)
  for (let list = Number(open?.list); ; list++) {
    yield* all(OPEN, { list })
    for (const slot of indexesIn(list)) {
      const taken = yield* first(TAKE, { ...key, list, slot })
      if (!taken) continue
      yield* all(COUNT, { list })
      return slotOf(taken)
    }
  }
}

function slotOf({ list, slot }: Row): Slot {
  return { list: Number(list), index: Number(slot) }
}

const DELETE_SPENT = statement('DELETE FROM spent_nonce WHERE expires_at <= :now')
const SPEND = statement(`
  INSERT INTO spent_nonce (nonce, expires_at) VALUES (:value, :expiresAt)
  ON CONFLICT (nonce) DO NOTHING RETURNING nonce`)

const SELECT_SPENT = statement('SELECT nonce FROM spent_nonce WHERE nonce = :value')

const DELETE_EXPIRED = statement('DELETE FROM used_offer WHERE expires_at <= :now')
/** The update that changes nothing keeps other transactions from the row. */
const LOCK_OFFER = statement(`
  INSERT INTO used_offer (offer, expires_at) VALUES (:digest, :expiresAt)
  ON CONFLICT (offer) DO UPDATE SET expires_at = excluded.expires_at RETURNING uses, tries`)
const COUNT_USE = statement('UPDATE used_offer SET uses = uses + 1 WHERE offer = :digest')
const COUNT_TRY = statement('UPDATE used_offer SET tries = tries + 1 WHERE offer = :digest')

/** Counts what wallets use. Nothing in it says for which document. */
export function createCredentialStore({ write }: Pick<Database, 'write'>): CredentialStore {
  const now = () => Math.floor(clock.now() / 1000)
  return {
    spend: (value, expiresAt) =>
      write(function* () {
        yield* all(DELETE_SPENT, { now: now() })
        return (yield* first(SPEND, { value, expiresAt })) !== undefined
      }),
    bind: (value, to, expiresAt) =>
      write(function* () {
        yield* all(DELETE_SPENT, { now: now() })
        const statement = (yield* first(SPEND, { value, expiresAt })) ? SPEND : SELECT_SPENT
        return (
          (yield* first(statement, {
            value: hash('sha256', Buffer.concat([value, to]), 'buffer'),
            expiresAt,
          })) !== undefined
        )
      }),
    redeem: ({ digest, expiresAt, uses, isRight }) =>
      write(function* () {
        yield* all(DELETE_EXPIRED, { now: now() })
        const used = yield* first(LOCK_OFFER, { digest, expiresAt })
        if (Number(used?.uses) >= uses || Number(used?.tries) >= MAX_TRIES) return 'used_up'
        yield* all(isRight ? COUNT_USE : COUNT_TRY, { digest })
        return isRight ? 'redeemed' : 'wrong'
      }),
  }
}
