import type { Context, Hono } from 'hono'
import type { NewDeadline } from '#base/deadline.ts'
import type { Log } from '#base/log.ts'
import type { Batches, BatchRequest } from '#batches/batch.ts'
import type { BatchReader, BatchStanding } from '#batches/batch-reader.ts'
import { cidOf } from '#document/cid.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { type FindKey, type Grant, shareOf, tenantOf } from '#keys/grant.ts'
import type { Revising } from '#promise/revise.ts'
import type { Env } from '../core/env.ts'
import { succeed } from '../core/envelope.ts'
import { ApiError } from '../core/errors.ts'
import { answerLines, isNdjson } from '../core/ndjson.ts'
import { serve } from '../core/operation.ts'
import { createPlaces } from '../core/places.ts'
import { readOptionalJson } from '../core/request.ts'
import { idempotencyKeyOf, prefersAsync } from '../core/request-headers.ts'
import { BATCH_STATUS, batchEnvelopes, batchHeaders } from './batch-answer.ts'
import { BATCH_REVISIONS, ISSUE_BATCH, LIST_BATCHES, RETRIEVE_BATCH } from './batch-operations.ts'
import { type Addresses, instant } from './present.ts'
import { presentRevised } from './revisions.ts'

export type BatchRouteDeps = {
  findKey: FindKey
  batches: Batches
  batchReader: BatchReader
  revising: Revising
  addresses: Addresses
  /** How long a request waits for a block; milliseconds. */
  wait: number
  newDeadline: NewDeadline
  log: Log
}

/** Uploads until they are answered: each takes disk for its bytes, and memory for its tables. */
const MAX_UPLOADS = { all: 16, each: 4 }
/** Characters of an answer that are sent together. */
const GATHER = 16 * 1024
/** Batches of documents: issued by one root, and changed together. */
export function batchRoutes(app: Hono<Env>, deps: BatchRouteDeps): void {
  const { findKey, batchReader, newDeadline } = deps
  const places = createPlaces(MAX_UPLOADS, 'batches')
  serve(app, ISSUE_BATCH, findKey, async (c) => {
    const { atomic, dry_run } = c.get('query')
    const { tenant, categories } = c.get('grant')
    const share = shareOf(c.get('grant'))
    return issueBatch(c, deps, places.enter(share), {
      ...{ atomic: atomic === 'true', dryRun: dry_run === 'true', tenant, share },
      ...(categories && { categories }),
      assertAllowed: c.get('assertKey'),
    })
  })

  serve(app, LIST_BATCHES, findKey, async (c) => {
    const { limit, cursor } = c.get('query')
    const tenant = tenantOf(c.get('grant'))
    const before = cursor === undefined ? undefined : Number(cursor)
    const { batches, next } = await newDeadline().within(() =>
      batchReader.list(tenant, before, Number(limit)),
    )
    return succeed(c, {
      batches: batches.map((batch) => present(deps, batch)),
      nextCursor: next === undefined ? null : String(next),
    })
  })

  serve(app, RETRIEVE_BATCH, findKey, async (c) => {
    const root = rootOf(c.req.param('root'))
    const tenant = tenantOf(c.get('grant'))
    const batch = await newDeadline().within(() => batchReader.get(root, tenant))
    if (!batch) throw new ApiError('not_found', 'no such batch')
    return succeed(c, present(deps, batch))
  })

  for (const { operation, changedAt, read } of BATCH_REVISIONS)
    serve(app, operation, findKey, async (c) => {
      const root = rootOf(c.req.param('root'))
      await assertMayChange(batchReader, root, c.get('grant'))
      const revised = await deps.revising.revise({
        intent: { ...read(root, await readOptionalJson(c)), root, tenant: c.get('grant').tenant },
        wait: prefersAsync(c.req.header('prefer')) ? 0 : deps.wait,
        deadline: newDeadline(),
      })
      const changed = presentRevised(revised, changedAt, deps.addresses)
      return succeed(c, { root, ...changed }, revised.status === 'pending' ? 202 : 200)
    })
}

/**
 * A batch may have documents of any category, so keys with a list of categories change its
 * documents one by one.
 */
async function assertMayChange(reader: BatchReader, root: Hex, grant: Grant): Promise<void> {
  if (!(await reader.isOf(root, tenantOf(grant)))) throw new ApiError('not_found', 'no such batch')
  if (grant.categories)
    throw new ApiError(
      'category_not_allowed',
      'the API key is limited to categories: name the documents in place of the batch',
    )
}

async function issueBatch(
  c: Context,
  deps: BatchRouteDeps,
  leave: () => void,
  options: Omit<BatchRequest, 'body' | 'idempotencyKey' | 'wait' | 'newDeadline'>,
): Promise<Response> {
  try {
    if (!isNdjson(c)) throw new ApiError('not_json', 'Content-Type must be application/x-ndjson')
    const idempotencyKey = idempotencyKeyOf(c.req.header('idempotency-key'))
    const answer = await deps.batches.issue({
      ...options,
      body: c.req.raw.body ?? noBytes(),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      wait: prefersAsync(c.req.header('prefer')) ? 0 : deps.wait,
      newDeadline: deps.newDeadline,
    })
    return answerLines(c, batchEnvelopes(deps, answer, c.get('requestId')), {
      status: BATCH_STATUS[answer.outcome.status],
      headers: batchHeaders(deps, answer.outcome),
      gather: GATHER,
      done: () => void answer.close().finally(leave),
    })
  } catch (error) {
    leave()
    throw error
  }
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

function rootOf(text: string): Hex {
  if (/^0x[0-9a-f]{64}$/.test(text)) return text as Hex
  throw new ApiError('not_found', 'no such batch')
}

function present({ addresses }: BatchRouteDeps, batch: BatchStanding): object {
  const { root, size, manifest, status, record, transactionHash } = batch
  return {
    root,
    size,
    status,
    manifest: manifest && cidOf(fromHex(manifest)),
    blockNumber: record?.anchoredBlock ?? null,
    blockTime: instant(record?.anchoredAt ?? null),
    blockchainHash: transactionHash,
    registry: addresses.registry,
    issuerId: addresses.issuerId,
    network: addresses.network,
  }
}
