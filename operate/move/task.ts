import type { Identity } from '#parts/chain.ts'
import type { Config } from '#settings/config.ts'
import { fingerprintsOf } from '#settings/secrets.ts'
import type { Binding } from '#store/stores.ts'
import type { Side } from '../tables/rows.ts'

/** One move. */
export type Task = {
  config: Config
  databaseUrl: string
  identity: Identity
  say(line: string): void
  /** Checks the original against the chain. */
  check(original: Side): Promise<void>
}

export function bindingOf({ registry, issuerId, issuerSecrets }: Identity): Binding {
  return { registry, issuerId, fingerprints: fingerprintsOf(issuerSecrets) }
}
