import type { Hex } from '#document/hex.ts'
import type { Health } from './command-database.ts'
import type { Binding } from './stores.ts'

/** Hexadecimal digits that messages show of a fingerprint. */
const SHOWN_DIGITS = 16

/** @returns The start of a fingerprint, as messages show it. */
export function shortFingerprint(fingerprint: Hex): string {
  return `${fingerprint.slice(0, 2 + SHOWN_DIGITS)}…`
}

/**
 * Compares the owner of a database with who opens it: another one could not keep the promises in
 * it.
 *
 * @param bound With all fingerprints that it knows.
 * @returns Each difference, with its remedy.
 */
export function bindingProblems(bound: Binding, configured: Binding): string[] {
  return [
    ...differencesOf(bound, configured),
    ...secretProblems(bound.fingerprints, configured.fingerprints),
  ]
}

/**
 * @param version What else to say of a database that is well.
 * @param known The fingerprints in the database.
 * @param configured Those of the settings; absent when they name none.
 */
export function secretHealth(
  version: string,
  known: readonly Hex[],
  configured: readonly Hex[] = known,
): Health {
  const missing = known.filter((one) => !configured.includes(one))
  if (missing.length === 0)
    return {
      outcome: 'ok',
      message: `${version}, and all of its issuer secrets are configured`,
    }
  return {
    outcome: 'fail',
    message: `ISSUER_SECRET lacks the secret with the fingerprint ${missing.map(shortFingerprint).join(', ')}`,
    advice: 'add it, or the documents that it sealed cannot be opened',
  }
}

function differencesOf(bound: Binding, configured: Binding): string[] {
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
