import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, openDatabase } from '../gateway/adapters/sqlite/database.ts'
import { ConfigError } from '../gateway/config.ts'

// The data folder of a gateway that does not run, for commands.

/**
 * @param options `create`: makes a folder that is missing.
 * @returns The gateway's database, locked: no gateway starts with it until it is closed.
 * @throws {ConfigError} if a gateway runs with the folder.
 */
export function openStopped(dataDir: string, { create = false } = {}): Database {
  if (create) mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  try {
    return openDatabase(join(dataDir, 'gateway.db'))
  } catch (error) {
    if (!/locked/.test(String(error))) throw error
    throw new ConfigError([
      `a gateway runs with ${dataDir}: stop it first, or name another DATA_DIR`,
    ])
  }
}

/**
 * A command uses the gateway's account, and must not take a nonce that the gateway has signed for.
 *
 * @throws {ConfigError} if the gateway has transactions in flight.
 */
export function assertNothingInFlight({ sqlite }: Database): void {
  const row = sqlite.prepare('SELECT count(*) AS plans FROM plan').get()
  if (row?.plans !== 0)
    throw new ConfigError([
      'the gateway has transactions in flight: start it until they are in a block',
    ])
}
