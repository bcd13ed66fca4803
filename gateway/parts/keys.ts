import type { Log } from '#base/log.ts'
import { type FindKey, type Grant, SCOPES } from '#keys/grant.ts'
import { createKeyCache, createLastUses } from '#keys/key-cache.ts'
import { createKeys, type Keys } from '#keys/keys.ts'
import type { KeyStore } from '#keys/ports.ts'
import { DEFAULT_TENANT } from '#keys/settings.ts'
import type { Config } from '#settings/config.ts'
import type { PeopleWhoSignIn } from './ports.ts'

/** The id of the key from the setting `API_KEY`. */
const FROM_ENVIRONMENT = 'environment'

/** The API keys of a running gateway. */
export type ApiKeys = {
  findKey: FindKey
  /** Same as `findKey`, for the id of a key. */
  grantOf(id: string): Promise<Grant | undefined>
  /** The administration of keys. A change applies from the next request on. */
  keys: Keys
  /** Writes when keys were last used. */
  close(): Promise<void>
}

export async function openKeys({ apiKey }: Config, store: KeyStore, log: Log): Promise<ApiKeys> {
  const uses = createLastUses(store, (error) =>
    log.warn('key_use_not_written', { error: String(error) }),
  )
  const cache = createKeyCache(store, uses.note, (error) =>
    log.error('keys_unreadable', { error: String(error) }),
  )
  const keys = createKeys(store, cache.poll)
  if (apiKey !== undefined)
    await keys.adopt(FROM_ENVIRONMENT, apiKey, { scopes: [...SCOPES], tenant: DEFAULT_TENANT })
  return {
    findKey: cache.find,
    grantOf: cache.get,
    keys,
    close: uses.stop,
  }
}

/**
 * @param owner See `ownerOf`.
 * @returns The permissions that it has now; `undefined` when there is no such key or person.
 */
export async function grantOfOwner(
  owner: string,
  {
    apiKeys,
    ports,
  }: { apiKeys: Pick<ApiKeys, 'grantOf'>; ports: { people?: Pick<PeopleWhoSignIn, 'grantOf'> } },
): Promise<Grant | undefined> {
  const [kind, id = ''] = owner.split(' ')
  return kind === 'person' ? ports.people?.grantOf(id) : apiKeys.grantOf(id)
}
