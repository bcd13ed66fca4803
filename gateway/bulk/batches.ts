import { randomBytes } from 'node:crypto'
import type { Batch } from '../../document/batch/batch.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import type { IssuerSubkeys } from '../../document/keys.ts'
import { createIndexEntryOf } from '../blind-index.ts'
import { type BatchLog, type DraftDocument, intentOfBatch } from '../issue/batch-log.ts'
import type { Batcher } from '../issue/batcher.ts'
import type { IsErased } from '../issue/erase.ts'
import { IssueError, refusalOf } from '../issue/errors.ts'
import type { IssueIntent } from '../issue/intent.ts'
import type { Outcome } from '../issue/outcome.ts'
import type { Quote } from '../issue/ports.ts'
import type { AllSubkeys } from '../issue/sealing.ts'
import { type AloneDeps, createAlone } from './alone.ts'
import type { BatchAnswer, Batches, BatchLine, BatchRequest } from './batch.ts'
import { type BulkDeps, sealBatch } from './bulk.ts'
import { claim, findClaim, keyOf, requestOf, tenantOf } from './claims.ts'
import { createEntries } from './entries.ts'
import { BatchError } from './errors.ts'
import { createKeeper } from './keeper.ts'
import type { Spool } from './spool.ts'
import { documentsIn, linesIn, readAgain, readUpload, turnAfter, type Upload } from './upload.ts'

/** Blocks, or documents, in one write. Fewer than in a file's: other requests wait for it. */
const GROUP = 512

export type BatchDeps = Omit<BulkDeps, 'subkeys' | 'group' | 'tenant' | 'keep'> &
  AloneDeps & {
    allSubkeys: AllSubkeys
    newSpool: () => Promise<Spool>
    log: BatchLog
    batcher: Batcher
    outcomeOf: (intent: IssueIntent) => Promise<Outcome>
    quote: (intent: IssueIntent) => Promise<Quote>
    isErased: IsErased
  }

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
  const alone = createAlone(deps)

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
    return alone.run(id, async () => {
      if (!first) await claim(deps.log, id, upload)
      const { batch, issued } = await seal(deps, upload, { id, subkeys, request })
      const anchored = await anchor(deps, id, batch, request)
      return { outcome: { ...anchored, root: batch.root }, lines: linesOf(upload, issued) }
    })
  }

  return { issue, start: alone.start }
}

/** Everything but the root is durable when it resolves. */
async function seal(
  deps: BatchDeps,
  upload: Upload,
  { id, subkeys, request }: { id: Uint8Array; subkeys: IssuerSubkeys; request: BatchRequest },
): Promise<{ batch: Batch; issued: Issued[] }> {
  const { registry, issuerId, drafts } = deps
  const indexEntryOf = createIndexEntryOf(deps.hkdf)
  const entries = createEntries()
  async function* documents() {
    for await (const fields of documentsIn(upload)) {
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

/** Promises a batch, and waits for its block. */
async function anchor(
  { log, batcher, ...deps }: BatchDeps,
  id: Uint8Array,
  { root, size, manifest }: Batch,
  { wait, tenant, newDeadline }: BatchRequest,
): Promise<{ status: 'valid' | 'pending'; transactionHash: Hex | null; replayed: boolean }> {
  const deadline = newDeadline()
  const batch = { root, size, manifest, tenant }
  const intent = intentOfBatch(batch)
  const before = await deadline.within(() => deps.outcomeOf(intent))
  if (before.status === 'conflict' || before.status === 'distrusted') throw refusalOf(before.status)
  const isNew = await log.promise(id, batch)
  if (before.status === 'anchored') {
    // Until its block is final.
    batcher.enqueue([intent])
    return { status: 'valid', transactionHash: before.transactionHash, replayed: true }
  }
  const answer = await batcher.submit(intent, Math.min(wait, deadline.left()))
  if (answer.status === 'moot') throw new TypeError('an issue is never moot')
  const { transactionHash } = answer
  const status = answer.status === 'anchored' ? 'valid' : 'pending'
  return { status, transactionHash, replayed: !isNew }
}

/** An intent with a random root, to estimate gas: every root costs the same. */
function sampleOf(size: number): IssueIntent {
  const random = toHex(randomBytes(32))
  return intentOfBatch({ root: random, size, manifest: random, tenant: '' })
}

async function* linesOf(upload: Upload, issued: readonly Issued[] = []): AsyncGenerator<BatchLine> {
  let next = 0
  for await (const entry of linesIn(upload)) {
    const { line } = entry
    if ('problems' in entry) yield { line, problems: entry.problems }
    else yield { line, ...issued[next++] }
  }
}
