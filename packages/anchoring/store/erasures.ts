import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { ErasedFrom, Erasure, Erasures, RemainsIn } from '#promise/erase.ts'
import { noteErasing } from './changes.ts'
import { type Database, lockOutcomes } from './database.ts'
import type { ErasureList } from './erasure-list.ts'
import { appendEvents } from './outcomes.ts'
import { deletePayloads } from './payloads.ts'
import {
  all,
  each,
  first,
  hexOf,
  isSet,
  notify,
  numberOrNull,
  type Row,
  statement,
  type Work,
} from './sql.ts'

/**
 * The number of erasures that are finished together, because with SQLite the whole file is searched
 * for each.
 */
const MAX_ERASED_TOGETHER = 16

/** The channel that tells gateways that an erasure has begun. The payload is the documentHash. */
export const ERASURE_CHANNEL = 'docreg_erasure'
/**
 * The number of bytes at the end of a sealed document, which are random and enough to find a copy.
 */
const PROBE_BYTES = 32

/** Makes sure that erased bytes are gone, as far as a database can. */
export type Scrubber = {
  /**
   * Resolves when copies are at most in the places of the receipt.
   *
   * @param hashes The hashes of the documents.
   * @param probes The ends of the documents that the database had.
   */
  scrub(hashes: readonly Uint8Array[], probes: readonly Uint8Array[]): Promise<void>
  /** @param hadBytes Whether the database had the bytes when the erasure began. */
  remainsIn(hadBytes: boolean): readonly RemainsIn[]
  /** An expression for the value of `erasure.written_by`. */
  readonly writtenBy: string
}

const SELECT = statement('SELECT * FROM erasure WHERE hash = :hash')
const SELECT_UNFINISHED = statement(`
  SELECT hash FROM erasure WHERE erased_at IS NULL
  ORDER BY requested_at LIMIT ${MAX_ERASED_TOGETHER}`)
const SELECT_PROBES = statement(
  (sql) => `
    SELECT probe FROM erasure WHERE probe IS NOT NULL AND ${sql.isIn('hash', 'hashes', 'bytes')}`,
)
const FINISH = statement(
  (sql) => `
    UPDATE erasure SET erased_at = coalesce(erased_at, ${sql.value('now', 'integer')}),
      probe = NULL, from_kubo = erasure.from_kubo OR item.from_kubo
    FROM ${sql.items({ hash: 'bytes', from_kubo: 'flag' })} WHERE erasure.hash = item.hash`,
)
const SELECT_NEW = statement(
  (sql) => `
    SELECT hash, tenant FROM erasure
    WHERE erased_at IS NULL AND ${sql.isIn('hash', 'hashes', 'bytes')} ORDER BY requested_at`,
)
const SELECT_WANTED = statement(
  (sql) => `
    SELECT item.hash AS hash FROM ${sql.items({ hash: 'bytes' })}
    WHERE NOT EXISTS (SELECT 1 FROM erasure WHERE erasure.hash = item.hash)
      OR EXISTS (SELECT 1 FROM payload WHERE payload.hash = item.hash)`,
)

/** The erasures in a database. */
export function createErasures(
  database: Database,
  scrubber: Scrubber,
  list: ErasureList,
): Erasures & { mergeList(): Promise<number> } {
  const mark = createMark(scrubber)
  const erasureOf = (row: Row): Erasure => {
    const removed: ErasedFrom[] = []
    if (isSet(row.from_database)) removed.push('database')
    if (isSet(row.from_kubo)) removed.push('kubo')
    return {
      documentHash: hexOf(row.hash),
      erasedAt: numberOrNull(row.erased_at),
      removed,
      remains: scrubber.remainsIn(isSet(row.from_database)),
    }
  }

  return {
    async begin(documentHash, tenant, actor) {
      const requestedAt = clock.wall()
      list.add(documentHash, requestedAt)
      return database.write(function* () {
        const hash = fromHex(documentHash)
        if (!(yield* first(SELECT, { hash }))) yield* noteErasing(hash, actor, tenant)
        yield* mark(documentHash, requestedAt, tenant)
        return erasureOf((yield* first(SELECT, { hash })) as Row)
      })
    },
    async find(documentHash) {
      const [row] = await database.read(SELECT, { hash: fromHex(documentHash) })
      return row && erasureOf(row)
    },
    async unfinished() {
      const rows = await database.brief(() => database.read(SELECT_UNFINISHED))
      return rows.map(({ hash }) => hexOf(hash))
    },
    async finish(documentHashes, removed) {
      const hashes = documentHashes.map(fromHex)
      const probes = await database.read(SELECT_PROBES, { hashes })
      await scrubber.scrub(
        hashes,
        probes.map(({ probe }) => inverted(probe as Uint8Array)),
      )
      await database.write(() => finish(documentHashes, removed))
    },
    listen: (begun) => database.listen(ERASURE_CHANNEL, begun),
    /**
     * Begins each erasure of the list that this database does not have, or whose document it has
     * again, because the database may be older than the list.
     *
     * @returns The number of these erasures.
     */
    async mergeList() {
      const items = [...new Set(list.read())].map((hash) => ({ hash: fromHex(hash) }))
      if (items.length === 0) return 0
      const wanted = await database.read(SELECT_WANTED, {}, items)
      for (const { hash } of wanted)
        await database.write(() => mark(hexOf(hash), clock.wall(), null))
      return wanted.length
    },
  }
}

