import { createLog } from '#base/log.ts'
import type { Identity } from '#parts/chain.ts'
import { databaseOf } from '#parts/databases.ts'
import type { Config } from '#settings/config.ts'
import type { CommandDatabase } from '#store/commands.ts'
import { bindingOf } from './binding.ts'
import { openIdentity } from './identity.ts'

/**
 * Opens the database of the settings for a command; see `DatabaseAdapter.openForCommand`.
 *
 * @param stops Receives the function that closes it.
 * @param options `create` = create the data folder if it is missing.
 */
export async function openForCommand(
  config: Config,
  stops: (() => Promise<void>)[],
  options: { create?: boolean } = {},
): Promise<CommandDatabase> {
  const log = createLog('warn')
  const adapter = await databaseOf(config)
  const database = await adapter.openForCommand({ ...options, termMs: config.lockTerm, log })
  stops.unshift(database.close)
  return database
}

/** Opens the database of the settings with its issuer. @throws if it belongs to another issuer. */
export async function openWithIdentity(
  config: Config,
  stops: (() => Promise<void>)[],
  say: (line: string) => void,
): Promise<{ database: CommandDatabase; identity: Identity }> {
  const database = await openForCommand(config, stops)
  const identity = await openIdentity(config, stops, say)
  stops.unshift(identity.rpc.close)
  await database.bindTo(bindingOf(identity))
  return { database, identity }
}
