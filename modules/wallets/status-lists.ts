import { clock } from '#base/clock.ts'
import { shareRead } from '#base/concurrency.ts'
import type { Hkdf } from '#document/hkdf.ts'
import type { IssuerSubkeys } from '#document/keys.ts'
import type { CredentialKeys } from '#parts/credential-keys.ts'
import { IssueError } from '#promise/errors.ts'
import type { Blocks, RegistryReader } from '#promise/ports.ts'
import type { TrustedRecord } from '#promise/record.ts'
import { isRevoked, isSuspended, recordInBatch } from '#verifier/status.ts'
import type { Naming } from './credential.ts'
import { encodeStatusList, STATUS, type Status, worse } from './status-list.ts'
import { indexesOf, type Known, type Listed, type StatusSlots } from './status-slots.ts'

/**
 * The status lists of the issuer's credentials, for verifiers that do not read the chain. A list is
 * made of what the chain says at that moment, and of nothing else.
 */
export type StatusLists = {
  /**
   * @param naming How the credential names its issuer.
   * @returns The place of a document in a list, which is durable.
   */
  placeOf(listed: Listed, naming: Naming): Promise<{ uri: string; idx: number }>
  /**
   * @param name The end of the address of the list.
   * @returns The status list token (a JWT); `undefined` when there is no such list.
   * @throws {IssueError} `chain_unavailable` when the chain cannot be read or stands still. No list
   * is then better than an old one.
   */
  token(name: string): Promise<string | undefined>
}

/** A verifier may use a list for this long. */
const TTL_SECONDS = 60
/** After this, a verifier without a newer list has none. */
const EXPIRY_SECONDS = 120
/** A list is made anew at most once in this time, however many verifiers there are. */
export const REFRESH_MS = 5_000

/**
 * Each list is signed in two forms, because whoever takes a key from the DID document need not know
 * the authority of its certificate.
 */
const nameOf = (list: number, naming: Naming) => (naming === 'https' ? `${list}` : `${list}-did`)
const NAME = /^([1-9][0-9]{0,8})(-did)?$/

export function createStatusLists(deps: {
  slots: StatusSlots
  /** @returns How many documents and batches the issuer has issued. */
  counts(): Promise<{ documents: number; batches: number }>
  registry: Pick<RegistryReader, 'records'>
  blocks: Pick<Blocks, 'head'>
  keys: CredentialKeys
  /** The DID of the issuer's domain, if it has one. */
  did?: string | undefined
  /** The newest comes first. */
  subkeys: readonly [Pick<IssuerSubkeys, 'index'>, ...Pick<IssuerSubkeys, 'index'>[]]
  hkdf: Hkdf
  baseUrl: string
  /** The maximum age of the newest block in seconds; absent = any age. */
  maxHeadAge?: number | undefined
}): StatusLists {
  const { slots, counts, registry, blocks, keys, did, subkeys, hkdf, baseUrl, maxHeadAge } = deps
  const uriOf = (name: string) => `${baseUrl}/v1/status-lists/${name}`

  async function make(list: number, naming: Naming): Promise<string | undefined> {
    // What happens from here on may be missing in the list.
    const time = Math.floor(clock.wall() / 1000)
    const found = await slots.entries(list)
    if (!found) return undefined
    await assertFresh(time)
    const own = found.entries.map((entry) => ({ ...entry, indexes: [entry.index] }))
    const others = found.isLost ? await possibleIn(list) : []
    const statuses = await readStatuses(registry, [...own, ...others])
    const { kty, crv, x, y, kid: thumbprint } = keys.published[0]
    const kid = did ? `${did}#${thumbprint}` : thumbprint
    return keys.sign(
      {
        typ: 'statuslist+jwt',
        // Some wallets find a key by its DID alone, and others take `jwk`.
        ...(keys.x5c && naming === 'https' ? { x5c: keys.x5c } : { kid }),
        jwk: { kty, crv, x, y, kid },
      },
      {
        ...(did && { iss: did }),
        sub: uriOf(nameOf(list, naming)),
        iat: time,
        exp: time + EXPIRY_SECONDS,
        ttl: TTL_SECONDS,
        status_list: await encodeStatusList(statuses),
      },
    )
  }

  /**
   * Nobody knows any more which documents are in a lost list, so each of the issuer's may be, at the
   * indexes that the list offered to it. The worse status of an index counts, which may make a few
   * valid credentials look revoked, and none the other way round.
   */
  async function possibleIn(list: number): Promise<Placed[]> {
    const [{ documents, alone, batches }, issued] = await Promise.all([slots.known(), counts()])
    if (alone < issued.documents || batches < issued.batches)
      throw new IssueError(
        'store_unavailable',
        'the index lacks documents of the issuer: run docreg-gateway reindex',
      )
    return documents.map((one) => ({
      ...one,
      indexes: subkeys.flatMap((some) => indexesOf(some, one, list, hkdf)),
    }))
  }

  async function assertFresh(time: number): Promise<void> {
    const { timestamp } = await blocks.head()
    if (maxHeadAge !== undefined && time - timestamp > maxHeadAge)
      throw new IssueError('chain_unavailable', "the node's newest block is too old")
  }

  const makers = new Map<string, () => Promise<string | undefined>>()
  return {
    async placeOf(listed, naming) {
      const { list, index } = await slots.take(listed, (list) =>
        indexesOf(subkeys[0], listed, list, hkdf),
      )
      return { uri: uriOf(nameOf(list, naming)), idx: index }
    },
    async token(name) {
      const [, list, did] = NAME.exec(name) ?? []
      if (list === undefined) return undefined
      const naming = did ? 'did:web' : 'https'
      const maker = makers.get(name) ?? shareRead(() => make(Number(list), naming), REFRESH_MS)
      makers.set(name, maker)
      const token = await maker()
      if (token === undefined) makers.delete(name)
      return token
    },
  }
}

/** A document with all indexes that have its status. */
type Placed = Known & { indexes: readonly number[] }

/** @returns The statuses of the documents that are not valid, by index. */
async function readStatuses(
  registry: Pick<RegistryReader, 'records'>,
  placed: readonly Placed[],
): Promise<Map<number, Status>> {
  const roots = [...new Set(placed.flatMap(({ root }) => root ?? []))]
  const records = await registry.records([
    ...placed.map(({ documentHash, root }) => ({ documentHash, ...(root && { root }) })),
    ...roots.map((root) => ({ documentHash: root, root })),
  ])
  const batches = new Map(roots.map((root, i) => [root, records[placed.length + i]]))
  const statuses = new Map<number, Status>()
  placed.forEach(({ indexes, erased, root }, i) => {
    const own = records[i]
    const batch = root && batches.get(root)
    if (!own || (root && !batch)) throw new TypeError('a record is missing')
    const status = erased ? STATUS.invalid : statusOf(own, batch || undefined)
    if (status === STATUS.valid) return
    for (const index of indexes) statuses.set(index, worse(status, statuses.get(index) ?? status))
  })
  return statuses
}

/** Expiry is not here, because credentials have it themselves. */
function statusOf(own: TrustedRecord, batch: TrustedRecord | undefined): Status {
  const { record, revoker } = batch
    ? recordInBatch(
        { record: own, revoker: own.revoker },
        { record: batch, revoker: batch.revoker },
        0,
      )
    : { record: own, revoker: own.revoker }
  // A reorg may have dropped it, and it may come again.
  if (record.anchoredBlock === 0) return STATUS.suspended
  if ((batch ?? own).distrusted || isRevoked(record)) return STATUS.invalid
  return isSuspended(record, revoker) ? STATUS.suspended : STATUS.valid
}