function* finish(documentHashes: readonly Hex[], removed: ReadonlySet<Hex>): Work<void> {
  const hashes = documentHashes.map(fromHex)
  const now = clock.wall()
  yield* lockOutcomes()
  yield* deletePayloads(hashes)
  const ended = yield* all(SELECT_NEW, { hashes })
  yield* each(
    FINISH,
    documentHashes.map((hash) => ({ hash: fromHex(hash), from_kubo: removed.has(hash) })),
    { now },
  )
  yield* appendEvents(
    ended.map(({ hash, tenant }) => ({
      type: 'document.erased',
      hash: hexOf(hash),
      place: null,
      tenant: tenant as string | null,
      hasOwner: true,
    })),
  )
}

const BURY = statement('INSERT INTO tombstone (hash) VALUES (:hash) ON CONFLICT DO NOTHING')
const SELECT_BYTES = statement('SELECT bytes FROM payload WHERE hash = :hash')
const FORGET_CONTENT = statement(
  'UPDATE record SET subject = NULL, category = NULL, request = NULL WHERE hash = :hash',
)
const insertInto = (writtenBy: string) =>
  statement(
    (sql) => `
      INSERT INTO erasure (hash, requested_at, from_database, probe, tenant, written_by)
      VALUES (:hash, :requestedAt, :hadBytes, :probe, :tenant, ${writtenBy})
      ON CONFLICT (hash) DO UPDATE SET erased_at = NULL, from_database = true,
        probe = excluded.probe, written_by = excluded.written_by
      WHERE ${sql.value('hadBytes', 'flag')}`,
  )

/** @returns A function that deletes a document's bytes and records its erasure. */
function createMark({ writtenBy }: Scrubber) {
  const insert = insertInto(writtenBy)
  return function* (documentHash: Hex, requestedAt: number, tenant: string | null): Work<void> {
    const hash = fromHex(documentHash)
    const row = yield* first(SELECT_BYTES, { hash })
    const bytes = row?.bytes as Uint8Array | undefined
    yield* all(BURY, { hash })
    yield* deletePayloads([hash])
    yield* all(FORGET_CONTENT, { hash })
    // The bytes are inverted, so that a search of the file does not find them here.
    const probe = bytes && inverted(bytes.subarray(-PROBE_BYTES))
    const hadBytes = bytes !== undefined
    yield* all(insert, { hash, requestedAt, hadBytes, probe, tenant })
    yield* notify(ERASURE_CHANNEL, documentHash)
  }
}

const inverted = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff)

const MERGE_RETRY_INTERVAL_MS = 1_000

/**
 * Merges the list of erasures whenever the connection to the database is a new one, until that has
 * succeeded: after a failover the database may be older than the list.
 *
 * @returns A function that stops it.
 */
export function onNewConnection(
  { listen }: Pick<Database, 'listen'>,
  merge: () => Promise<void>,
  log: Log,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  /** Whether there is a connection for which the list was not merged. */
  let isDue = false
  let merging: Promise<void> | undefined

  async function mergeWhileDue(): Promise<void> {
    while (isDue && !signal.aborted) {
      isDue = false
      try {
        await merge()
      } catch (error) {
        isDue = true
        log.warn('erasures_not_merged', { error: String(error) })
        await sleep(MERGE_RETRY_INTERVAL_MS, undefined, { signal }).catch(() => {})
      }
    }
    merging = undefined
  }

  const end = listen(ERASURE_CHANNEL, (hash) => {
    if (hash !== undefined) return
    isDue = true
    merging ??= mergeWhileDue()
  })
  return async () => {
    end()
    stopping.abort()
    await merging
  }
}
