import type { DatabaseSync } from 'node:sqlite'
import type { Hex } from '../../document/hex.ts'
import { DataDirError } from './data-dir-error.ts'

/**
 * Whom the documents and promises of a file belong to. The issuer's account is not among it: an
 * issuer may have several.
 */
export type Binding = {
  /** CAIP-10, lower case. */
  registry: string
  issuerId: number
  /** Of the issuer secrets, the newest first; see `fingerprintOf`. */
  fingerprints: readonly Hex[]
}

/** Hexadecimal digits that messages show of a fingerprint. */
const SHOWN_DIGITS = 16

/** @returns The start of a fingerprint, as messages and the start show it. */
export function shortFingerprint(fingerprint: Hex): string {
  return `${fingerprint.slice(0, 2 + SHOWN_DIGITS)}…`
}

/**
 * Binds a new file. A file that is bound learns the secrets that it does not know yet.
 *
 * @throws {DataDirError} `bound_to_another`, with all that differs and what to do about it: what is
 *   promised in the file could not be kept there.
 */
export function bind(sqlite: DatabaseSync, binding: Binding): void {
  const bound = sqlite.prepare('SELECT registry, issuer_id AS issuerId FROM bound_to').get() as
    | Omit<Binding, 'fingerprints'>
    | undefined
  const known = fingerprintsIn(sqlite)
  const differences = bound
    ? [...differencesOf(bound, binding), ...missingSecrets(known, binding.fingerprints)]
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
  const learn = sqlite.prepare(
    'INSERT INTO issuer_secret (fingerprint) VALUES (?) ON CONFLICT DO NOTHING',
  )
  for (const fingerprint of binding.fingerprints.toReversed()) learn.run(fingerprint)
  sqlite.exec('COMMIT')
}

/** @returns The fingerprints of the secrets that the file knows, the newest first. */
export function fingerprintsIn(sqlite: DatabaseSync): Hex[] {
  return sqlite
    .prepare('SELECT fingerprint FROM issuer_secret ORDER BY id DESC')
    .all()
    .map(({ fingerprint }) => fingerprint as Hex)
}

function differencesOf(bound: Omit<Binding, 'fingerprints'>, given: Binding): string[] {
  return [
    bound.registry !== given.registry &&
      `its registry is ${bound.registry}, not ${given.registry}: set RPC_URL and REGISTRY_ADDRESS to that one`,
    bound.issuerId !== given.issuerId &&
      `its issuer is number ${bound.issuerId}, not ${given.issuerId}: set ISSUER_ID to ${bound.issuerId}`,
  ].filter((difference) => difference !== false)
}

/** Without a secret, documents would be lost and repeats issued twice; the first one seals. */
function missingSecrets(known: readonly Hex[], given: readonly Hex[]): string[] {
  const where = 'ISSUER_SECRET, or DATA_DIR/secrets/issuer.secret'
  const missing = known.filter((fingerprint) => !given.includes(fingerprint))
  if (missing.length > 0)
    return missing.map(
      (fingerprint) =>
        `its issuer secret with the fingerprint ${shortFingerprint(fingerprint)} is missing (given: ${listed(given)}): add that secret to ${where}`,
    )
  const older = given.slice(given.length - known.length)
  if (older.every((fingerprint, i) => fingerprint === known[i])) return []
  return [
    `its issuer secrets are in another order (given: ${listed(given)}): put the newest first and then ${listed(known)}, in ${where}`,
  ]
}

function listed(fingerprints: readonly Hex[]): string {
  return fingerprints.map(shortFingerprint).join(', ')
}
