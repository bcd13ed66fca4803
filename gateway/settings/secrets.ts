import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { deriveSubkeys, fingerprintOf } from '#document/keys.ts'
import type { AllSubkeys } from '#promise/sealing.ts'

/**
 * @param secrets The issuer secrets, the newest first. @returns The subkeys of each, in the same
 * order.
 */
export function subkeysOf([newest, ...older]: readonly [Hex, ...Hex[]]): AllSubkeys {
  const subkeys = (secret: Hex) => deriveSubkeys(fromHex(secret))
  return [subkeys(newest), ...older.map(subkeys)]
}

/** @returns The fingerprints by which a data folder knows the secrets, in the same order. */
export function fingerprintsOf(secrets: readonly Hex[]): Hex[] {
  return secrets.map((secret) => toHex(fingerprintOf(fromHex(secret))))
}
