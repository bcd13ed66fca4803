import type { DatabaseSync } from 'node:sqlite'
import type { Hex } from '../../../document/hex.ts'
import type { Binding } from '../stores.ts'
import { DataDirError } from './data-dir-error.ts'

/** Hexadecimal digits that messages show of a fingerprint. */
const SHOWN_DIGITS = 16

/** @returns The start of a fingerprint, as messages show it. */
export function shortFingerprint(fingerprint: Hex): string {
  return `${fingerprint.slice(0, 2 + SHOWN_DIGITS)}…`
}

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
  const differences = bound
    ? [...differencesOf(bound, binding), ...secretProblems(known, binding.fingerprints)]
    : []
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

function differencesOf(bound: Omit<Binding, 'fingerprints'>, configured: Binding): string[] {
  return [
    bound.registry !== configured.registry &&
      `its registry is ${bound.registry}, not ${configured.registry}: set RPC_URL and REGISTRY_ADDRESS to that one`,
    bound.issuerId !== configured.issuerId &&
      `its issuer is number ${bound.issuerId}, not ${configured.issuerId}: set ISSUER_ID to ${bound.issuerId}`,
  ].filter((difference) => difference !== false)
}

/**
 * A missing secret would lose documents and issue repeated requests twice. The order matters too:
 * the first secret seals.
 */
function secretProblems(known: readonly Hex[], configured: readonly Hex[]): string[] {
  const where = 'ISSUER_SECRET, or DATA_DIR/secrets/issuer.secret'
  const missing = known.filter((fingerprint) => !configured.includes(fingerprint))
  if (missing.length > 0)
    return missing.map(
      (fingerprint) =>
        `its issuer secret with the fingerprint ${shortFingerprint(fingerprint)} is missing (configured: ${listed(configured)}): add that secret to ${where}`,
    )
  const older = configured.slice(configured.length - known.length)
  if (older.every((fingerprint, i) => fingerprint === known[i])) return []
  return [
    `its issuer secrets are in another order (configured: ${listed(configured)}): put the newest first and then ${listed(known)}, in ${where}`,
  ]
}

function listed(fingerprints: readonly Hex[]): string {
  return fingerprints.map(shortFingerprint).join(', ')
}
