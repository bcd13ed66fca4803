import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  type Dialect,
  type Row,
  type Statement,
  type Step,
  type Values,
  type Work,
  withMarks,
} from '../../sql.ts'

export const SQLITE: Dialect = {
  name: 'sqlite',
  items: () => ITEM,
  // RETURNING would take as long as the INSERT itself.
  added: (column) => `<added ${column}>`,
  isIn: (column, list, kind) =>
    `${column} IN (SELECT ${kind === 'bytes' ? 'unhex(value)' : 'value'} FROM json_each(:${list}))`,
  value: (name) => `:${name}`,
  larger: (one, other) => `max(${one}, ${other})`,
  smaller: (one, other) => `min(${one}, ${other})`,
  now: 'unixepoch()',
  nowMs: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  // Nobody else writes.
  forUpdate: () => '',
  skipLocked: '',
  unindexed: '+',
}

/**
 * A statement on items runs once for each, whose values stand in it as those of no item do: SQLite
 * then needs no table for it, and finds a row by an index.
 */
const ITEM = '<item>'

function withoutItems(text: string): string {
  return text
    .replaceAll(/FROM <item>\s+JOIN/g, 'FROM (SELECT 0) JOIN')
    .replaceAll(`FROM ${ITEM}`, '')
    .replaceAll('ORDER BY place', '')
    .replaceAll(/\bitem\.(\w+)/g, ':$1')
}

/** Runs the steps of a work, in the transaction that is under way. */
export type Run = {
  /** @throws what the work or SQLite throws. `hasChanged` says whether the work changed something. */
  work<T>(work: () => Work<T>, about?: { hasChanged: boolean }): T
  rows(statement: Statement, values?: Values, items?: readonly Values[]): Row[]
}

/** @param notified Gets the notifications of works. */
export function createRun(
  sqlite: DatabaseSync,
  notified: (channel: string, payload: string) => void = () => {},
): Run {
  const prepare = createPrepare(sqlite)

  function rows(statement: Statement, values: Values = {}, items?: readonly Values[]): Row[] {
    const { prepared, names, added } = prepare(statement)
    if (prepared === undefined) return []
    const parameters = names.map((name) => bound(values[name]))
    if (items === undefined) return prepared.all(...parameters)
    const found: Row[] = []
    const [first = {}] = items
    const own = names.flatMap((name, place) => (name in first ? [{ name, place }] : []))
    for (const item of items) {
      for (const { name, place } of own) parameters[place] = bound(item[name])
      if (added === undefined) for (const row of prepared.all(...parameters)) found.push(row)
      else if (prepared.run(...parameters).changes > 0) found.push({ [added]: item[added] })
    }
    return found
  }

  function run(step: Step, about?: { hasChanged: boolean }): Row[] {
    if ('notify' in step) {
      notified(step.notify, step.payload)
      return []
    }
    if (about && !prepare(step.statement).isRead) about.hasChanged = true
    return rows(step.statement, step.values, step.each)
  }

  return {
    rows,
    work(work, about) {
      const steps = work()
      let step = steps.next()
      while (!step.done) step = steps.next(run(step.value, about))
      return step.value
    },
  }
}

type Prepared = {
  prepared: StatementSync | undefined
  names: string[]
  isRead: boolean
  /** See `Dialect`. */
  added: string | undefined
}

/** Prepares each statement once, when it is first run. */
function createPrepare(sqlite: DatabaseSync): (statement: Statement) => Prepared {
  const known = new WeakMap<Statement, Prepared>()
  const byText = new Map<string, Prepared>()

  function prepareText(written: string): Prepared {
    const [marker, added] = /<added (\w+)>/.exec(written) ?? ['']
    const plain = withoutItems(written.replace(marker, ''))
    const { text, names } = withMarks(plain, (number) => `?${number}`)
    const isEmpty = text.trim() === ''
    const prepared = isEmpty ? undefined : sqlite.prepare(text)
    return { prepared, names, added, isRead: isEmpty || /^\s*SELECT\b/i.test(text) }
  }

  return (statement) => {
    const found = known.get(statement)
    if (found) return found
    const text = statement.write(SQLITE)
    const prepared = byText.get(text) ?? prepareText(text)
    byText.set(text, prepared)
    known.set(statement, prepared)
    return prepared
  }
}

function bound(value: unknown): SQLInputValue {
  if (value === undefined) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`
  return value as SQLInputValue
}

/** Numbers of 64 bits, which SQLite reads exactly. */
function jsonOf(value: unknown): string {
  if (value instanceof Uint8Array) return `"${Buffer.from(value).toString('hex')}"`
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
