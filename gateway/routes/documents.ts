import type { Hono } from 'hono'
import * as v from 'valibot'
import type { Document } from '../../document/document.ts'
import { FormatError } from '../../document/errors.ts'
import { toHex } from '../../document/hex.ts'
import { decodePublicId } from '../../document/public-id.ts'
import { openDocument } from '../../document/sealed.ts'
import { FINALITIES, type Finality } from '../../verifier/ports.ts'
import {
  REASON_NAMES,
  REVOCATION_REASONS,
  reasonName,
} from '../../verifier/reasons.ts'
import { verify } from '../../verifier/verify.ts'
import type { Deps } from '../app.ts'
import { verifyWithin } from '../deadline.ts'
import type { Env } from '../env.ts'
import { succeed } from '../envelope.ts'
import { ApiError, HEAD_BEHIND, unverifiable } from '../errors.ts'
import type { Issued } from '../issue/issue.ts'
import { parseIssueBody } from '../issue-body.ts'
import { authorize } from '../middleware/authorize.ts'
import { networkOfRegistry, presentDocument } from '../present.ts'
import { problemsOf, readJson } from '../request.ts'

/** How final the block of the anchoring has to be before the answer. */
const FINALITY = v.optional(
  v.picklist(FINALITIES, `must be one of ${FINALITIES.join(', ')}`),
  'included',
)

/** The life of one document: POST …/documents, GET …/documents/{publicId}, POST …/documents/{publicId}/revoke. */
export function documentRoutes(app: Hono<Env>, deps: Deps): void {
  const { issuing, revoking, addresses, findKey, wait, newDeadline } = deps
  for (const path of ['/v1/documents', '/api/documents']) {
    app.post(
      path,
      authorize(findKey, 'documents:issue', { wait: FINALITY }),
      async (c) => {
        const { wait: finality } = c.get('query')
        const fields = parseIssueBody(await readJson(c), Date.now())
        const idempotencyKey = idempotencyKeyOf(c.req.header('idempotency-key'))
        const issued = await issuing.issue({
          fields,
          tenant: c.get('grant').tenant,
          ...(idempotencyKey !== undefined && { idempotencyKey }),
          wait: prefersAsync(c.req.header('prefer')) ? 0 : wait,
          deadline: newDeadline(),
          finality,
        })
        const done = issued.status !== 'pending' && reaches(issued, finality)
        return succeed(
          c,
          {
            ...presentDocument(addresses, issued.document, issued),
            ...(finality !== 'included' && { finality: issued.finality }),
          },
          done ? 201 : 202,
          {
            Location: `${addresses.baseUrl}/v1/documents/${issued.publicId}`,
            ...(issued.replayed && { 'Idempotency-Replayed': 'true' }),
          },
        )
      },
    )

    app.get(
      `${path}/:publicId`,
      authorize(findKey, 'documents:read', {}),
      async (c) => {
        const publicId = c.req.param('publicId')
        const found = await findDocument(deps, publicId)
        return succeed(c, found)
      },
    )

    app.post(
      `${path}/:publicId/revoke`,
      authorize(findKey, 'documents:revoke', {}),
      async (c) => {
        const publicId = c.req.param('publicId')
        const { issuerId, hash } = decodePublicId(publicId)
        const documentHash = toHex(hash)
        const { status, reason, revokedAt, transactionHash } =
          await revoking.revoke({
            issuerId,
            documentHash,
            reason: parseReason(await readJson(c)),
            wait: prefersAsync(c.req.header('prefer')) ? 0 : wait,
            deadline: newDeadline(),
          })
        return succeed(
          c,
          {
            publicId,
            documentHash,
            status,
            reason: reasonName(reason),
            revokedAt,
            network: networkOfRegistry(addresses.registry),
            blockchainHash: transactionHash,
          },
          status === 'pending' ? 202 : 200,
        )
      },
    )
  }
}

/** A document as issued, with its status now; also while it is pending, from the own store. */
async function findDocument(deps: Deps, publicId: string): Promise<object> {
  const { verifyOptions, addresses, standingOf, newDeadline } = deps
  const decoded = decodePublicId(publicId)
  const { hash, documentKey } = decoded
  const documentHash = toHex(hash)
  const verdict = await verify(
    publicId,
    verifyWithin(newDeadline(), verifyOptions),
  )
  const present = (document: Document, status: string) =>
    presentDocument(addresses, document, {
      publicId,
      documentHash,
      status,
      transactionHash: verdict.blockchainProof?.transactionHash ?? null,
    })
  if (verdict.document)
    return {
      ...present(verdict.document, verdict.status),
      blockchainProof: verdict.blockchainProof,
    }
  const standing =
    verdict.status === 'not_issued' ? standingOf(decoded) : undefined
  // This gateway has seen it on the chain: the node is behind.
  if (standing?.anchored) throw unverifiable(HEAD_BEHIND)
  const pending = standing && (await openPending(deps, hash, documentKey))
  if (pending) return present(pending, 'pending')
  if (verdict.status === 'erased')
    throw new ApiError('erased', 'the document has been erased')
  if (verdict.checks.some(({ outcome }) => outcome === 'unknown'))
    throw unverifiable(verdict.checks)
  throw new ApiError('not_found', 'no such document')
}

/** @returns What was promised; `undefined` when the key does not open it. */
async function openPending(
  { store }: Deps,
  hash: Uint8Array,
  documentKey: Uint8Array,
): Promise<Document | undefined> {
  const block = await store.get(hash)
  if (block.status !== 'found') return undefined
  try {
    return await openDocument(block.bytes, documentKey)
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}

const revocation = v.pipe(
  v.custom<object>((body) => !Array.isArray(body), 'must be a JSON object'),
  v.strictObject({
    reason: v.optional(
      v.picklist(REASON_NAMES, `must be one of ${REASON_NAMES.join(', ')}`),
      'unspecified',
    ),
  }),
)

/** @returns The RFC 5280 reason code of a body `{"reason"?}`. */
function parseReason(body: unknown): number {
  const result = v.safeParse(revocation, body)
  if (result.success) return REVOCATION_REASONS[result.output.reason]
  throw new ApiError('bad_fields', 'invalid fields', {
    details: problemsOf(result.issues),
  })
}

function reaches({ finality }: Issued, wanted: Finality): boolean {
  return (
    finality !== null &&
    FINALITIES.indexOf(finality) >= FINALITIES.indexOf(wanted)
  )
}

/** RFC 7240. */
function prefersAsync(prefer: string | undefined): boolean {
  return (prefer ?? '')
    .split(',')
    .some((item) => item.trim().toLowerCase() === 'respond-async')
}

/** draft-ietf-httpapi-idempotency-key-header: a quoted string; one without quotes is taken as well. */
function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const key =
    /^"([\x20-\x21\x23-\x7e]{1,255})"$|^([\x21\x23-\x7e]{1,255})$/.exec(header)
  if (!key)
    throw new ApiError(
      'bad_idempotency_key',
      'Idempotency-Key must have 1 to 255 printable ASCII characters',
    )
  return key[1] ?? key[2]
}
