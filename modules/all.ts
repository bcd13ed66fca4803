import type { DescribedResource } from '#http/core/operation.ts'
import { CORE } from '#http/operations.ts'
import type { Module } from '#parts/module.ts'
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
 * @returns The modules that the settings switch on; all, unless they name some.
 * @throws {ConfigError} for a name that no module has.
 */
export function modulesOf({ modules }: Pick<Config, 'modules'>): readonly Module[] {
  if (modules === undefined) return MODULES
  const known = MODULES.map(({ name }) => name)
  const unknown = modules.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new ConfigError([`MODULES must be none, or of ${known.join(', ')}`])
  return MODULES.filter(({ name }) => modules.includes(name))
}
