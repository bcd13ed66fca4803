import type { DescribedResource } from '#http/core/operation.ts'
import { CORE } from '#http/operations.ts'
import type { ChosenModules, Module } from '#parts/module.ts'
import { type Config, ConfigError } from '#settings/config.ts'
import { certificatesModule } from './certificates/module.ts'
import { deskModule } from './desk/module.ts'
import { kindsModule } from './kinds/module.ts'
import { walletsModule } from './wallets/module.ts'
import { webhooksModule } from './webhooks/module.ts'

/** Every module. One that others need comes before them. */
export const MODULES: readonly Module[] = [
  kindsModule,
  certificatesModule,
  deskModule,
  webhooksModule,
  walletsModule,
]

/** @returns Every resource of the service with these modules. */
export const resourcesOf = (modules: readonly Module[]): readonly DescribedResource[] => [
  ...CORE,
  ...modules.flatMap(({ resources }) => resources),
]
export const RESOURCES = resourcesOf(MODULES)

/** Every operation, in the same order. */
export const OPERATIONS = RESOURCES.flatMap(({ operations }) => operations)

/**
 * @returns Which modules the settings switch on; all, unless they name some.
 * @throws {ConfigError} for a name that no module has.
 */
export function modulesOf({ modules }: Pick<Config, 'modules'>): ChosenModules {
  if (modules === undefined) return { on: MODULES, off: [] }
  const known = MODULES.map(({ name }) => name)
  const unknown = modules.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new ConfigError([`MODULES must be none, or a list from ${known.join(', ')}`])
  return {
    on: MODULES.filter(({ name }) => modules.includes(name)),
    off: MODULES.filter(({ name }) => !modules.includes(name)),
  }
}
