import type { CertainTime } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import type { Metrics } from '#base/metrics.ts'
import type { Authenticate } from '#http/core/env.ts'
import type { BoundResource, Resource } from '#http/core/operation.ts'
import type { AppDeps } from '#http/deps.ts'
import { type CheckDocument, FORM_ALONE } from '#promise/check-document.ts'
import type { Lock } from '#promise/lock.ts'
import type { Quotes } from '#promise/ports.ts'
import type { Config } from '#settings/config.ts'
import type { Identity } from './chain.ts'
import type { Identities } from './identity.ts'
import type { IssuingParts } from './issuing.ts'
import type { ApiKeys } from './keys.ts'
import type { Ports } from './ports.ts'
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
  /** What modules provide, once they are opened: those before it in the list are. */
  ports: Ports
  /** The same as requests do. */
  pipeline: IssuingParts
  quotes: Quotes
  /** @returns The milliseconds since somebody last asked to issue or change one document. */
  quietFor(): number
}

export type Module = {
  /** As in the setting `MODULES`. */
  name: string
  /** The tables that it alone reads and writes. They exist whether or not it is on. */
  tables: readonly string[]
  /** What it serves, also for the generated client when it is off. */
  resources: readonly Resource<never>[]
  open(core: Core): OpenModule
  /** @returns What it does about its rows while it is off; absent = nothing. */
  whenOff?(core: Core): readonly Chore[]
}

/** A module that is on. */
export type OpenModule = {
  /** Called once the whole core is open. */
  serve(deps: AppDeps): Served
  provides?: Ports
  /** A way to show who sends a request without a key. */
  authenticate?: Authenticate
  checkDocument?: CheckDocument
  close?(): Promise<void> | void
}

/** What modules do while the service runs. */
export type Served = {
  /** Their resources, with what these need. */
  resources: readonly BoundResource[]
  /** Work that the gateway that leads does for all. */
  chores?: readonly Chore[]
}

/**
 * @param leading Its `assertHeld` rejects when another gateway leads by now.
 * @returns A function that stops it.
 */
export type Chore = (leading: Pick<Lock, 'assertHeld'>) => () => Promise<void>

/** The modules that are on, together. */
export type Modules = {
  serve(deps: AppDeps): Required<Served>
  checkDocument: CheckDocument
  authenticators: readonly Authenticate[]
  close(): Promise<void>
}

/** Which modules are on. Those that others need come first. */
export type ChosenModules = { on: readonly Module[]; off: readonly Module[] }

export function openModules({ on, off }: ChosenModules, core: Core): Modules {
  const open: OpenModule[] = []
  for (const module of on) {
    const opened = module.open(core)
    Object.assign(core.ports, opened.provides)
    open.push(opened)
  }
  return {
    serve(deps) {
      const served = open.map((one) => one.serve(deps))
      return {
        resources: served.flatMap(({ resources }) => resources),
        chores: [
          ...served.flatMap(({ chores = [] }) => chores),
          ...off.flatMap((one) => one.whenOff?.(core) ?? []),
        ],
      }
    },
    checkDocument: open.find((one) => one.checkDocument)?.checkDocument ?? FORM_ALONE,
    authenticators: open.flatMap(({ authenticate }) => authenticate ?? []),
    async close() {
      for (const one of open) await one.close?.()
    },
  }
}
