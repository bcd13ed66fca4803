import { hash } from 'node:crypto'
import { createCached } from '#base/cached.ts'
import { Refusal } from '#base/refusal.ts'
import { fromCanonical } from '#document/canonical.ts'
import type { DocumentFields } from '#document/document.ts'
import { encodeKind, type Kind, readKind } from '#document/kind.ts'
import { kindProblems } from '#document/kind-check.ts'
import type { KindOf } from '#document/new-document.ts'
import type { KindStore, KindVersion } from './ports.ts'

/** The kinds that hold are in memory, and versions are kept permanently. */
const MOST = { kinds: 200, versions: 10_000 }
/** A version of a kind, with what its file says. */
export type KnownKind = KindVersion & { kind: Kind }

/** What a credential says about the type of its document. */
export type CredentialType = {
  /** The address of the type metadata. Its bytes never change. */
  vct: string
  /** Their sha-256 in the form of Subresource Integrity, for `vct#integrity`. */
  integrity: string
}

/** The kinds of documents of this issuer. */
export type Kinds = {
  /**
   * @returns The kinds that hold now; a change by another gateway counts within about a second.
   * Rejects only when they have never been read.
   */
  current(): Promise<KindOf>
  /** @returns The kinds that held at this time, in milliseconds of the Unix epoch. */
  at(time: number): Promise<Kind[]>
  list(): Promise<KnownKind[]>
  /** @returns The version that now holds. @throws {Refusal} `kind_changed`, `too_many_kinds` */
  put(kind: Kind, basedOn?: number): Promise<KnownKind>
  /** @throws {Refusal} `not_found`, `kind_changed` */
  remove(category: string, basedOn?: number): Promise<void>
  /** @returns The file of a version, also of an old one; without a number, of the present one. */
  file(category: string, version?: number): Promise<Uint8Array | undefined>
  /** @returns The type of a document for wallets; `undefined` if it does not fit a kind. */
  typeOf(document: DocumentFields): Promise<CredentialType | undefined>
}

/** @returns The address below which the kinds of an issuer are served. */
export const typesUrlOf = (baseUrl: string, issuerId: number): string =>
  `${baseUrl}/v1/types/${issuerId}`

/**
 * Keeps the kinds that hold in memory, so that a request that issues reads nothing. Once a second, a
 * request asks the store whether one has changed.
 *
 * @param address Where kinds are served, without a slash at the end.
 * @param unreadable Called at most once a minute when the store cannot be read. The kinds that were
 * read last then go on.
 */
export function createKinds(
  store: KindStore,
  address: string,
  unreadable: (error: unknown) => void,
): Kinds {
  const { fresh, poll: changed } = createCached<ReadonlyMap<string, KnownKind>>(async (before) => {
    const current = await store.current()
    const isSame =
      current.length === before?.size &&
      current.every(({ category, version }) => before.get(category)?.version === version)
    if (before && isSame) return before
    return new Map((await store.list()).map((one) => [one.category, knownOf(one)]))
  }, unreadable)

  const fileOf = (kind: Kind, version: number) =>
    encodeKind(kind, `${address}/${kind.category}/${version}`)
  const isCurrent = (kind: Kind, current: KindVersion | undefined) =>
    current !== undefined && Buffer.compare(fileOf(kind, current.version), current.bytes) === 0

  return {
    async current() {
      const kinds = await fresh()
      return (category) => kinds.get(category)?.kind
    },
    at: async (time) => (await store.list(time)).map((one) => knownOf(one).kind),
    list: async () => (await store.list()).map(knownOf),
    async put(kind, basedOn) {
      const { category } = kind
      const put = await store.update(category, {
        next: (version, current) => (isCurrent(kind, current) ? 'keep' : fileOf(kind, version)),
        ...(basedOn !== undefined && { basedOn }),
        most: MOST,
      })
      if (put === 'too_many')
        throw new Refusal(
          'too_many_kinds',
          `there are already ${MOST.kinds} kinds, or ${MOST.versions} versions of kinds`,
        )
      if (put === 'changed' || put === undefined) throw kindChanged()
      await changed()
      return knownOf(put)
    },
    async remove(category, basedOn) {
      const { version } = (await store.get(category)) ?? {}
      if (version === undefined)
        throw new Refusal('not_found', 'no kind of documents of this category')
      const next = () => 'end' as const
      const end = { next, basedOn: basedOn ?? version, most: MOST }
      if ((await store.update(category, end)) === 'changed') throw kindChanged()
      await changed()
    },
    file: async (category, version) =>
      version === undefined
        ? (await fresh()).get(category)?.bytes
        : (await store.get(category, version))?.bytes,
    async typeOf(document) {
      const found = (await fresh()).get(document.category)
      if (!found || kindProblems(found.kind, document).length > 0) return undefined
      const integrity = `sha256-${hash('sha256', found.bytes, 'base64')}`
      return { vct: vctIn(found), integrity }
    },
  }
}

const kindChanged = () =>
  new Refusal('kind_changed', 'the kind of documents was changed by somebody else')

function knownOf(version: KindVersion): KnownKind {
  const { category, bytes } = version
  const read = readKind(fromCanonical(bytes), category)
  if ('kind' in read) return { ...version, kind: read.kind }
  throw new Error(`the stored kind of ${category} is damaged`)
}

function vctIn({ bytes }: KindVersion): string {
  const { vct } = fromCanonical(bytes) as { vct: string }
  return vct
}
