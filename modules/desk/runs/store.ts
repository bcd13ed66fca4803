import type { Database } from '#store/database.ts'
import { all, each, first, onPostgres, type Row, statement, type Work } from '#store/sql.ts'
import { insertItems } from '#store/tables.ts'
import type { CountedRun, MostRuns, Run, RunMode, RunState, RunStore, StoredRow } from './ports.ts'

// New runs come one after another, so that they can be counted. Any other number would do.
const LOCK = onPostgres('SELECT pg_advisory_xact_lock(7160026)')
const COUNT = statement(`
  SELECT count(*) AS runs, count(CASE WHEN tenant = :tenant THEN 1 END) AS own FROM run
  WHERE state IN ('loading', 'running')`)
const COUNT_KEPT = statement('SELECT count(*) AS runs FROM run WHERE owner = :owner')
const REMOVE_OLDEST = statement(`
  DELETE FROM run WHERE id = (
    SELECT id FROM run WHERE owner = :owner AND state = 'done' ORDER BY ended_at, id LIMIT 1)
  RETURNING id`)
const SELECT_RUN = statement('SELECT * FROM run WHERE id = :id')
const LISTED = `
  SELECT run.*, (SELECT count(*) FROM run_row WHERE run = run.id AND result IS NULL) AS open FROM run`
const SELECT_OWN = statement(`${LISTED} WHERE owner = :owner ORDER BY created_at DESC, id`)
const SELECT_ALL = statement(`${LISTED} ORDER BY created_at DESC, id`)
const SELECT_RUNNING = statement("SELECT * FROM run WHERE state = 'running' ORDER BY created_at")
const SELECT_COUNTED = statement(`${LISTED} WHERE id = :id`)
const INSERT_RUN = statement(`
  INSERT INTO run (id, tenant, owner, mode, size, content, state, reason, created_at, ended_at)
  VALUES (:id, :tenant, :owner, :mode, :size, :content, :state, :reason, :createdAt, :endedAt)`)
const INSERT_ROW = statement(
  (sql) => `
  ${insertItems(sql, 'run_row', 'line, sealed', { computed: { run: ':id' } })} WHERE true
  ON CONFLICT (run, line) DO NOTHING`,
)
const SELECT_ROWS = statement(`
  SELECT line, sealed, result FROM run_row WHERE run = :id AND line > :after
  ORDER BY line LIMIT :limit`)
const SELECT_NEXT = statement(`
  SELECT line, sealed, result FROM run_row WHERE run = :id AND line > :after AND result IS NULL
    AND EXISTS (SELECT 1 FROM run WHERE id = :id AND state = 'running')
  ORDER BY line LIMIT 1`)
const SETTLE = statement(
  (sql) => `
  UPDATE run_row SET result = item.result
  FROM ${sql.items({ id: 'text', line: 'integer', result: 'bytes' })}
  WHERE run_row.run = item.id AND run_row.line = item.line`,
)
const CHANGE = statement(`
  UPDATE run SET state = :state, reason = :reason, ended_at = :endedAt
  WHERE id = :id AND state = :from RETURNING id`)
const REMOVE = statement('DELETE FROM run WHERE id = :id RETURNING id')
const SELECT_OWNERS = statement('SELECT DISTINCT owner FROM run')
const REMOVE_OF = statement('DELETE FROM run WHERE owner = :owner')
const REMOVE_BEFORE = statement(`
  DELETE FROM run WHERE ended_at < :time OR (state = 'loading' AND created_at < :time)
  RETURNING id`)

type Settled = { id: string; line: number; result: Uint8Array }

export function createRunStore({ read, write, change, together }: Database): RunStore {
  // Rows that are issued one by one share transactions.
  const settle = together<Settled, void>({
    *work(results) {
      yield* each(SETTLE, results)
      return results.map(() => undefined)
    },
  })

  return {
    begin: (run, most) =>
      write(function* () {
        yield* all(LOCK)
        const before = yield* first(SELECT_RUN, { id: run.id })
        if (before) return runOf(before)
        if (!(yield* hasRoom(run, most))) return undefined
        const { owner } = run
        const isFull = Number((yield* first(COUNT_KEPT, { owner }))?.runs) >= most.each
        if (isFull && !(yield* first(REMOVE_OLDEST, { owner }))) return undefined
        yield* all(INSERT_RUN, run)
        return run
      }),
    resume: (run, most) =>
      write(function* () {
        yield* all(LOCK)
        if (!(yield* hasRoom(run, most))) return false
        const to = { state: 'running', reason: null, endedAt: null }
        yield* all(CHANGE, { id: run.id, from: 'stopped', ...to })
        return true
      }),
    async addRows(id, rows) {
      await change(INSERT_ROW, { id }, rows)
    },
    async find(id) {
      const [row] = await read(SELECT_COUNTED, { id })
      return row && countedOf(row)
    },
    async list(owner) {
      const rows = owner === undefined ? read(SELECT_ALL) : read(SELECT_OWN, { owner })
      return (await rows).map(countedOf)
    },
    async running() {
      return (await read(SELECT_RUNNING)).map(runOf)
    },
    async rows(id, after, limit) {
      return (await read(SELECT_ROWS, { id, after, limit })).map(rowOf)
    },
    async next(id, after) {
      const [row] = await read(SELECT_NEXT, { id, after })
      return row && rowOf(row)
    },
    async settle(id, results) {
      await Promise.all(results.map((result) => settle({ id, ...result })))
    },
    async change(id, from, to) {
      return (await change(CHANGE, { id, from, ...to })).length > 0
    },
    async remove(id) {
      return (await change(REMOVE, { id })).length > 0
    },
    async owners() {
      return (await read(SELECT_OWNERS)).map(({ owner }) => String(owner))
    },
    async removeOf(owner) {
      await change(REMOVE_OF, { owner })
    },
    async removeBefore(time) {
      return (await change(REMOVE_BEFORE, { time })).length
    },
  }
}

function* hasRoom({ tenant }: Run, most: MostRuns): Work<boolean> {
  const counted = yield* first(COUNT, { tenant })
  return Number(counted?.runs) < most.all && Number(counted?.own) < most.tenant
}

function runOf(row: Row): Run {
  return {
    id: String(row.id),
    tenant: String(row.tenant),
    owner: String(row.owner),
    mode: row.mode as RunMode,
    size: Number(row.size),
    content: new Uint8Array(row.content as Uint8Array),
    state: row.state as RunState,
    reason: row.reason === null ? null : String(row.reason),
    createdAt: Number(row.created_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
  }
}

function countedOf(row: Row): CountedRun {
  const run = runOf(row)
  return { ...run, done: run.state === 'loading' ? 0 : run.size - Number(row.open) }
}

function rowOf({ line, sealed, result }: Row): StoredRow {
  return {
    line: Number(line),
    sealed: new Uint8Array(sealed as Uint8Array),
    result: result === null ? null : new Uint8Array(result as Uint8Array),
  }
}
