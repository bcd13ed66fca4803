import { createHmac, randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Batch } from '../../document/batch/batch.ts'
import type { DocumentFields } from '../../document/document.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import type { IssuerSubkeys } from '../../document/keys.ts'
import type { Deadline } from '../deadline.ts'
import { type BatchClaim, type BatchLog, intentOfBatch } from '../issue/batch-log.ts'
import type { Batcher } from '../issue/batcher.ts'
import { IssueError, refusalOf } from '../issue/errors.ts'
import type { IssueIntent } from '../issue/intent.ts'
import type { Outcome } from '../issue/outcome.ts'
import type { Quote } from '../issue/ports.ts'
import type { AllSubkeys } from '../issue/sealing.ts'
import type { BatchAnswer, Batches, BatchLine, BatchRequest } from './batch.ts'
import { type BulkDeps, sealBatch } from './bulk.ts'
import { BatchError } from './errors.ts'
import { type Checked, checkLines, type Rules, readLines } from './lines.ts'
import type { Spool } from './spool.ts'

/** Maximum documents in one batch, and bytes of an upload. */
const MAX_DOCUMENTS = 100_000
const MAX_UPLOAD = 1024 ** 3
/** Documents to seal, or to answer for, in one turn of the event loop: about 1 ms. */
const DOCUMENTS_A_TURN = 16
/** Blocks in one write. Fewer than in a file's: other requests wait for it. */
const GROUP = 512

export type BatchDeps = Omit<BulkDeps, 'subkeys' | 'group' | 'tenant'> & {
  allSubkeys: AllSubkeys
  newSpool: () => Promise<Spool>
  log: BatchLog
  batcher: Batcher
  outcomeOf: (intent: IssueIntent) => Promise<Outcome>
  quote: (intent: IssueIntent) => Promise<Quote>
}

/** An upload that was read to its end, and the rules for its lines. */
type Upload = Checked & Rules & { spool: Spool }
/** An answer without the way to end it. */
type Unclosed = Omit<BatchAnswer, 'close'>

/** The documents of a batch, in order. */
type Issued = { publicId: string; documentHash: Hex }

/**
 * Issues batches: an upload goes to the spool while it is checked; then its documents are sealed and
 * stored, and at last the root is promised. So an upload that breaks off leaves nothing, and what
 * is promised has all of its payloads.
 */
export function createBatches(deps: BatchDeps): Batches {
  async function issue(request: BatchRequest): Promise<BatchAnswer> {
    if (!request.dryRun) deps.batcher.assertOpen()
    const spool = await deps.newSpool()
    try {
      return { ...(await issueUpload(spool, request)), close: spool.close }
    } catch (error) {
      await spool.close()
      // The database is closed under a batch when the service stops.
      if (!(error instanceof BatchError || error instanceof IssueError)) deps.batcher.assertOpen()
      throw error
    }
  }

  async function issueUpload(spool: Spool, request: BatchRequest): Promise<Unclosed> {
    const read = await readUpload(spool, request, Date.now())
    const first = await findClaim(deps, request, read)
    // What was a document then is one now: dates are judged by the day.
    const upload = first ? await readAgain(read, first.checkedAt) : read
    const size = upload.size - upload.bad
    if (size === 0 || (upload.bad > 0 && request.atomic))
      return { outcome: { status: 'refused' }, lines: linesOf(upload) }
    if (request.dryRun) {
      const quote = await deps.quote(sampleOf(size))
      return { outcome: { status: 'checked', size, quote }, lines: linesOf(upload) }
    }
    const subkeys = first?.subkeys ?? deps.allSubkeys[0]
    if (!first) await claim(deps, subkeys, request, upload)
    const { batch, issued } = await seal(upload, subkeys, request)
    const deadline = request.newDeadline()
    const anchored = await anchor(batch, request, deadline)
    return { outcome: { ...anchored, root: batch.root }, lines: linesOf(upload, issued) }
  }

  /** Everything but the root is durable when it resolves. */
  async function seal(upload: Upload, subkeys: IssuerSubkeys, request: BatchRequest) {
    const tenant = tenantOf(request)
    const { batch, keepBlocks } = await sealBatch(
      { ...deps, subkeys, tenant, group: GROUP },
      documentsOf(upload),
      keyOf(request, upload),
    )
    const issued: Issued[] = []
    for await (const { publicId, documentHash } of keepBlocks()) {
      issued.push({ publicId, documentHash })
      await turnAfter(issued.length)
    }
    return { batch, issued }
  }

  async function anchor(
    { root, size, manifest }: Batch,
    { wait, tenant }: BatchRequest,
    deadline: Deadline,
  ): Promise<{ status: 'valid' | 'pending'; transactionHash: Hex | null; replayed: boolean }> {
    const batch = { root, size, manifest, tenant }
    const intent = intentOfBatch(batch)
    const before = await deadline.within(() => deps.outcomeOf(intent))
    if (before.status === 'conflict' || before.status === 'distrusted')
      throw refusalOf(before.status)
    const isNew = await deps.log.promise(batch)
    if (before.status === 'anchored') {
      // Until its block is final.
      deps.batcher.enqueue([intent])
      return { status: 'valid', transactionHash: before.transactionHash, replayed: true }
    }
    const answer = await deps.batcher.submit(intent, Math.min(wait, deadline.left()))
    if (answer.status === 'moot') throw new TypeError('an issue is never moot')
    const { transactionHash } = answer
    const status = answer.status === 'anchored' ? 'valid' : 'pending'
    return { status, transactionHash, replayed: !isNew }
  }

  return { issue }
}

