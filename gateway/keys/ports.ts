import type { Grant } from './grant.ts'

/** An API key as it is stored: everything but the key itself. */
export type ApiKey = Grant & {
  /** Its purpose, in the words of whoever made it. */
  label?: string
  /** The key's sha-256, 64 hexadecimal digits. */
  digest: string
  /** ISO 8601, as all instants here. */
  createdAt: string
  /** Absent = never. */
  expiresAt?: string
  /** At most a minute old; absent = never used. */
  lastUsedAt?: string
  /** The id of the key that took its place. */
  replacedBy?: string
}

/** Reads the stored keys. Other processes may change them at any time. */
export type KeyReader = {
  /** @returns A number that grows with every change of a key; the last use is not a change. */
  version(): Promise<number>
  /** @returns All keys, the oldest first. */
  list(): Promise<ApiKey[]>
}

/** Changes the stored keys. When a promise resolves, its change is on the disk. */
export type KeyWriter = {
  /** Adds a key, in place of any other with its id. */
  put(key: ApiKey): Promise<void>
  /**
   * Replaces a key, in one transaction with reading it.
   *
   * @param change Returns what to put for it. Nothing changes when it throws.
   * @returns Whether there is such a key.
   */
  update(id: string, change: (key: ApiKey) => readonly ApiKey[]): Promise<boolean>
  /** @returns Whether there was such a key. */
  remove(id: string): Promise<boolean>
  /**
   * Notes when keys were last used. May be lost by a crash.
   *
   * @param uses Times by id; unknown ids are ignored.
   */
  markUsed(uses: ReadonlyMap<string, string>): Promise<void>
}

export type KeyStore = KeyReader & KeyWriter
