import type { ClientBase } from 'pg'
import { outageOf } from './errors.ts'

/** A row as the driver reads it: `bytea` as bytes, `bigint` as a number. */
export type Row = Record<string, unknown>

/**
 * Runs one statement.
 *
 * @param values For `$1` and so on. Bytes are `bytea`, an array is an array, `undefined` is NULL.
 * @throws {IssueError} `store_unavailable`.
 */
export type Query = <R extends Row = Row>(text: string, values?: readonly unknown[]) => Promise<R[]>

/** Names by text: the server then plans each statement once for a connection. */
const names = new Map<string, string>()

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

/** @returns Statements on one connection; each text must be one of a few, as it is prepared. */
export function queryOn(client: Pick<ClientBase, 'query'>): Query {
  return async <R extends Row>(text: string, values: readonly unknown[] = []) => {
    try {
      const { rows } = await client.query({ name: nameOf(text), text, values: [...values] })
      return rows as R[]
    } catch (error) {
      throw outageOf(error)
    }
  }
}
