import type { Identity } from '#parts/chain.ts'
import type { Config } from '#settings/config.ts'
import type { Side } from '../tables/rows.ts'

/** A move between two databases. */
export type Task = {
  config: Config
  databaseUrl: string
  identity: Identity
  say(line: string): void
  /** Checks the original against the chain. */
  check(original: Side): Promise<void>
}
