import { clock } from '#base/clock.ts'
import type { Database } from '#store/database.ts'
import { all, first, onPostgres, type Row, statement, type Work } from '#store/sql.ts'
import type { KindStore, KindUpdate, KindVersion } from './ports.ts'

// Changes of kinds come one after another. Any other number would do.
const LOCK = onPostgres('SELECT pg_advisory_xact_lock(7160024)')
const SELECT_CURRENT = statement(
  'SELECT category, version FROM kind WHERE ended_at IS NULL ORDER BY category',
)
const SELECT_ALL = statement('SELECT * FROM kind WHERE ended_at IS NULL ORDER BY category')
const SELECT_AT = statement(`
  SELECT * FROM kind WHERE begun_at <= :time AND (ended_at IS NULL OR ended_at > :time)
  ORDER BY category`)
const SELECT_ONE = statement('SELECT * FROM kind WHERE category = :category AND ended_at IS NULL')
const SELECT_VERSION = statement(
  'SELECT * FROM kind WHERE category = :category AND version = :version',
)
const COUNT = statement(`
  SELECT count(*) AS versions, count(CASE WHEN ended_at IS NULL THEN 1 END) AS kinds,
    coalesce(max(CASE WHEN category = :category THEN version END), 0) AS newest
  FROM kind`)
const END = statement(
  'UPDATE kind SET ended_at = :now WHERE category = :category AND ended_at IS NULL',
)
const INSERT = statement(`
  INSERT INTO kind (category, version, bytes, begun_at)
  VALUES (:category, :version, :bytes, :begunAt)`)

export function createKindStore({ read, write, brief }: Database): KindStore {
  return {
    async current() {
      const rows = await brief(() => read(SELECT_CURRENT))
      return rows.map(({ category, version }) => ({
        category: String(category),
        version: Number(version),
      }))
    },
    async list(time) {
      const rows = await brief(() =>
        time === undefined ? read(SELECT_ALL) : read(SELECT_AT, { time }),
      )
      return rows.map(versionOf)
    },
    async get(category, version) {
      const [row] = await brief(() =>
        version === undefined
          ? read(SELECT_ONE, { category })
          : read(SELECT_VERSION, { category, version }),
      )
      return row && versionOf(row)
    },
    update: (category, update) => write(() => change(category, update)),
  }
}

function* change(
  category: string,
  { next, basedOn, most }: KindUpdate,
): Work<KindVersion | 'changed' | 'too_many' | undefined> {
  yield* all(LOCK)
  const row = yield* first(SELECT_ONE, { category })
  const current = row && versionOf(row)
  const counted = yield* first(COUNT, { category })
  const version = Number(counted?.newest) + 1
  const bytes = next(version, current)
  if (bytes === 'keep') return current
  if (basedOn !== undefined && basedOn !== (current?.version ?? 0)) return 'changed'
  const kinds = Number(counted?.kinds) + (current ? 0 : 1)
  const isFull = kinds > most.kinds || Number(counted?.versions) >= most.versions
  if (bytes !== 'end' && isFull) return 'too_many'
  const begunAt = clock.wall()
  yield* all(END, { category, now: begunAt })
  if (bytes === 'end') return undefined
  yield* all(INSERT, { category, version, bytes, begunAt })
  return { category, version, bytes, begunAt }
}

function versionOf(row: Row): KindVersion {
  return {
    category: String(row.category),
    version: Number(row.version),
    bytes: new Uint8Array(row.bytes as Uint8Array),
    begunAt: Number(row.begun_at),
  }
}
