import { join } from 'node:path'
import { openPostgres } from '../gateway/adapters/postgres/database.ts'
import { createPostgresKeyStore } from '../gateway/adapters/postgres/keys.ts'
import { KEYS_FILE, openKeyStore } from '../gateway/adapters/sqlite/key-store.ts'
import type { KeyStore } from '../gateway/keys/ports.ts'
import { createLog } from '../gateway/log.ts'

export type OpenKeyStore = {
  store: KeyStore
  /** @returns Whether it has ever had a key. */
  hadKeys(): Promise<boolean>
  close(): Promise<void>
}

/** Opens the API keys of a service, which may be running. */
export async function openKeysOf(service: {
  dataDir: string
  databaseUrl?: string | undefined
}): Promise<OpenKeyStore> {
  if (service.databaseUrl === undefined) {
    const store = openKeyStore(join(service.dataDir, KEYS_FILE))
    return { store, hadKeys: async () => store.hadKeys(), close: async () => store.close() }
  }
  const database = await openPostgres(service.databaseUrl, createLog('warn'))
  const store = createPostgresKeyStore(database)
  return { store, hadKeys: async () => (await store.version()) > 0, close: database.close }
}
