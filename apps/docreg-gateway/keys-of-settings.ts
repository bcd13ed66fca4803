import { existsSync } from 'node:fs'
import * as v from 'valibot'
import { createLog } from '#base/log.ts'
import { InputError, UsageError } from '#cli/errors.ts'
import type { Scope } from '#keys/grant.ts'
import { readDatabaseUrl, readDataDir, readModules } from '#settings/config.ts'

// For commands that change the API keys or people of the gateway in DATA_DIR, or in the database of
// DATABASE_URL. A running gateway notices every change within a second.

/** @throws {InputError} when the data folder does not exist. */
export async function openKeysOfSettings() {
  const dataDir = readDataDir(process.env)
  const databaseUrl = readDatabaseUrl(process.env)
  if (databaseUrl === undefined && !existsSync(dataDir))
    throw new InputError(
      'not_possible',
      `${dataDir} does not exist: set DATA_DIR to that of the gateway`,
    )
  // It loads the database, which help does not need.
  const { databaseOf } = await import('#parts/databases.ts')
  const database = await databaseOf({ dataDir, ...(databaseUrl !== undefined && { databaseUrl }) })
  return database.openKeys(createLog('warn'))
}

/**
 * @throws {UsageError} for a scope that no route needs, because its module is off.
 * @throws {ConfigError} when MODULES is wrong.
 */
export async function assertScopesUsed({ scopes }: { scopes?: readonly Scope[] }): Promise<void> {
  if (scopes === undefined) return
  // They load the whole service, which help does not need.
  const { modulesOf, resourcesOf } = await import('#modules/all.ts')
  const { problemOfScopes } = await import('#http/core/operation.ts')
  const { on } = modulesOf(readModules(process.env))
  const problem = problemOfScopes(resourcesOf(on), scopes)
  if (problem !== undefined) throw new UsageError(`--scope: ${problem}`)
}

/**
 * @param optionOf The option of each field that has another name.
 * @throws {UsageError} naming every bad option.
 */
export function parseOptions<T>(
  schema: v.GenericSchema<unknown, T>,
  settings: object,
  optionOf: Readonly<Record<string, string>>,
): T {
  const result = v.safeParse(schema, settings)
  if (result.success) return result.output
  const lines = result.issues.map((issue) => {
    const [first = ''] = (v.getDotPath(issue) ?? '').split('.')
    const message = issue.type === 'strict_object' ? 'is required' : issue.message
    return `--${optionOf[first] ?? first} ${message}`
  })
  throw new UsageError([...new Set(lines)].join('\n'))
}
