import { hash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'
import { type Grant, SCOPES, type Scope } from '../grant.ts'

/** An API key as the file holds it. */
export type ApiKey = {
  id: string
  /** Whose documents and idempotency keys it shares. */
  tenant: string
  scopes: Scope[]
  /** The key's sha-256, in hexadecimal. The key itself is not stored. */
  digest: string
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601; absent = never. */
  expiresAt?: string
}

export type KeyFile = {
  /** @returns What this key may do; `undefined` when it is unknown, withdrawn or expired. */
  find(key: string): Grant | undefined
  list(): ApiKey[]
  /** @returns The key itself, to be shown once: it is not stored. */
  create(options: { scopes: Scope[]; tenant?: string; expiresAt?: string }): {
    id: string
    key: string
  }
  /** Stores a key that was made elsewhere, in place of any other key with this id. */
  put(id: string, key: string, scopes: Scope[]): void
  /** @returns Whether there was such a key. */
  withdraw(id: string): boolean
}

/** Thrown for a key file that is damaged; the message names it. */
export class KeyFileError extends Error {
  override name = 'KeyFileError'
}

const keyFile = v.object({
  keys: v.array(
    v.object({
      id: v.string(),
      tenant: v.string(),
      scopes: v.array(v.picklist(SCOPES)),
      digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
      createdAt: v.string(),
      expiresAt: v.exactOptional(v.pipe(v.string(), v.isoTimestamp())),
    }),
  ),
})

function parseKeys(text: string, path: string): ApiKey[] {
  try {
    return v.parse(keyFile, JSON.parse(text)).keys
  } catch (cause) {
    throw new KeyFileError(`${path} is damaged: put back a copy, or remove it`, {
      cause,
    })
  }
}

const DEFAULT_TENANT = 'default'

/** How long a running gateway may accept a key that has been withdrawn. */
const MAX_AGE_MS = 1_000

// A plain digest, not a password hash: keys are 256 random bits.
const digestOf = (key: string) => hash('sha256', key, 'hex')

/**
 * @param path A JSON file, mode 0600; created at the first change. Other processes may change it at
 * any time.
 * @param damaged Called when the file has become unreadable while it is in use.
 * @throws {KeyFileError} when it is unreadable now.
 */
export function openKeyFile(path: string, damaged: (error: unknown) => void = () => {}): KeyFile {
  const cache = createKeyCache(path)
  const save = (keys: ApiKey[]) => {
    writeKeys(path, keys)
    cache.load()
  }

  function list(): ApiKey[] {
    cache.load()
    return cache.keys()
  }

  cache.load()
  return {
    list,
    find: (key) => findKey(cache, digestOf(key), damaged),
    create({ scopes, tenant = DEFAULT_TENANT, expiresAt }) {
      const id = randomBytes(6).toString('hex')
      const key = `drk_${randomBytes(32).toString('base64url')}`
      const made = newKey(id, key, scopes, tenant)
      save([...list(), { ...made, ...(expiresAt && { expiresAt }) }])
      return { id, key }
    },
    put(id, key, scopes) {
      const digest = digestOf(key)
      if (list().some((kept) => kept.id === id && kept.digest === digest)) return
      const others = list().filter((kept) => kept.id !== id)
      save([...others, newKey(id, key, scopes, DEFAULT_TENANT)])
    },
    withdraw(id) {
      const keys = list()
      const rest = keys.filter((key) => key.id !== id)
      if (rest.length === keys.length) return false
      save(rest)
      return true
    },
  }
}

/** The keys as they were last read. */
type KeyCache = {
  /**
   * Reads the file if it has changed.
   *
   * @throws {KeyFileError} when it is unreadable; the keys stay as they were.
   */
  load(): void
  keys(): ApiKey[]
  withDigest(digest: string): ApiKey | undefined
  isStale(): boolean
}

function createKeyCache(path: string): KeyCache {
  let byDigest = new Map<string, ApiKey>()
  let version = ''
  let loadedAt = Number.NEGATIVE_INFINITY

  return {
    load() {
      loadedAt = Date.now()
      const current = versionOf(path)
      if (current === version) return
      const keys = current === '' ? [] : parseKeys(readFileSync(path, 'utf8'), path)
      byDigest = new Map(keys.map((key) => [key.digest, key]))
      version = current
    },
    keys: () => [...byDigest.values()],
    withDigest: (digest) => byDigest.get(digest),
    isStale: () => Date.now() - loadedAt > MAX_AGE_MS,
  }
}

/** @returns Text that changes with every change of the file; empty while there is no file. */
function versionOf(path: string): string {
  if (!existsSync(path)) return ''
  const { mtimeMs, ino, size } = statSync(path)
  return `${mtimeMs} ${ino} ${size}`
}

function findKey(
  cache: KeyCache,
  digest: string,
  damaged: (error: unknown) => void,
): ApiKey | undefined {
  // An unknown key may be new.
  if (cache.isStale() || !cache.withDigest(digest)) {
    try {
      cache.load()
    } catch (error) {
      // The keys read last stay valid: a damaged file must not lock everybody out.
      damaged(error)
    }
  }
  const found = cache.withDigest(digest)
  const isExpired = found?.expiresAt !== undefined && Date.parse(found.expiresAt) <= Date.now()
  return isExpired ? undefined : found
}

function newKey(id: string, key: string, scopes: Scope[], tenant: string): ApiKey {
  return { id, tenant, scopes, digest: digestOf(key), createdAt: new Date().toISOString() }
}

/** Replaces the file in one step: readers see the old keys or the new ones. */
function writeKeys(path: string, keys: ApiKey[]): void {
  const next = `${path}.${process.pid}.tmp`
  writeFileSync(next, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(next, path)
}
