import type { Log } from '#base/log.ts'
import { createKinds, type Kinds, typesUrlOf } from '#kinds/kinds.ts'
import type { KindStore } from '#kinds/ports.ts'
import type { Config } from '#settings/config.ts'
import type { Identity } from './chain.ts'

export function openKinds(
  { baseUrl }: Config,
  { issuerId }: Identity,
  store: KindStore,
  log: Log,
): Kinds {
  return createKinds(store, typesUrlOf(baseUrl, issuerId), (error) =>
    log.error('kinds_unreadable', { error: String(error) }),
  )
}
