import { createHmac, randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Batch } from '../../document/batch/batch.ts'
import type { DocumentFields } from '../../document/document.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import type { IssuerSubkeys } from '../../document/keys.ts'
import { createIndexEntryOf } from '../blind-index.ts'
import {
  type BatchClaim,
  type BatchDrafts,
  type BatchLog,
  type DraftDocument,
  intentOfBatch,
} from '../issue/batch-log.ts'
import type { Batcher } from '../issue/batcher.ts'
import type { IsErased } from '../issue/erase.ts'
import { IssueError, refusalOf } from '../issue/errors.ts'
import type { IssueIntent } from '../issue/intent.ts'
import type { Outcome } from '../issue/outcome.ts'
import type { Quote } from '../issue/ports.ts'
import type { AllSubkeys } from '../issue/sealing.ts'
import type { BatchAnswer, Batches, BatchLine, BatchRequest } from './batch.ts'
import { type BulkDeps, sealBatch } from './bulk.ts'
import { createEntries } from './entries.ts'
import { BatchError } from './errors.ts'
import { createKeeper } from './keeper.ts'
import { type Checked, checkLines, type Rules, readLines } from './lines.ts'
import type { Spool } from './spool.ts'

/** Maximum documents in one batch, and bytes of an upload. */
const MAX_DOCUMENTS = 100_000
const MAX_UPLOAD = 1024 ** 3
/** Documents to seal, or to answer for, in one turn of the event loop: about 1 ms. */
const DOCUMENTS_A_TURN = 16
/** Blocks, or documents, in one write. Fewer than in a file's: other requests wait for it. */
const GROUP = 256

export type BatchDeps = Omit<BulkDeps, 'subkeys' | 'group' | 'tenant' | 'keep'> & {
  allSubkeys: AllSubkeys
  newSpool: () => Promise<Spool>
  log: BatchLog
  drafts: BatchDrafts
  /** Aborts when the service stops. */
  signal: AbortSignal
  /** Reports what the start deleted, or why it could not. */
  discarded: (result: { requests: number } | { error: unknown }) => void
  batcher: Batcher
  outcomeOf: (intent: IssueIntent) => Promise<Outcome>
  quote: (intent: IssueIntent) => Promise<Quote>
  isErased: IsErased
}

/** An upload that was read to its end, and the rules for its lines. */
type Upload = Checked & Rules & { spool: Spool }
/** An answer without the way to end it. */
type Unclosed = Omit<BatchAnswer, 'close'>

/** The documents of a batch, in order. */
type Issued = { publicId: string; documentHash: Hex } | { isErased: true }

/**
 * Issues batches: an upload goes to the spool while it is checked; then its documents are sealed and
 * stored, and at last the root is promised. So an upload that breaks off leaves nothing, and what
 * is promised has all of its payloads.
 */
export function createBatches(deps: BatchDeps): Batches {
  const { log, drafts } = deps
  const indexEntryOf = createIndexEntryOf(deps.hkdf)
  const underWay = new Set<string>()
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
    const id = requestOf(subkeys, request, upload)
    return alone(id, async () => {
      if (!first) await claim(deps, id, upload)
      const { batch, issued } = await seal(upload, { id, subkeys, request })
      const anchored = await anchor(id, batch, request)
      return { outcome: { ...anchored, root: batch.root }, lines: linesOf(upload, issued) }
    })
  }

  /** Runs the work of a request; nothing of it stays when it promises nothing. */
  async function alone<T>(id: Uint8Array, work: () => Promise<T>): Promise<T> {
    const name = toHex(id)
    if (underWay.has(name)) throw new IssueError('overloaded', 'the same batch is under way')
    underWay.add(name)
    // The next start deletes what this cannot.
    const discard = () => drafts.discard(id).catch(() => {})
    try {
      await discardOlder()
      const result = await work()
      // Only notes: it is promised. The answer does not wait for that.
      void discard()
      return result
    } catch (error) {
      await discard()
      throw error
    } finally {
      underWay.delete(name)
    }
  }

  /** Everything but the root is durable when it resolves. */
  async function seal(
    upload: Upload,
    { id, subkeys, request }: { id: Uint8Array; subkeys: IssuerSubkeys; request: BatchRequest },
  ) {
    const { registry, issuerId } = deps
    const entries = createEntries()
    async function* documents() {
      for await (const fields of documentsOf(upload)) {
        entries.push(indexEntryOf(subkeys, { ...fields, registry, issuerId }, request.tenant))
        yield fields
      }
    }
    const { batch, keepBlocks } = await sealBatch(
      {
        ...{ ...deps, subkeys, tenant: tenantOf(request), group: GROUP },
        keep: (blocks) => drafts.put(id, blocks),
      },
      documents(),
      keyOf(request, upload),
    )
    const issued: Issued[] = []
    const known = { ...batch, tenant: request.tenant }
    const indexer = createKeeper<DraftDocument>((some) => drafts.index(id, known, some), GROUP)
    for await (const { publicId, documentHash, batchBlock } of keepBlocks()) {
      const entry = { ...entries.at(issued.length), batchBlock }
      await indexer.add({ documentHash, entry })
      const isErased = await deps.isErased(documentHash)
      issued.push(isErased ? { isErased } : { publicId, documentHash })
      await turnAfter(issued.length)
    }
    await indexer.end()
    return { batch, issued }
  }

  async function anchor(
    id: Uint8Array,
    { root, size, manifest }: Batch,
    { wait, tenant, newDeadline }: BatchRequest,
  ): Promise<{ status: 'valid' | 'pending'; transactionHash: Hex | null; replayed: boolean }> {
    const deadline = newDeadline()
    const batch = { root, size, manifest, tenant }
    const intent = intentOfBatch(batch)
    const before = await deadline.within(() => deps.outcomeOf(intent))
    if (before.status === 'conflict' || before.status === 'distrusted')
      throw refusalOf(before.status)
    const isNew = await log.promise(id, batch)
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

  let discarding: Promise<void> | undefined
  /** What earlier processes left is gone before anything is stored: it may be of the same request. */
  function discardOlder(): Promise<void> {
    discarding ??= drafts.discardAll(deps.signal).then(
      (requests) => deps.discarded({ requests }),
      (error) => {
        discarding = undefined
        deps.discarded({ error })
        throw error
      },
    )
    return discarding
  }

  return { issue, start: () => void discardOlder().catch(() => {}) }
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
  return createHmac('sha256', subkeys.salt)
    .update(JSON.stringify(['batch-request', tenantOf(request), keyOf(request, checked)]))
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

async function claim({ log }: BatchDeps, id: Uint8Array, upload: Upload): Promise<void> {
  const { sha256: content, now } = upload
  const first = await log.claim(id, { content, checkedAt: now })
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
