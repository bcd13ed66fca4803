import {
  type Dialect,
  type Kind,
  type Row,
  type Statement,
  type Step,
  type Values,
  type Work,
  withMarks,
} from '../../sql.ts'
import { typeOf } from '../../tables.ts'
import type { Query } from './connection.ts'

const cast = (name: string, kind: Kind, isArray = false) =>
  `:${name}::${typeOf('postgres', kind)}${isArray ? '[]' : ''}`

export const POSTGRES: Dialect = {
  name: 'postgres',
  items: (columns) =>
    `unnest(${Object.entries(columns)
      .map(([name, kind]) => cast(name, kind, true))
      .join(', ')}) WITH ORDINALITY AS item (${Object.keys(columns).join(', ')}, place)`,
  added: (column) => `RETURNING ${column}`,
  isIn: (column, list, kind) => `${column} = ANY(${cast(list, kind, true)})`,
  value: (name, kind) => cast(name, kind),
  larger: (one, other) => `greatest(${one}, ${other})`,
  smaller: (one, other) => `least(${one}, ${other})`,
  now: 'floor(extract(epoch FROM now()))::bigint',
  nowMs: 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  forUpdate: (table) => `FOR UPDATE OF ${table}`,
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  unindexed: '',
}

type Written = { text: string; names: string[]; hasRows: boolean }

const known = new WeakMap<Statement, Written>()

function written(statement: Statement): Written {
  const found = known.get(statement)
  if (found) return found
  const marked = withMarks(statement.write(POSTGRES), (number) => `$${number}`)
  // What a lock returns says nothing.
  const isSilent = /^\s*(INSERT|UPDATE|DELETE|SELECT pg_advisory_xact_lock)\b/.test(marked.text)
  const hasRows = !isSilent || /\bRETURNING\b/.test(marked.text)
  known.set(statement, { ...marked, hasRows })
  return { ...marked, hasRows }
}

/** Runs a statement; see `each` for the items. */
export async function runStatement(
  query: Query,
  statement: Statement,
  values: Values = {},
  items?: readonly Values[],
): Promise<Row[]> {
  const { text, names } = written(statement)
  if (text === '' || items?.length === 0) return []
  const [first] = items ?? []
  const valuesNamed = (name: string) =>
    first && name in first ? items?.map((item) => item[name] ?? null) : values[name]
  return query(text, names.map(valuesNamed))
}

/**
 * Runs the steps of a work, one after the other. Where a step gives no rows, the next one does not
 * wait for the server's answer.
 */
export async function runWork<T>(query: Query, work: () => Work<T>): Promise<T> {
  const unread: Promise<Row[]>[] = []
  try {
    const steps = work()
    let step = steps.next()
    while (!step.done) {
      const rows = runStep(query, step.value)
      if ('statement' in step.value && written(step.value.statement).hasRows)
        step = steps.next(await rows)
      else {
        rows.catch(() => {})
        unread.push(rows)
        step = steps.next([])
      }
    }
    await Promise.all(unread)
    return step.value
  } catch (error) {
    // After a failure the server refuses everything: the first one is the cause.
    await Promise.all(unread)
    throw error
  }
}

async function runStep(query: Query, step: Step): Promise<Row[]> {
  if ('notify' in step) {
    await query('SELECT pg_notify($1, $2)', [step.notify, step.payload])
    return []
  }
  return runStatement(query, step.statement, step.values, step.each)
}
