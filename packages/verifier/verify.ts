import type { DocumentPart } from '../document/document.ts'
import { fromHex, toHex } from '../document/hex.ts'
import { decodePublicId, type PublicId } from '../document/public-id.ts'
import { parseRegistryId } from '../document/registry-id.ts'
import type { Opener } from '../document/sealed.ts'
import { proofOf } from './blockchain-proof.ts'
import { readBatch } from './checks/batch.ts'
import { checkChain, checkDating, checkExpiry, checkRecord } from './checks/chain.ts'
import { type Content, checkContent, checkOpened } from './checks/content.ts'
import { readEvent } from './checks/event.ts'
import { type Identity, readIdentity } from './checks/identity.ts'
import { type Payload, readCheck, readPayload } from './checks/payload.ts'
import { ChainError } from './errors.ts'
import { parseDomain } from './identity.ts'
import type {
  BlockSource,
  ChainReader,
  ChainReading,
  DocumentKey,
  IdentitySource,
  OpenedDocuments,
} from './ports.ts'
import { abortable } from './signal.ts'
import { type Check, type Judgement, statusOf, type Verdict } from './verdict.ts'

export type VerifyOptions = {
  /** The registry to trust. The verifier chooses it, never the document or its QR code. */
  chain: ChainReader
  /** Sources of the sealed document, in order of preference. */
  blocks: readonly BlockSource[]
  /**
   * A block number. The verdict then holds as of that block, whose time decides expiry. The node
   * must have the state of that block; otherwise the verdict is `unverifiable` with
   * `state_unavailable`.
   */
  asOf?: number
  /** Unix seconds; absent = the current time. Not used with `asOf`. */
  now?: number
  /**
   * The maximum age of the newest block in seconds; if it is older, the node counts as stale.
   * Absent = any age. Not used with `asOf`.
   */
  maxHeadAge?: number
  /**
   * Checks whether the issuer's domain vouches for the issuer; absent = the check `identity` is
   * unknown, `not_asked`.
   */
  identity?: IdentitySource
  /**
   * The domain that must vouch for the issuer, in the form of `blockchainProof.issuer.domain`;
   * otherwise the verdict is not `valid`. If absent, the check `identity` does not affect the
   * status.
   */
  issuerDomain?: string
  /** Opens sealed documents; absent = WebCrypto is used. */
  opener?: Opener
  /** Caches opened documents; if absent, every verdict reads and opens its document. */
  opened?: OpenedDocuments
  /**
   * Whether to read the finality of the anchoring, with one or two more requests; otherwise
   * `blockchainProof.finality` is null.
   */
  finality?: boolean
  /** Cancels the verification. The promise then rejects with the signal's reason. */
  signal?: AbortSignal
  /**
   * Called with each check as soon as it is done; from `identity`, `payload` and `event` on, in no
   * fixed order.
   */
  onCheck?: (check: Check) => void
  /**
   * Called with an error of this program, such as a bug or a missing cipher; the check `content` is
   * then unknown, `internal_error`.
   */
  onError?: (error: unknown) => void
}

/**
 * Verifies a document by its publicId, a chain and a source of blocks.
 *
 * @param publicId A publicId of either kind. For a document in a batch, the batch block comes from
 * the same sources.
 * @returns A verdict. A failure of chain or sources makes it `unverifiable` and is never thrown.
 * @throws {FormatError} `public_id_…` for a malformed or mistyped publicId, before any request.
 * @throws The reason of `options.signal`, once it aborts.
 * @throws {TypeError} for an `asOf` that is not a block number, a `now` or `maxHeadAge` that is not
 * a number, an `issuerDomain` that is not a domain.
 *
 * @example
 * ```ts
 * const chain = createChainReader(createFetchProvider('https://rpc.example'), registry)
 * const blocks = [createIpfsGatewaySource('https://ipfs.example')]
 * const { status, document } = await verify(publicId, { chain, blocks, maxHeadAge: 900 })
 * status // => 'valid'
 * ```
 */
