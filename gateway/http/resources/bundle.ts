import * as v from 'valibot'
import { clock } from '#base/clock.ts'
import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { type Bundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import { readBatch } from '#verifier/checks/batch.ts'
import { ChainError } from '#verifier/errors.ts'
import type { Check, Verdict } from '#verifier/verdict.ts'
import { keyOf } from '#verifier/verify.ts'
import { ApiError, HEAD_BEHIND, unverifiable } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { isPromised } from '../core/promised.ts'
import type { AppDeps } from '../deps.ts'
import * as schemas from './schemas.ts'

const bundleSchema = v.object({
  type: v.literal('document-registry-bundle'),
  v: v.literal(1),
  publicId: schemas.publicId,
  registry: schemas.registry,
  batch: v.nullable(v.string()),
  sealed: v.nullable(v.string()),
  stateProof: schemas.stateProof,
  unprovenEvent: v.nullable(
    v.object({
      transactionHash: schemas.hash,
      blockHash: schemas.hash,
      logIndex: schemas.count,
    }),
  ),
})

const BUNDLE = operation({
  operationId: 'retrieveBundle',
  route: 'GET /v1/documents/:publicId/bundle',
  tag: 'Verification',
  summary: 'Retrieve a proof that works offline',
  description:
    'One JSON file without the envelope, with which anybody can verify the document against the hash of a trusted block. It contains the document and its key.',
  scope: 'documents:read',
  parameters: { publicId: schemas.sentPublicId },
  answer: {
    description: 'The bundle at the newest block, also for a document that was never issued.',
    content: { 'application/json': bundleSchema },
    headers: { 'Content-Disposition': v.string() },
  },
  errors: ['erased', 'unverifiable', 'store_unavailable'],
})

export const bundleRoutes = resource([BUNDLE], (serve, deps) => {
  serve(BUNDLE, async (c) => {
    const publicId = c.req.param('publicId')
    const { hash } = decodePublicId(publicId)
    const { bundle } = await readChecked(deps, publicId)
    return c.json(bundle, 200, {
      'Content-Disposition': `attachment; filename="${toHex(hash.subarray(0, 8))}.bundle.json"`,
    })
  })
})

/** What a bundle with its verdict needs. */
export type CheckingDeps = Pick<
  AppDeps,
  'addresses' | 'bundleOf' | 'isErased' | 'newDeadline' | 'findIssue' | 'store' | 'verifyOptions'
>

/**
 * @returns The bundle at the newest block, and its verdict, which is never `unverifiable`.
 * @throws {ApiError} `erased`; `unverifiable`, also for a document that will be on the chain soon.
 */
export async function readChecked(
  deps: CheckingDeps,
  publicId: string,
): Promise<{ bundle: Bundle; verdict: Verdict }> {
  const { findIssue, store, bundleOf, verifyOptions, newDeadline, isErased, addresses } = deps
  const decoded = decodePublicId(publicId)
  const key =
    decoded.kind === 'single'
      ? keyOf(decoded)
      : (await readBatch(decoded, addresses.registry, [store])).key
  if (key && (await isErased(key.documentHash)))
    throw new ApiError('erased', 'the document has been erased')
  const bundle = await newDeadline()
    .within((signal) => bundleOf(publicId, signal))
    .catch((error) => {
      if (!(error instanceof ChainError)) throw error
      const { code, cause } = error
      if (code === 'batch_unknown' || code === 'payload_unreachable')
        throw unverifiable([cause as Check])
      throw unverifiable([{ check: 'chain', outcome: 'unknown', code }])
    })
  // The bundle is read here as its recipient will read it, before it is sent.
  const { blockHash, blockTime } = readBundle(bundle).block
  assertFresh(blockTime, verifyOptions.maxHeadAge)
  const verdict = await verifyBundle(bundle, {
    registry: bundle.registry,
    trustedBlocks: [blockHash],
  })
  // A proof of its absence would mislead.
  if (await isPromised(findIssue, keyOf(decoded), verdict.status)) throw unverifiable(HEAD_BEHIND)
  if (verdict.status === 'unverifiable') throw unverifiable(verdict.checks)
  return { bundle, verdict }
}

/** A node that has stopped still returns proofs, which miss everything that came later. */
function assertFresh(blockTime: number, maxHeadAge = Infinity): void {
  if (clock.wall() / 1000 - blockTime > maxHeadAge)
    throw unverifiable([{ check: 'chain', outcome: 'unknown', code: 'head_stale' }])
}
