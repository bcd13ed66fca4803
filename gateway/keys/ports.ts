import type { Grant } from './grant.ts'

/** An API key as it is stored, which is everything except the key itself. */
export type ApiKey = Grant & {
  /** The key's sha-256, 64 hexadecimal digits. */
  digest: string
  /** A time in ISO 8601, like all times here. */
  createdAt: string
  /** Absent = never. */
  expiresAt?: string
  /** At most a minute behind; absent = never used. */
  lastUsedAt?: string
  /** The id of the key that replaced it. */
  replacedBy?: string
}

/** Reads the stored keys. Other processes may change them at any time. */
export type KeyReader = {
  /** @returns A number that grows with every change of a key; the last use is not a change. */
  version(): Promise<number>
  /** @returns All keys, the oldest first. */
  list(): Promise<ApiKey[]>
}

/** Changes the stored keys. When a promise resolves, its change is durable. */
export type KeyWriter = {
  /** Adds a key, and replaces any other with its id. */
  put(key: ApiKey): Promise<void>
  /**
   * Changes a key in the same transaction that reads it.
   *
   * @param change Returns the keys to store in its place. Nothing changes when it throws.
   * @returns Whether there is such a key.
   */
  update(id: string, change: (key: ApiKey) => readonly ApiKey[]): Promise<boolean>
  /** @returns Whether there was such a key. */
  remove(id: string): Promise<boolean>
  /**
   * Records when keys were last used. A crash may lose this.
   *
   * @param uses Times by id; unknown ids are ignored.
   */
  markUsed(uses: ReadonlyMap<string, string>): Promise<void>
}

export type KeyStore = KeyReader & KeyWriter
