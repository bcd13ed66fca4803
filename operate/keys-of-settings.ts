import { existsSync } from 'node:fs'
import * as v from 'valibot'
import { createLog } from '#base/log.ts'
import { InputError, UsageError } from '#cli/errors.ts'
import { readDatabaseUrl, readDataDir } from '#settings/config.ts'

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