/** @throws {BatchError} */
async function readUpload(
  spool: Spool,
  { body, categories }: BatchRequest,
  now: number,
): Promise<Upload> {
  const rules = { now, ...(categories && { categories }) }
  const checked = await checkLines(spool.write(atMost(body, MAX_UPLOAD)), rules, ({ line }) => {
    if (line > MAX_DOCUMENTS)
      throw new BatchError('too_large', `at most ${MAX_DOCUMENTS} documents`)
  })
  if (checked.size > 0) return { ...checked, ...rules, spool }
  throw new BatchError('empty', 'must have at least one document')
}

async function readAgain(upload: Upload, now: number): Promise<Upload> {
  const rules = { ...upload, now }
  return { ...rules, ...(await checkLines(upload.spool.read(), rules, () => {})) }
}

async function* atMost(body: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let length = 0
  try {
    for await (const chunk of body) {
      length += chunk.length
      if (length > limit) throw new BatchError('too_large', `at most ${limit} bytes`)
      yield chunk
    }
  } catch (cause) {
    if (cause instanceof BatchError) throw cause
    throw new BatchError('truncated', 'request body truncated', cause)
  }
}

/** Without a key, the content is the key. */
function keyOf({ idempotencyKey }: BatchRequest, { sha256 }: Checked): string {
  return idempotencyKey ?? sha256.toString('hex')
}

/**
 * Whose keys a request shares. The categories decide which lines are documents, and so which batch
 * it is.
 */
function tenantOf({ tenant, categories = [] }: BatchRequest): string {
  return JSON.stringify(['batch', tenant, categories])
}

/** A keyed hash, since a client's key may be guessable. */
function requestOf(subkeys: IssuerSubkeys, request: BatchRequest, checked: Checked): Buffer {
  const kind = request.idempotencyKey === undefined ? 'content' : 'key'
  return createHmac('sha256', subkeys.salt)
    .update(JSON.stringify(['batch-request', tenantOf(request), kind, keyOf(request, checked)]))
    .digest()
}

/**
 * @returns The first use of a request's key, and the secret that sealed it.
 * @throws {IssueError} `idempotency_key_reused` when it was used for another body.
 */
async function findClaim(
  { log, allSubkeys }: BatchDeps,
  request: BatchRequest,
  checked: Checked,
): Promise<(BatchClaim & { subkeys: IssuerSubkeys }) | undefined> {
  for (const subkeys of allSubkeys) {
    const found = await log.find(requestOf(subkeys, request, checked))
    if (found) return { ...assertSame(found, checked), subkeys }
  }
  return undefined
}

async function claim(
  { log }: BatchDeps,
  subkeys: IssuerSubkeys,
  request: BatchRequest,
  upload: Upload,
): Promise<void> {
  const { sha256: content, now } = upload
  const first = await log.claim(requestOf(subkeys, request, upload), { content, checkedAt: now })
  assertSame(first, upload)
  // Another request came first, at this moment; a repeat finds its claim.
  if (first.checkedAt !== now) throw new IssueError('overloaded', 'the same batch is under way')
}

function assertSame(first: BatchClaim, { sha256 }: Checked): BatchClaim {
  if (sha256.equals(first.content)) return first
  throw new IssueError('idempotency_key_reused', 'the key was used for another body')
}

/** Lets everything else have its turn, now and then. @param count What was done by now. */
async function turnAfter(count: number): Promise<void> {
  if (count % DOCUMENTS_A_TURN === 0) await nextTurn()
}

/** An intent with a random root, to estimate gas: every root costs the same. */
function sampleOf(size: number): IssueIntent {
  const random = toHex(randomBytes(32))
  return intentOfBatch({ root: random, size, manifest: random, tenant: '' })
}

async function* documentsOf(upload: Upload): AsyncGenerator<DocumentFields> {
  for await (const entry of readLines(upload.spool.read(), upload)) {
    await turnAfter(entry.line)
    if ('fields' in entry) yield entry.fields
  }
}

async function* linesOf(upload: Upload, issued: readonly Issued[] = []): AsyncGenerator<BatchLine> {
  let next = 0
  for await (const entry of readLines(upload.spool.read(), upload)) {
    const { line } = entry
    await turnAfter(line)
    if ('problems' in entry) yield { line, problems: entry.problems }
    else yield { line, ...issued[next++] }
  }
}
