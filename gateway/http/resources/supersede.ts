import * as v from 'valibot'
import type { Hex } from '#document/hex.ts'
import type { Superseded } from '#promise/supersede.ts'
import type { AnswerOf } from '../core/answers.ts'
import { succeed } from '../core/envelope.ts'
import { NAMED_ERRORS, WRITE_ERRORS } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { changeableOf, nameIn } from './document-path.ts'
import { ISSUED_HEADERS } from './documents.ts'
import { issueBody, issuedHeaders, readIssueRequest } from './issue-body.ts'
import { instant, presentDocument, presentReason } from './present.ts'
import * as schemas from './schemas.ts'

const SUPERSEDED = v.object({
  publicId: v.nullable(schemas.publicId),
  documentHash: schemas.hash,
  supersededBy: schemas.hash,
  status: schemas.status,
  reason: v.exactOptional(schemas.reason),
  revokedAt: v.nullable(schemas.instant),
  blockchainHash: v.pipe(
    v.nullable(schemas.hash),
    v.description('The transaction of the revocation; null while there is none.'),
  ),
})

/** The successor, and the status of the superseded document. */
export const successor = v.object({ ...schemas.documentSchema.entries, superseded: SUPERSEDED })

const SUPERSEDE = operation({
  operationId: 'supersedeDocument',
  route: 'POST /v1/documents/:publicId/supersede',
  tag: 'Documents',
  summary: 'Issue a corrected document to replace another',
  description:
    'The document in the path is revoked with the reason `superseded` once its successor is on the chain. The API key needs both `documents:issue` and `documents:revoke`.',
  scope: 'documents:revoke',
  alsoScope: 'documents:issue',
  parameters: { publicId: schemas.documentName },
  headers: { 'idempotency-key': schemas.idempotencyKey, prefer: schemas.prefer },
  body: {
    schema: issueBody,
    example: {
      subjectName: 'Augusta Ada King',
      subjectId: '18151210',
      category: 'birth_certificate',
      issuedAt: '2026-01-31',
    },
  },
  responses: {
    201: {
      description: 'The successor and the revocation are in blocks.',
      data: successor,
      headers: ISSUED_HEADERS,
    },
    202: {
      description: 'The successor or the revocation is promised, and both will happen.',
      data: successor,
      headers: ISSUED_HEADERS,
    },
  },
  errors: [
    'bad_idempotency_key',
    'idempotency_key_reused',
    ...NAMED_ERRORS,
    'not_issued',
    'other_issuer',
    'already_revoked',
    'already_superseded',
    'conflict',
    'distrusted',
    ...WRITE_ERRORS,
  ],
})

/** Issues the document in the body and revokes the one in the path. */
export const supersedeRoutes = resource(
  [SUPERSEDE],
  (serve, deps) => {
    const { superseding, addresses, newDeadline } = deps
    serve(SUPERSEDE, async (c) => {
      const grant = c.get('grant')
      const deadline = newDeadline()
      const old = await changeableOf(deps, grant, nameIn(c.req.param('publicId')), deadline)
      const { key, validUntil } = old
      const publicId = await old.publicId()

      const superseded = await superseding.supersede({
        ...key,
        validUntil,
        ...(await readIssueRequest(c, deps)),

        deadline,
      })
      const { successor, revised } = superseded
      const isDone = revised !== null && revised.status !== 'pending'
      return succeed(
        c,
        SUPERSEDE,
        {
          ...presentDocument(addresses, successor.document, successor),
          superseded: presentSuperseded({ publicId, ...key }, superseded),
        },
        isDone ? 201 : 202,
        issuedHeaders(addresses, successor),
      )
    })
  },
  { SuccessorDocument: successor },
)

/** The superseded document, which is pending until its revocation is on the chain. */
function presentSuperseded(
  { publicId, documentHash }: { publicId: string | null; documentHash: Hex },
  { successor, revised }: Superseded,
): AnswerOf<typeof SUPERSEDED> {
  return {
    publicId,
    documentHash,
    supersededBy: successor.documentHash,
    status: revised?.status ?? 'pending',
    ...(revised && { reason: presentReason(revised.reason) }),
    revokedAt: instant(revised?.revisedAt ?? null),
    blockchainHash: revised?.transactionHash ?? null,
  }
}
