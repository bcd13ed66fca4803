import type { CertainTime } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import type { Metrics } from '#base/metrics.ts'
import type { DocumentFields } from '#document/document.ts'
import type { Authenticate } from '#http/core/env.ts'
import type { BoundResource, Resource } from '#http/core/operation.ts'
import type { WalletOffers } from '#http/core/wallet-offers.ts'
import type { AppDeps } from '#http/deps.ts'
import { type CheckDocument, FORM_ALONE } from '#promise/check-document.ts'
import type { Lock } from '#promise/lock.ts'
import type { Config } from '#settings/config.ts'
import type { Identity } from './chain.ts'
import type { Identities } from './identity.ts'
import type { ApiKeys } from './keys.ts'
import type { Stores } from './stores.ts'
import type { Verifying } from './verifying.ts'

// What can be added to the service or left out. The core is started with a list of modules and
// knows none of them by name.

/** What modules may ask of the core when they are opened. Each says which of it. */
export type Core = {
  config: Config
  identity: Identity
  stores: Stores
  metrics: Metrics
  certainTime: CertainTime
  log: Log
  identities: Identities
  apiKeys: ApiKeys
  verifying: Verifying
  /** What the modules before it in the list provide. */
  ports: Ports
}

/** What a module provides for others, by the name of the need. Absent = no module does. */
export type Ports = {
  credentialTypes?: CredentialTypes
  walletOffers?: WalletOffers
}

/** The types of documents, as wallets read them. */
export type CredentialTypes = {
  /** @returns The type of a document; `undefined` if it has none. */
  typeOf(document: DocumentFields): Promise<{ vct: string; integrity: string } | undefined>
  /** @returns The file of the type that a category has now. */
  file(category: string): Promise<Uint8Array | undefined>
}

export type Module = {
  /** As in the setting `MODULES`. */
  name: string
  /** The tables that it alone reads and writes. They exist whether or not it is on. */
  tables: readonly string[]
  /** What it serves, also for the generated client when it is off. */
  resources: readonly Resource<never>[]
  open(core: Core): OpenModule
}

/** A module that is on. */
export type OpenModule = {
  /** @returns Its resources, with what they need of the core. */
  serve(deps: AppDeps): readonly BoundResource[]
  provides?: Ports
  /** A way to show who sends a request without a key. */
  authenticate?: Authenticate
  checkDocument?: CheckDocument
  /** Work that the gateway that leads does for all. */
  chores?: readonly Chore[]
  close?(): Promise<void> | void
}

/**
 * @param leading Its `assertHeld` rejects when another gateway leads by now.
 * @returns A function that stops it.
 */
export type Chore = (leading: Pick<Lock, 'assertHeld'>) => () => Promise<void>

/** The modules that are on, together. */
export type Modules = {
  serve(deps: AppDeps): readonly BoundResource[]
  checkDocument: CheckDocument
  ports: Ports
  authenticators: readonly Authenticate[]
  chores: readonly Chore[]
  close(): Promise<void>
}

/** @param modules Those that others need come first. */
export function openModules(modules: readonly Module[], core: Omit<Core, 'ports'>): Modules {
  const open: OpenModule[] = []
  const ports: Ports = {}
  for (const module of modules) {
    const opened = module.open({ ...core, ports })
    Object.assign(ports, opened.provides)
    open.push(opened)
  }
  return {
    serve: (deps) => open.flatMap((one) => one.serve(deps)),
    checkDocument: open.find((one) => one.checkDocument)?.checkDocument ?? FORM_ALONE,
    ports,
    authenticators: open.flatMap(({ authenticate }) => authenticate ?? []),
    chores: open.flatMap(({ chores = [] }) => chores),
    async close() {
      for (const one of open) await one.close?.()
    },
  }
}
