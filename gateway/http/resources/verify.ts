import * as v from 'valibot'
import { verifyWithin } from '#base/deadline.ts'
import type { Hex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { withHistory } from '#promise/history.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { keyOf, verifyPublicId } from '#verifier/verify.ts'
import type { AnswerOf } from '../core/answers.ts'
import { succeed } from '../core/envelope.ts'
import { unverifiable } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { isPromised } from '../core/promised.ts'
import { instant, presentDocument, presentProof } from './present.ts'
import * as schemas from './schemas.ts'

export const verdict = v.object({
  valid: v.pipe(v.boolean(), v.description('True only for the status `valid`.')),
  status: schemas.status,
  network: schemas.network,
  document: v.nullable(schemas.documentSchema),
  blockchainProof: v.union([schemas.blockchainProof, schemas.absenceProof, v.null()]),
  checks: v.array(schemas.check),
  asOf: v.nullable(
    v.object({
      blockNumber: schemas.count,
      blockHash: v.nullable(schemas.hash),
      blockTime: schemas.instant,
    }),
  ),
})

const VERIFY = operation({
  operationId: 'verifyDocument',
  route: 'GET /v1/verify',
  tag: 'Verification',
  summary: 'Verify a document',
  description:
    'The answer is 200 whenever there is a verdict, also for a document that was never issued, and 503 `unverifiable` when the document could not be checked, with the checks in `details`.',
  scope: 'verify',
  query: {
    publicId: schemas.sentPublicId,
    proof: v.exactOptional(
      v.pipe(v.literal('full', 'must be full'), v.description('`full` adds the storage proof.')),
    ),
  },
  exampleQuery: { publicId: schemas.EXAMPLE_PUBLIC_ID },
  answer: {
    description: 'The verdict.',
    data: verdict,
  },
  errors: ['unverifiable', 'store_unavailable'],
})

/** Serves the verdict about a document. */
export const verifyRoutes = resource(
  [VERIFY],
  (serve, deps) => {
    const { verifyOptions, provingChain, addresses } = deps
    const { findIssue, history, newDeadline } = deps
    serve(VERIFY, async (c) => {
      const { publicId, proof: wanted } = c.get('query')
      const decoded = decodePublicId(publicId)
      const key = keyOf(decoded)
      const { documentHash } = key
      const options = verifyWithin(newDeadline(), {
        ...verifyOptions,
        ...(wanted && { chain: provingChain }),
      })
      const verdict = await verifyPublicId(decoded, options)
      if (verdict.status === 'unverifiable') throw unverifiable(verdict.checks)
      const promised = await isPromised(findIssue, key, verdict.status)
      const status = promised ? 'pending' : verdict.status
      const { document, stateProof, asOf, checks, ...rest } = verdict
      const proof = await withHistory(history, verdict.blockchainProof)
      const blockchainProof = proof && presentProof(proof)
      return succeed(c, VERIFY, {
        ...rest,
        status,
        network: addresses.network,
        // A check of a credential is of presentations alone.
        checks: checks as AnswerOf<typeof schemas.check>[],
        asOf: asOf && { ...asOf, blockTime: instant(asOf.blockTime) },
        document:
          document &&
          presentDocument(addresses, document, {
            publicId,
            // The publicId of a document in a batch contains the hash of its batch block.
            documentHash: proof?.documentHash ?? documentHash,
            status,
            transactionHash: proof?.transactionHash ?? null,
          }),
        blockchainProof: stateProof
          ? {
              ...(blockchainProof ?? anchorOf(addresses.registry, documentHash)),
              stateProof,
            }
          : blockchainProof,
      })
    })
  },
  { Verdict: verdict },
)

/** The proof for a document without a record: this registry has no record of this hash. */
function anchorOf(registry: RegistryId, documentHash: Hex) {
  return { chainId: parseRegistry(registry).chainId, registry, documentHash }
}
