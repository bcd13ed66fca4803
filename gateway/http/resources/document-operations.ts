import * as v from 'valibot'
import { FINALITIES } from '#verifier/ports.ts'
import { NAMED_ERRORS, WRITE_ERRORS } from '../core/errors.ts'
import { operation } from '../core/operation.ts'
import { issueBody } from './issue-body.ts'
import { CHANGES, nothing, revocation } from './revisions.ts'
import * as schemas from './schemas.ts'

/** The finality of the anchoring's block that a response waits for. */
const FINALITY = v.optional(
  v.picklist(FINALITIES, `must be one of ${FINALITIES.join(', ')}`),
  'included',
)

const EXAMPLE_ISSUED = {
  publicId: schemas.EXAMPLE_PUBLIC_ID,
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  metadata: { registrar: 'Testville' },
  issuedAt: '2026-01-31T00:00:00Z',
  expiresAt: '2036-01-30T00:00:00Z',
  validUntil: '2036-01-31T00:00:00Z',
  registry: schemas.EXAMPLE_REGISTRY,
  issuerId: 1,
  documentHash: schemas.EXAMPLE_HASH,
  blockchainHash: schemas.EXAMPLE_TRANSACTION,
  status: 'valid',
  network: 'test',
  qrCodeUrl: `https://documents.example/qr/${schemas.EXAMPLE_PUBLIC_ID}`,
  verifyUrl: `https://documents.example/verify#publicId=${schemas.EXAMPLE_PUBLIC_ID}&registry=${schemas.EXAMPLE_REGISTRY}`,
}

export const issued = v.object({
  ...schemas.documentSchema.entries,
  finality: v.exactOptional(
    v.pipe(v.nullable(schemas.finality), v.description('With `wait=safe` or `wait=finalized`.')),
  ),
})
export const ISSUED_HEADERS = {
  Location: schemas.url,
  'Idempotency-Replayed': v.exactOptional(
    v.pipe(v.literal('true'), v.description('The document was promised or anchored before.')),
  ),
}

export const ISSUE = operation({
  operationId: 'issueDocument',
  method: 'post',
  path: '/v1/documents',
  tag: 'Documents',
  summary: 'Issue a document',
  description:
    'Seals the document, stores it and anchors it. Without an Idempotency-Key, every request is a new document.',
  scope: 'documents:issue',
  query: { wait: FINALITY },
  headers: { 'idempotency-key': schemas.idempotencyKey, prefer: schemas.prefer },
  body: {
    schema: issueBody,
    example: {
      subjectName: 'Ada Lovelace',
      subjectId: '18151210',
      category: 'birth_certificate',
      issuedAt: '2026-01-31',
      expiresAt: '2036-01-30',
      metadata: { registrar: 'Testville' },
    },
  },
  responses: {
    201: {
      description: 'The anchoring is in a block, and the registry shows it.',
      data: issued,
      headers: ISSUED_HEADERS,
      example: EXAMPLE_ISSUED,
    },
    202: {
      description:
        'Promised: on disk, and on its way to the chain. Or not as final as `wait` asks for.',
      data: issued,
      headers: ISSUED_HEADERS,
    },
  },
  errors: [
    ...(['bad_idempotency_key', 'idempotency_key_reused', 'category_not_allowed'] as const),
    ...(['conflict', 'distrusted', 'erased'] as const),
    ...WRITE_ERRORS,
  ],
})

export const RETRIEVE = operation({
  operationId: 'retrieveDocument',
  method: 'get',
  path: '/v1/documents/:publicId',
  tag: 'Documents',
  summary: 'Retrieve a document',
  description:
    "As issued, with its status now. While it is pending it comes from the gateway's store, without a proof.",
  scope: 'documents:read',
  parameters: { publicId: schemas.documentName },
  query: {},
  responses: {
    200: { description: 'The document.', data: schemas.retrieved },
  },
  errors: ['not_found', 'erased', 'unverifiable', 'store_unavailable'],
})

/** What revoke, suspend and release have in common. */
const REVISION = {
  method: 'post',
  tag: 'Documents',
  scope: 'documents:revoke',
  parameters: { publicId: schemas.documentName },
  query: {},
  headers: { prefer: schemas.prefer },
} as const

/** @param times The members with the reason and the time of the change. */
function revised<E extends v.ObjectEntries>(times: E) {
  return v.object({
    publicId: v.nullable(schemas.publicId),
    documentHash: schemas.hash,
    status: schemas.status,
    ...times,
    network: schemas.network,
    blockchainHash: v.pipe(
      v.nullable(schemas.hash),
      v.description('The transaction of the change; null while there is none.'),
    ),
  })
}

export const revoked = revised({ reason: schemas.reason, revokedAt: v.nullable(schemas.instant) })
export const suspended = revised({
  reason: schemas.reason,
  suspendedAt: v.nullable(schemas.instant),
})
export const released = revised({ releasedAt: v.nullable(schemas.instant) })

function revisionResponses(data: v.GenericSchema, example: object) {
  return {
    200: {
      description: 'The change is in a block. The same again is the same answer.',
      data,
      example: {
        publicId: schemas.EXAMPLE_PUBLIC_ID,
        documentHash: schemas.EXAMPLE_HASH,
        ...example,
        network: 'test',
        blockchainHash: schemas.EXAMPLE_TRANSACTION,
      },
    },
    202: { description: 'Promised: it will happen.', data },
  }
}

const REVISION_ERRORS = ['not_issued', 'other_issuer', ...NAMED_ERRORS, ...WRITE_ERRORS] as const

const REVOKE = operation({
  ...REVISION,
  operationId: 'revokeDocument',
  path: '/v1/documents/:publicId/revoke',
  summary: 'Revoke a document, permanently',
  body: { schema: revocation, example: { reason: 'keyCompromise' }, isOptional: true },
  responses: revisionResponses(revoked, {
    status: 'revoked',
    reason: 'keyCompromise',
    revokedAt: '2026-11-21T08:36:39Z',
  }),
  errors: REVISION_ERRORS,
})

const SUSPEND = operation({
  ...REVISION,
  operationId: 'suspendDocument',
  path: '/v1/documents/:publicId/suspend',
  summary: 'Suspend a document',
  description: 'It is not valid until it is released. Can be repeated after a release.',
  body: { schema: nothing, example: {}, isOptional: true },
  responses: revisionResponses(suspended, {
    status: 'suspended',
    reason: 'certificateHold',
    suspendedAt: '2026-11-21T08:36:39Z',
  }),
  errors: ['already_revoked', 'change_pending', ...REVISION_ERRORS],
})

const RELEASE = operation({
  ...REVISION,
  operationId: 'releaseDocument',
  path: '/v1/documents/:publicId/release',
  summary: 'Release a suspended document',
  body: { schema: nothing, example: {}, isOptional: true },
  responses: revisionResponses(released, { status: 'valid', releasedAt: '2026-11-21T08:36:39Z' }),
  errors: ['already_revoked', 'not_suspended', 'change_pending', ...REVISION_ERRORS],
})

export const REVISIONS = [
  { operation: REVOKE, ...CHANGES.revoke },
  { operation: SUSPEND, ...CHANGES.suspend },
  { operation: RELEASE, ...CHANGES.release },
] as const

export const documentOperations = [ISSUE, RETRIEVE, REVOKE, SUSPEND, RELEASE]
