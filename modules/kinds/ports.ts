/** A version of a kind of documents. Versions are never changed or deleted. */
export type KindVersion = {
  category: string
  /** From 1 on, for each category. */
  version: number
  /** The file as it is served; see `encodeKind`. */
  bytes: Uint8Array
  /** When it began to hold, in milliseconds of the Unix epoch. */
  begunAt: number
}

/** A change of a kind, in the transaction that reads it. */
export type KindUpdate = {
  /**
   * @param version The number of the next version.
   * @param current The version that holds.
   * @returns The file of the next version; `keep` = nothing changes; `end` = none holds any more.
   */
  next(version: number, current: KindVersion | undefined): Uint8Array | 'keep' | 'end'
  /** The version that must hold before, 0 = none; `undefined` = any. */
  basedOn?: number
  /** The maximum number of kinds that hold, and of versions of all kinds. */
  most: { kinds: number; versions: number }
}

/** When the promise of a change resolves, the change is durable. */
export type KindStore = {
  /** @returns The versions that hold now, without their files. */
  current(): Promise<Pick<KindVersion, 'category' | 'version'>[]>
  /** @returns The versions that hold now, or held at this time. */
  list(time?: number): Promise<KindVersion[]>
  /** @returns A version, also an old one; `undefined` = the one that holds now. */
  get(category: string, version?: number): Promise<KindVersion | undefined>
  /** @returns The version that now holds; why nothing was changed; `undefined` if none holds. */
  update(
    category: string,
    update: KindUpdate,
  ): Promise<KindVersion | 'changed' | 'too_many' | undefined>
}
