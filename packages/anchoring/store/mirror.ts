import { clock } from '#base/clock.ts'
import type { MirrorRows, Unpinned } from '#promise/ports.ts'
import type { Health } from './binding.ts'
import { type Database, MAX_GROUP } from './database.ts'
import { all, first, numberOrNull, type Row, statement, type Work } from './sql.ts'

const HASH_BYTES = 32

/** @returns The hashes that were written one after another. */
export function partsOf(hashes: Uint8Array): Uint8Array[] {
  return Array.from({ length: hashes.length / HASH_BYTES }, (_, i) =>
    hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES),
  )
}

const HAS_MIRROR = 'EXISTS (SELECT 1 FROM mirror)'
const ADD = statement(
  (sql) => `
    INSERT INTO unpinned (hashes, since)
    SELECT ${sql.value('hashes', 'bytes')}, ${sql.nowMs} WHERE ${HAS_MIRROR}`,
)
const ADD_DRAFTS = statement(
  (sql) => `
    INSERT INTO unpinned (hashes, since)
    SELECT hashes, ${sql.nowMs} FROM batch_draft
    WHERE request = :request AND hashes IS NOT NULL AND ${HAS_MIRROR}`,
)

/** Lets payloads be pinned, if there is a Kubo node. */
export function* pinLater(hashes: readonly Uint8Array[]): Work<void> {
  if (hashes.length > 0) yield* all(ADD, { hashes: Buffer.concat(hashes) })
}

/** Same for what the request of a batch has stored. */
export function* pinDraftsLater(request: Uint8Array): Work<void> {
  yield* all(ADD_DRAFTS, { request })
}

const SELECT = statement('SELECT root, cursor, since FROM mirror')
const FORGET = statement('DELETE FROM mirror')
const FORGET_UNPINNED = statement('DELETE FROM unpinned')
const BEGIN = statement(
  (sql) => `INSERT INTO mirror (id, cursor, since) VALUES (1, :cursor, ${sql.nowMs})`,
)
const SELECT_UNPINNED = statement(`SELECT id, hashes FROM unpinned ORDER BY id LIMIT ${MAX_GROUP}`)
const SELECT_PAYLOADS = statement(
  (sql) => `SELECT hash, bytes FROM payload WHERE ${sql.isIn('hash', 'hashes', 'bytes')}`,
)
const SELECT_AFTER = statement(
  `SELECT hash, bytes FROM payload WHERE hash > :cursor ORDER BY hash LIMIT ${MAX_GROUP}`,
)
const SET_ROOT = statement('UPDATE mirror SET root = :root')
const SET_CURSOR = statement('UPDATE mirror SET cursor = :cursor')
const DELETE = statement((sql) => `DELETE FROM unpinned WHERE ${sql.isIn('id', 'rows', 'integer')}`)

/** @param database The database through the session of the gateway that leads. */
export function createMirrorRows(database: Database): MirrorRows {
  return {
    async root() {
      const [row] = await database.read(SELECT)
      return row && (row.root as Uint8Array | null)
    },
    begin: () =>
      database.write(function* () {
        yield* forget()
        yield* all(BEGIN, { cursor: new Uint8Array() })
      }),
    async forget() {
      if ((await database.read(SELECT)).length > 0) await database.write(forget)
    },
    next: () => database.snapshot(readNext),
    done: ({ payloads, rows }, root) =>
      database.write(function* () {
        if (root) yield* all(SET_ROOT, { root })
        if (rows) yield* all(DELETE, { rows })
        else yield* all(SET_CURSOR, { cursor: payloads.at(-1)?.hash ?? null })
      }),
  }
}

function* forget(): Work<void> {
  yield* all(FORGET)
  yield* all(FORGET_UNPINNED)
}

function* readNext(): Work<Unpinned | undefined> {
  const rows: number[] = []
  const hashes: Uint8Array[] = []
  for (const row of yield* all(SELECT_UNPINNED)) {
    const some = partsOf(row.hashes as Uint8Array)
    if (rows.length > 0 && hashes.length + some.length > MAX_GROUP) break
    rows.push(Number(row.id))
    hashes.push(...some)
  }
  if (rows.length > 0)
    return { rows, hashes, payloads: (yield* all(SELECT_PAYLOADS, { hashes })).map(payloadOf) }
  const cursor = (yield* first(SELECT))?.cursor ?? null
  if (cursor === null) return undefined
  const payloads = (yield* all(SELECT_AFTER, { cursor })).map(payloadOf)
  return { hashes: payloads.map(({ hash }) => hash), payloads }
}

function payloadOf({ hash, bytes }: Row): Unpinned['payloads'][number] {
  return { hash: hash as Uint8Array, bytes: bytes as Uint8Array }
}

const SELECT_OLDEST = statement('SELECT since FROM unpinned ORDER BY id LIMIT 1')

/** @returns For how many milliseconds payloads have waited for the Kubo node, if there is one. */
export function* mirrorLag(): Work<number | undefined> {
  const row = yield* first(SELECT)
  if (!row) return undefined
  const oldest = numberOrNull((yield* first(SELECT_OLDEST))?.since ?? null)
  const since = row.cursor === null ? oldest : Math.min(Number(row.since), oldest ?? Infinity)
  return since === null ? 0 : Math.max(0, clock.wall() - since)
}

const MAX_LAG_MS = 300_000

/** @returns A finding when payloads wait too long for the Kubo node. */
export function* mirrorHealth(): Work<Health[]> {
  const lag = (yield* mirrorLag()) ?? 0
  if (lag <= MAX_LAG_MS) return []
  return [
    {
      outcome: 'warn',
      message: `payloads have waited for ${Math.floor(lag / 60_000)} minutes to be pinned on Kubo`,
      advice: 'the log has the reason: payloads_not_pinned; see docs/operate.md#payloads-on-kubo',
    },
  ]
}
