import { createHmac, randomBytes } from 'node:crypto'
import { clock } from '#base/clock.ts'
import { limitInShares } from '#base/concurrency.ts'
import { type Hex, toHex } from '#document/hex.ts'
import type { IssuerSubkeys } from '#document/keys.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { IssueAction } from '#promise/action.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { actionOfBatch, type BatchClaim, type BatchLog } from '#promise/batch-log.ts'
import { IssueError, refusalOf } from '#promise/errors.ts'
import type { Lock } from '#promise/lock.ts'
import type { Leader, Quote } from '#promise/ports.ts'
import type { AllSubkeys } from '#promise/sealing.ts'
import { untilAnswered } from '#promise/until-answered.ts'
import { type AloneDeps, createAlone } from './alone.ts'
import type {
  BatchAnswer,
  Batches,
  BatchLine,
  BatchRequest,
  Durations,
  Unbatched,
} from './batch.ts'
import { BatchError } from './errors.ts'
import type { Checked, KindsAt } from './lines.ts'
import { createIssued, type Issued, unpackBlocks, unpackDocuments } from './packed.ts'
import type { SealedRoot, Sealer } from './sealer.ts'
import type { Spool } from './spool.ts'
import { linesIn, readAgain, readUpload, rulesOf, type Upload } from './upload.ts'

export type BatchDeps = AloneDeps & {
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: RegistryId
  issuerId: number
  allSubkeys: AllSubkeys
  kindsAt: KindsAt
  newSpool: (owner: string) => Promise<Spool>
  sealer: Sealer
  log: BatchLog
  leader: Leader
  outcomeOf: (action: IssueAction) => Promise<Outcome>
  /** @param actions They go into one transaction. */
  quote: (actions: readonly IssueAction[]) => Promise<Quote>
  durationsOf: (size: number) => Promise<Durations>
}

/** The maximum number of batches that are being sealed or wait for their blocks. */
const MAX_UNDER_WAY = { all: 3, each: 2 }

/** The number of documents in a group, to estimate what each costs. */
const GROUP = 100
/** An expiry of five bytes, which costs more than none. */
const EXPIRY = 2 ** 40 - 1

/** An answer without the function that closes it. */
type Unclosed = Omit<BatchAnswer, 'close'>

/**
 * Issues batches. An upload is written to the spool while it is checked. Then its documents are
 * sealed and stored, and only then the root is promised. So an upload that is cut off leaves
 * nothing, and a promised batch has all of its payloads. A batch waits for its turn only once it is
 * in the spool, so that a slow client does not hold one.
 */
export function createBatches(deps: BatchDeps): Batches {
  const alone = createAlone(deps)
  const begin = limitInShares(MAX_UNDER_WAY)

  async function issue(request: BatchRequest): Promise<BatchAnswer> {
    if (!request.dryRun) deps.leader.assertOpen()
    const spool = await deps.newSpool(request.share)
    try {
      return { ...(await issueUpload(spool, request)), close: spool.close }
    } catch (error) {
      await spool.close()
      // When the service stops, the database is closed while a batch is being issued.
      if (!(error instanceof BatchError || error instanceof IssueError)) deps.leader.assertOpen()
      throw error
    }
  }

  async function issueUpload(spool: Spool, request: BatchRequest): Promise<Unclosed> {
    const read = await readUpload(deps, spool, request, clock.wall())
    const { done } = await begin(request.share, () => issueRead(read, request))
    return done
  }

  async function issueRead(read: Upload, request: BatchRequest): Promise<Unclosed> {
    const first = await findClaim(deps, request, read)
    // Dates and kinds are judged by the time of the first request, so that its documents are still
    // documents.
    const upload = first ? await readAgain(deps, read, first.checkedAt) : read
    const size = upload.size - upload.bad
    if (size === 0 || (upload.bad > 0 && request.atomic))
      return { outcome: { status: 'refused' }, lines: linesOf(upload) }
    if (request.dryRun) {
      const [quote, unbatched, durations] = await Promise.all([
        deps.quote([sampleOf(size)]),
        quoteUnbatched(deps, size),
        deps.durationsOf(size),
      ])
      const outcome = { status: 'checked', size, quote, unbatched, durations } as const
      return { outcome, lines: linesOf(upload) }
    }
    const subkeys = first?.subkeys ?? deps.allSubkeys[0]
    const id = requestOf(subkeys, request, upload)
    return alone.run(id, async (lock) => {
      if (!first) await claim(deps.log, id, contentOf(subkeys, upload), upload.now)
      const { batch, issued } = await seal(deps, upload, { id, subkeys, request })
      const anchored = await anchor(deps, { id, lock, ...batch }, request)
      return { outcome: { ...anchored, root: batch.root }, lines: linesOf(upload, issued) }
    })
  }

  return { issue, start: alone.start }
}

/** When it resolves, everything except the root is durable. */
async function seal(
  { registry, issuerId, sealer, drafts }: BatchDeps,
  upload: Upload,
  { id, subkeys, request }: { id: Uint8Array; subkeys: IssuerSubkeys; request: BatchRequest },
): Promise<{ batch: SealedRoot; issued: Issued }> {
  const { tenant } = request
  const salt = { keyOwner: keyOwnerOf(request), idempotencyKey: keyOf(request, upload) }
  const issued = createIssued(upload.size - upload.bad)
  const batch = await sealer.seal(
    upload.spool.read(),
    { rules: rulesOf(upload), registry, issuerId, subkeys, tenant, salt },
    {
      keep: (blocks) => drafts.put(id, unpackBlocks(blocks)),
      async index({ batch, ...documents }) {
        const known = { ...batch, tenant }
        issued.set(documents, await drafts.index(id, known, unpackDocuments(documents)))
      },
    },
  )
  return { batch, issued }
}