export async function verify(publicId: string, options: VerifyOptions): Promise<Verdict> {
  return verifyPublicId(decodePublicId(publicId), options)
}

/** Same as {@link verify}, for the result of `decodePublicId`. */
export async function verifyPublicId(publicId: PublicId, options: VerifyOptions): Promise<Verdict> {
  assertOptions(options)
  return abortable(() => verifyDecoded(publicId, options), options.signal)
}

/** @throws {TypeError} for an invalid block number, time or domain. */
export function assertOptions(options: VerifyOptions): void {
  const { asOf = 0, chain, issuerDomain } = options
  if (!Number.isSafeInteger(asOf) || asOf < 0) throw new TypeError('asOf must be a block number')
  // Every comparison with NaN is false, so nothing would expire and no node would be stale.
  for (const name of ['now', 'maxHeadAge'] as const)
    if (Number.isNaN(Number(options[name] ?? 0)))
      throw new TypeError(`${name} must be a number of seconds`)
  if (issuerDomain === undefined) return
  if (!parseDomain(issuerDomain, parseRegistryId(chain.registry).chainId))
    throw new TypeError('issuerDomain must be a domain in ASCII, without a scheme')
}

async function verifyDecoded(publicId: PublicId, options: VerifyOptions): Promise<Verdict> {
  const { chain, blocks, signal } = options
  const batch =
    publicId.kind === 'batch'
      ? await readBatch(publicId, chain.registry, blocks, { signal })
      : undefined
  if (batch) options.onCheck?.(batch.check)
  const ofBatch = batch ? [batch.check] : []
  const key = batch ? batch.key : keyOf(publicId)
  if (!key) return unread(ofBatch)
  const { documentKey } = publicId
  const { documentHash } = key
  const { opened, opener } = options
  return verifyRecord(key, ofBatch, options, {
    async recall(reading) {
      const document = await opened?.get(documentHash, documentKey)
      return document && checkOpened(document, chain.registry, reading)
    },
    async read(sealed, reading) {
      const content = await checkContent(sealed, documentKey, chain.registry, reading, opener)
      if (content.document) await opened?.add(documentHash, documentKey, content.document)
      return content
    },
  })
}

/** The verdict on a whole document or on disclosed fields. */
type VerdictOn<T> = Judgement & { document: T | null }

/** Reads the fields of a document. */
export type ContentReader<T> = {
  /** Reads the fields from sealed bytes with the right hash. */
  read(sealed: Uint8Array, reading: ChainReading): Promise<Content<T>>
  /** @returns The cached content, checked against this record; `undefined` if there is none. */
  recall?(reading: ChainReading): Promise<Content<T> | undefined>
  /** Checks the signatures of a credential. */
  checkCredential?(identity: Identity, reading: ChainReading): Promise<Check>
}

/**
 * Reads a record and its sealed document.
 *
 * @param before The checks that led to the key.
 */
