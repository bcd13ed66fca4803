import type { Binding } from '../../gateway/adapters/stores.ts'
import type { Config } from '../../gateway/config.ts'
import type { Identity } from '../../gateway/open-chain.ts'
import { fingerprintsOf } from '../../gateway/secrets.ts'
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