/** Promises a batch, and waits for its block. */
async function anchor(
  { log, leader, ...deps }: BatchDeps,
  { id, lock, root, size, manifest }: SealedRoot & { id: Uint8Array; lock: Lock },
  { wait, tenant, actor, newDeadline, assertAllowed }: BatchRequest,
): Promise<{ status: 'valid' | 'pending'; transactionHash: Hex | null; replayed: boolean }> {
  const deadline = newDeadline()
  const batch = { root, size, manifest, tenant }
  const action = actionOfBatch(batch)
  const before = await deadline.within(() => deps.outcomeOf(action))
  const refusal = refusalOf(before)
  if (refusal) throw refusal
  const isAnchored = before.status === 'anchored'
  if (!isAnchored) leader.assertMayIssue()
  await assertAllowed()
  const requested = { ...batch, isAnchored, ...(actor !== undefined && { actor }) }
  const isNew = await untilAnswered(deadline, () => log.promise(id, requested, lock))
  if (before.status === 'anchored') {
    // If it is not final, the leader has the action.
    leader.wake()
    return { status: 'valid', transactionHash: before.transactionHash, replayed: true }
  }
  const outcome = await leader.submit(action, Math.min(wait, deadline.left()), isNew)
  if (!('transactionHash' in outcome)) throw new TypeError(`an issue is never ${outcome.status}`)
  const { transactionHash } = outcome
  const status = outcome.status === 'anchored' ? 'valid' : 'pending'
  return { status, transactionHash, replayed: !isNew }
}

/** @returns An action with a random root to estimate gas, because every root costs the same. */
function sampleOf(size: number): IssueAction {
  const random = toHex(randomBytes(32))
  return actionOfBatch({ root: random, size, manifest: random, tenant: '' })
}

async function quoteUnbatched({ quote }: BatchDeps, size: number): Promise<Unbatched> {
  const together = Math.min(size, GROUP)
  const [alone, group] = await Promise.all([quote(documents(1)), quote(documents(together))])
  return {
    alone: alone.fee * BigInt(size),
    grouped: (group.fee * BigInt(size)) / BigInt(together),
  }
}

/** @returns Actions with random hashes, because any document costs the same. */
function documents(count: number): IssueAction[] {
  return Array.from({ length: count }, () => ({
    kind: 'issue',
    documentHash: toHex(randomBytes(32)),
    validUntil: EXPIRY,
  }))
}

async function* linesOf(upload: Upload, issued?: Issued): AsyncGenerator<BatchLine> {
  let place = 0
  for await (const line of linesIn(upload)) {
    if ('problems' in line) yield line
    else yield { ...line, ...issued?.at(place++) }
  }
}

/** Without an idempotency key, the content of the upload is the key. */
function keyOf({ idempotencyKey }: BatchRequest, { sha256 }: Checked): string {
  return idempotencyKey ?? sha256.toString('hex')
}

/**
 * @returns The owner whose idempotency keys a request shares. The categories belong to it because
 * they decide which lines are documents, and so which batch it is.
 */
function keyOwnerOf({ tenant, categories = [] }: BatchRequest): string {
  return JSON.stringify(['batch', tenant, categories])
}

/** @returns The id of a request. It is a keyed hash, because a client's key may be guessable. */
function requestOf(subkeys: IssuerSubkeys, request: BatchRequest, checked: Checked): Buffer {
  return keyed(subkeys, ['batch-request', keyOwnerOf(request), keyOf(request, checked)])
}

/** @returns A keyed hash of the body, which may be guessable as well. */
function contentOf(subkeys: IssuerSubkeys, { sha256 }: Checked): Buffer {
  return keyed(subkeys, ['batch-content', sha256.toString('hex')])
}

function keyed({ salt }: IssuerSubkeys, parts: readonly string[]): Buffer {
  return createHmac('sha256', salt).update(JSON.stringify(parts)).digest()
}

/**
 * @returns The first use of a request's key, and the secret that sealed it.
 * @throws {IssueError} `idempotency_key_reused` when the key was used with another body.
 */
async function findClaim(
  { log, allSubkeys }: { log: BatchLog; allSubkeys: AllSubkeys },
  request: BatchRequest,
  checked: Checked,
): Promise<(BatchClaim & { subkeys: IssuerSubkeys }) | undefined> {
  for (const subkeys of allSubkeys) {
    const found = await log.find(requestOf(subkeys, request, checked))
    if (found) return { ...assertSame(found, contentOf(subkeys, checked)), subkeys }
  }
  return undefined
}

/** @throws {IssueError} `idempotency_key_reused`, `overloaded`. */
async function claim(log: BatchLog, id: Uint8Array, content: Buffer, now: number): Promise<void> {
  const first = await log.claim(id, { content, checkedAt: now })
  assertSame(first, content)
  // Another request with this key came first, at the same moment. A repeat finds its claim.
  if (first.checkedAt !== now)
    throw new IssueError('overloaded', 'the same batch is already being issued')
}

function assertSame(first: BatchClaim, content: Buffer): BatchClaim {
  if (content.equals(first.content)) return first
  throw new IssueError('idempotency_key_reused', 'the Idempotency-Key was used with another body')
}
