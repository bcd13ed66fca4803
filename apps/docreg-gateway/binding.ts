import type { Identity } from '#parts/chain.ts'
import { fingerprintsOf } from '#settings/secrets.ts'
import type { Binding } from '#store/binding.ts'

/** @returns The owner of a database. */
export function bindingOf({ registry, issuerId, issuerSecrets }: Identity): Binding {
  return { registry, issuerId, fingerprints: fingerprintsOf(issuerSecrets) }
}
