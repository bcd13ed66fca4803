import type { DatabaseSync } from 'node:sqlite'
import type { Hex } from '#document/hex.ts'
import { bindingProblems } from '../binding.ts'
import { DataDirError } from '../drivers/sqlite/data-dir-error.ts'
import type { Binding } from '../stores.ts'

/**
 * Binds a new file. Adds to a bound file the fingerprints of newer secrets.
 *
 * @throws {DataDirError} `bound_to_another`, with every difference and its remedy: another owner
 * could not keep the promises in the file.
 */
export function bind(sqlite: DatabaseSync, binding: Binding): void {
  const bound = sqlite.prepare('SELECT registry, issuer_id AS issuerId FROM bound_to').get() as
    | Omit<Binding, 'fingerprints'>
    | undefined
  const known = fingerprintsIn(sqlite)
  const differences = bound ? bindingProblems({ ...bound, fingerprints: known }, binding) : []
  if (differences.length > 0)
    throw new DataDirError(
      'bound_to_another',
      `belongs to another gateway:\n${differences.map((difference) => `  - ${difference}`).join('\n')}`,
      '\n  Or start with another DATA_DIR.',
    )
  sqlite.exec('BEGIN IMMEDIATE')
  if (!bound)
    sqlite.prepare('INSERT INTO bound_to VALUES (?, ?)').run(binding.registry, binding.issuerId)
  const insert = sqlite.prepare(
    'INSERT INTO issuer_secret (fingerprint) VALUES (?) ON CONFLICT DO NOTHING',
  )
  for (const fingerprint of binding.fingerprints.toReversed()) insert.run(fingerprint)
  sqlite.exec('COMMIT')
}

/** @returns The fingerprints in the file, the newest first. */
export function fingerprintsIn(sqlite: DatabaseSync): Hex[] {
  return sqlite
    .prepare('SELECT fingerprint FROM issuer_secret ORDER BY id DESC')
    .all()
    .map(({ fingerprint }) => fingerprint as Hex)
}