export async function verifyRecord<T extends DocumentPart>(
  key: DocumentKey,
  before: Check[],
  options: VerifyOptions,
  { read, recall, checkCredential }: ContentReader<T>,
): Promise<VerdictOn<T>> {
  const { chain, blocks, asOf, signal } = options
  const say = (checks: Check[]) => {
    for (const check of checks) options.onCheck?.(check)
    return checks
  }
  const reading = await chain.read(key, { block: asOf, signal }).catch(chainErrorCode)
  if (typeof reading === 'string')
    return unread([...before, ...say([{ check: 'chain', outcome: 'unknown', code: reading }])])
  const { now, maxHeadAge } = clockOf(options, reading)
  const checks = [
    ...before,
    ...say([checkChain(reading, now, maxHeadAge), ...checkRecord(reading)]),
  ]
  if (reading.record.anchoredBlock === 0) return conclude(checks, reading)

  const readContent = async () => {
    const recalled = await recall?.(reading)
    const payload: Payload = recalled
      ? { check: readCheck() }
      : await readPayload(fromHex(key.documentHash), blocks, { signal, opener: options.opener })
    say([payload.check])
    const content: Content<T> =
      recalled ?? (payload.bytes ? await read(payload.bytes, reading) : { checks: [] })
    if ('error' in content) options.onError?.(content.error)
    const { document } = content
    const said = say([
      ...content.checks,
      checkExpiry(reading, now),
      ...datingOf(document, reading, now),
    ])
    return { document, checks: [payload.check, ...said] }
  }
  const saying = async <T extends { check: Check }>(read: Promise<T>) => {
    const done = await read
    say([done.check])
    return done
  }
  const readFinality = () =>
    chain.finalityOf(reading.record.anchoredBlock, { signal }).catch(() => null)
  const asked = saying(readIdentity(chain.registry, reading, options))
  const readCredential = async () =>
    checkCredential ? say([await checkCredential(await asked, reading)]) : []
  const [identity, credential, event, content, finality, closedAt] = await Promise.all([
    asked,
    readCredential(),
    saying(readEvent(chain, key, reading, { signal })),
    readContent(),
    options.finality ? readFinality() : null,
    readClosedAt(chain, reading, signal),
  ])
  const afterIssuer = checks.findIndex(({ check }) => check === 'issuer') + 1
  checks.splice(afterIssuer, 0, identity.check, ...credential)
  checks.push(...content.checks, event.check)
  return conclude(checks, reading, {
    issuerDomain: options.issuerDomain,
    document: content.document ?? null,
    blockchainProof: proofOf(chain.registry, key, reading, {
      domain: identity.domain,
      event: event.event,
      finality,
      closedAt,
    }),
  })
}

/** @returns `null` for an open issuer, or when the time is unknown. */
async function readClosedAt(
  chain: ChainReader,
  { issuer, blockTime }: ChainReading,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  if (issuer.closedBlock === 0) return null
  const time = await chain.blockTime(issuer.closedBlock, { signal }).catch(() => null)
  // No block of the chain is later than the one that was read.
  return time !== null && time <= blockTime ? time : null
}

/** @returns No check if the date is unknown. */
function datingOf(document: DocumentPart | undefined, reading: ChainReading, now: number): Check[] {
  const { issuedAt } = document ?? {}
  return issuedAt === undefined ? [] : [checkDating({ issuedAt }, reading, now)]
}

/** @returns The registry query for a document that was issued alone. */
export function keyOf({ issuerId, hash }: PublicId): DocumentKey {
  return { issuerId, documentHash: toHex(hash) }
}

/**
 * @returns The time that decides expiry, and the maximum age of the block. For a past block these
 * are its own time, and any age.
 */
function clockOf(
  { asOf, now, maxHeadAge }: VerifyOptions,
  { blockTime }: ChainReading,
): { now: number; maxHeadAge: number | undefined } {
  if (asOf !== undefined) return { now: blockTime, maxHeadAge: undefined }
  return { now: now ?? Math.floor(Date.now() / 1000), maxHeadAge }
}

function chainErrorCode(error: unknown): string {
  if (error instanceof ChainError) return error.code
  throw error
}

function unread(checks: Check[]): VerdictOn<never> {
  return {
    valid: false,
    status: statusOf(checks),
    document: null,
    blockchainProof: null,
    checks,
    asOf: null,
  }
}

function conclude<T>(
  checks: Check[],
  { blockNumber, blockHash, blockTime, stateProof }: ChainReading,
  {
    issuerDomain,
    ...found
  }: Pick<VerdictOn<T>, 'document' | 'blockchainProof'> & {
    issuerDomain?: string | undefined
  } = {
    document: null,
    blockchainProof: null,
  },
): VerdictOn<T> {
  const status = statusOf(checks, issuerDomain)
  return {
    valid: status === 'valid',
    status,
    ...found,
    checks,
    asOf: { blockNumber, blockHash: blockHash ?? null, blockTime },
    ...(stateProof && { stateProof }),
  }
}
