import { clock } from '#base/clock.ts'
import { Refusal } from '#base/refusal.ts'
import type { ApiKey, KeyStore } from './ports.ts'
import { digestOf, newId, newSecret } from './secret.ts'
import { assertConsistent, type KeyChanges, type KeySettings } from './settings.ts'

/** The number is limited because all keys are in memory. */
const MAX_KEYS = 10_000

/** A key with its secret, which is shown only once, because only its digest is stored. */
export type MadeKey = { key: ApiKey; secret: string }

/** The new key, with the replaced one as it is now. */
type EndingKey = ApiKey & { expiresAt: string }
type RotatedKey = MadeKey & { old: EndingKey }

/** The administration of API keys. */
export type Keys = {
  /** @returns All keys, the oldest first. */
  list(): Promise<ApiKey[]>
  /** @throws {Refusal} `not_found` */
  get(id: string): Promise<ApiKey>
  /** @throws {Refusal} `too_many_keys`, `bad_fields` */
  create(settings: KeySettings): Promise<MadeKey>
  /**
   * Creates a key with the settings of another one, which ends after the overlap.
   *
   * @param options.expiresAt A time in ISO 8601. If absent, the new key is valid for as long as the
   * old one was.
   * @throws {Refusal} `not_found`, `already_rotated`, `too_many_keys`
   */
  rotate(id: string, options: { overlapSeconds: number; expiresAt?: string }): Promise<RotatedKey>
  /**
   * @returns The changed key.
   * @throws {Refusal} `not_found`, `bad_fields`
   */
  change(id: string, changes: KeyChanges): Promise<ApiKey>
  /** Ends a key at once. @throws {Refusal} `not_found` */
  revoke(id: string): Promise<void>
  /** Stores a key that was created elsewhere, and replaces any other with this id. */
  adopt(id: string, secret: string, settings: KeySettings): Promise<void>
}

/** @param changed Awaited after each change, before its promise resolves. */
export function createKeys(store: KeyStore, changed: () => Promise<void> = async () => {}): Keys {
  async function assertRoom(): Promise<void> {
    if ((await store.list()).length >= MAX_KEYS)
      throw new Refusal(
        'too_many_keys',
        `there are already ${MAX_KEYS} API keys: revoke some first`,
      )
  }

  return {
    list: store.list,
    async get(id) {
      const found = (await store.list()).find((key) => key.id === id)
      if (!found) throw unknownKey()
      return found
    },
    async create(settings) {
      assertConsistent(settings)
      await assertRoom()
      const made = makeKey(settings)
      await store.put(made.key)
      await changed()
      return made
    },
    async rotate(id, options) {
      await assertRoom()
      let made: RotatedKey | undefined
      const isKnown = await store.update(id, (before) => {
        const successor = successorOf(before, options.expiresAt)
        made = { ...successor, old: endedBy(before, successor.key, options.overlapSeconds) }
        return [made.old, made.key]
      })
      if (!isKnown || made === undefined) throw unknownKey()
      await changed()
      return made
    },
    async change(id, changes) {
      let after: ApiKey | undefined
      const isKnown = await store.update(id, (before) => {
        after = withChanges(before, changes)
        assertConsistent(after)
        return [after]
      })
      if (!isKnown || after === undefined) throw unknownKey()
      await changed()
      return after
    },
    async revoke(id) {
      if (!(await store.remove(id))) throw unknownKey()
      await changed()
    },
    async adopt(id, secret, settings) {
      const digest = digestOf(secret)
      if ((await store.list()).some((known) => known.id === id && known.digest === digest)) return
      await store.put(keyOf(id, secret, settings))
      await changed()
    },
  }
}

const unknownKey = () => new Refusal('not_found', 'no such API key')

/** @returns A new key, which is not stored yet. */
export function makeKey(settings: KeySettings): MadeKey {
  const secret = newSecret('key')
  return { key: keyOf(newId(), secret, settings), secret }
}

function keyOf(id: string, secret: string, settings: KeySettings): ApiKey {
  return {
    id,
    ...settings,
    digest: digestOf(secret),
    createdAt: new Date(clock.wall()).toISOString(),
  }
}

/** If the old key was created for 90 days, so is its successor. */
function successorOf(old: ApiKey, expiresAt: string | undefined): MadeKey {
  if (old.replacedBy !== undefined)
    throw new Refusal('already_rotated', `the API key was replaced by ${old.replacedBy}`)
  const { tenant, scopes, label, categories, rateLimit } = old
  const lifetime =
    old.expiresAt === undefined ? undefined : Date.parse(old.expiresAt) - Date.parse(old.createdAt)
  const end =
    expiresAt ??
    (lifetime === undefined ? undefined : new Date(clock.wall() + lifetime).toISOString())
  return makeKey({
    tenant,
    scopes,
    ...(label !== undefined && { label }),
    ...(categories !== undefined && { categories }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(end !== undefined && { expiresAt: end }),
  })
}

/** The overlap never prolongs a key. */
function endedBy(old: ApiKey, { id }: ApiKey, overlapSeconds: number): EndingKey {
  const end = clock.wall() + overlapSeconds * 1000
  const before = old.expiresAt === undefined ? end : Date.parse(old.expiresAt)
  return { ...old, expiresAt: new Date(Math.min(before, end)).toISOString(), replacedBy: id }
}

/**
 * A value of `null` removes a setting.
 *
 * @throws {Refusal} `bad_fields` when a rotated key would become valid for longer.
 */
function withChanges(key: ApiKey, changes: KeyChanges): ApiKey {
  const { expiresAt } = changes
  const endOf = (instant: string | undefined) => Date.parse(instant ?? '')
  const isLonger = expiresAt === null || endOf(expiresAt) > endOf(key.expiresAt)
  if (key.replacedBy !== undefined && isLonger)
    throw new Refusal(
      'bad_fields',
      'must not be later than before, because the key was rotated; change its successor instead',
      { field: 'expiresAt' },
    )
  const all = { ...key, ...changes }
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== null && value !== undefined),
  ) as ApiKey
}
