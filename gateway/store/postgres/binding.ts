import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { bindingProblems } from '../binding.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import { DatabaseUrlError } from '../drivers/postgres/errors.ts'
import type { Query } from '../drivers/postgres/query.ts'
import type { Binding } from '../stores.ts'

/** Begins the names of leases of commands that fill a database. The row stays until it is full. */
export const UNFINISHED = 'fill by '

/**
 * Binds a new database to its registry, issuer and issuer secrets. Adds to a bound one the
 * fingerprints of newer secrets.
 *
 * @param options `mayBeUnfinished`: also one that a command has not filled yet.
 * @throws {DatabaseUrlError} when it is bound to another owner, whose promises this one could not
 * keep.
 */
export function bind(
  { transaction }: Pick<Postgres, 'transaction'>,
  binding: Binding,
  { mayBeUnfinished = false } = {},
): Promise<void> {
  return transaction(async (query) => {
    await query('LOCK TABLE bound_to IN SHARE ROW EXCLUSIVE MODE')
    if (!mayBeUnfinished) await assertFilled(query)
    const bound = await readBinding(query)
    const problems = bound ? bindingProblems(bound, binding) : []
    if (problems.length > 0)
      throw new DatabaseUrlError(
        `leads to the database of another gateway:\n${problems.map((one) => `  - ${one}`).join('\n')}\n  Or set another DATABASE_URL.`,
      )
    if (!bound)
      await query('INSERT INTO bound_to (registry, issuer_id) VALUES ($1, $2)', [
        binding.registry,
        binding.issuerId,
      ])
    for (const fingerprint of binding.fingerprints.toReversed())
      await query('INSERT INTO issuer_secret (fingerprint) VALUES ($1) ON CONFLICT DO NOTHING', [
        fingerprint,
      ])
  })
}

async function assertFilled(query: Query): Promise<void> {
  const [row] = await query('SELECT name FROM lease WHERE starts_with(name, $1) LIMIT 1', [
    UNFINISHED,
  ])
  if (!row) return
  const command = String(row.name).slice(UNFINISHED.length)
  throw new DatabaseUrlError(
    `leads to a database that \`docreg-gateway ${command}\` has not finished: run that again`,
  )
}

/** @returns `undefined` for a database that no gateway has used. */
export async function readBinding(query: Query): Promise<Binding | undefined> {
  const [row] = await query('SELECT registry, issuer_id FROM bound_to')
  if (!row) return undefined
  const secrets = await query('SELECT fingerprint FROM issuer_secret ORDER BY id DESC')
  return {
    registry: row.registry as RegistryId,
    issuerId: Number(row.issuer_id),
    fingerprints: secrets.map(({ fingerprint }) => fingerprint as Hex),
  }
}
