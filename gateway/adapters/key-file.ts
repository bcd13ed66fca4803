import { hash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'
import { type Grant, SCOPES, type Scope } from '../grant.ts'

/** An API key as it is kept: only the sha-256 of it, in hexadecimal. */
export type ApiKey = {
  id: string
  /** Whose documents and idempotency keys it shares. */
  tenant: string
  scopes: Scope[]
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
  /** @returns The key itself, which is shown once and kept nowhere. */
  create(options: { scopes: Scope[]; tenant?: string; expiresAt?: string }): {
    id: string
    key: string
  }
  /** Keeps a key that was made elsewhere, under this id, in place of the one that had it. */
  put(id: string, key: string, scopes: Scope[]): void
  /** @returns Whether there was one. */
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
/** How soon a running gateway sees that a key was withdrawn; milliseconds. */
const FRESH = 1_000

// A plain digest, not a password hash: keys are 256 random bits.
const digestOf = (key: string) => hash('sha256', key, 'hex')

/**
 * @param path A JSON file, mode 0600; made at the first change. Other processes may change it at any time.
 * @param damaged Told when the file cannot be read any more while it is in use.
 * @throws {KeyFileError} when it cannot be read now.
 */
export function openKeyFile(path: string, damaged: (error: unknown) => void = () => {}): KeyFile {
  let byDigest = new Map<string, ApiKey>()
  let version = ''
  let looked = Number.NEGATIVE_INFINITY

  function load(): void {
    looked = Date.now()
    if (!existsSync(path)) {
      byDigest.clear()
      version = ''
      return
    }
    const { mtimeMs, ino, size } = statSync(path)
    const seen = `${mtimeMs} ${ino} ${size}`
    if (seen === version) return
    const keys = parseKeys(readFileSync(path, 'utf8'), path)
    byDigest = new Map(keys.map((key) => [key.digest, key]))
    version = seen
  }

  /** A file that is damaged while the gateway runs must not lock everybody out: the keys read last stay good. */
  function tryToLoad(): void {
    try {
      load()
    } catch (error) {
      damaged(error)
    }
  }

  function save(keys: ApiKey[]): void {
    const next = `${path}.${process.pid}.tmp`
    writeFileSync(next, `${JSON.stringify({ keys }, null, 2)}\n`, {
      mode: 0o600,
      flush: true,
    })
    renameSync(next, path)
    load()
  }

  function list(): ApiKey[] {
    load()
    return [...byDigest.values()]
  }

  load()
  return {
    list,
    find(key) {
      const digest = digestOf(key)
      // One that is unknown may be new.
      if (Date.now() - looked > FRESH || !byDigest.has(digest)) tryToLoad()
      const found = byDigest.get(digest)
      if (found?.expiresAt && Date.parse(found.expiresAt) <= Date.now()) return undefined
      return found
    },
    create({ scopes, tenant = DEFAULT_TENANT, expiresAt }) {
      const id = randomBytes(6).toString('hex')
      const key = `drk_${randomBytes(32).toString('base64url')}`
      save([
        ...list(),
        {
          id,
          tenant,
          scopes,
          digest: digestOf(key),
          createdAt: new Date().toISOString(),
          ...(expiresAt && { expiresAt }),
        },
      ])
      return { id, key }
    },
    put(id, key, scopes) {
      const digest = digestOf(key)
      if (list().some((kept) => kept.id === id && kept.digest === digest)) return
      save([
        ...list().filter((kept) => kept.id !== id),
        {
          id,
          tenant: DEFAULT_TENANT,
          scopes,
          digest,
          createdAt: new Date().toISOString(),
        },
      ])
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
