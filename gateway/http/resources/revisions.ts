import type { Context } from 'hono'
import * as v from 'valibot'
import type { Hex } from '#document/hex.ts'
import type { JsonValue } from '#document/json.ts'
import { type Grant, requesterOf, tenantOf } from '#keys/grant.ts'
import type { RevisionAction } from '#promise/action.ts'
import type { Revised, RevisionRequest } from '#promise/revise.ts'
import { REASON_NAMES, REVOCATION_REASONS } from '#verifier/reasons.ts'
import type { AnswerOf } from '../core/answers.ts'
import { succeed } from '../core/envelope.ts'
import { ApiError, NAMED_ERRORS, WRITE_ERRORS } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { parseBody, prefersAsync, readOptionalJson } from '../core/request.ts'
import type { AppDeps } from '../deps.ts'
import { batchParameters, batchRootOf } from './batches.ts'
import { changeableOf, nameIn } from './document-path.ts'
import { type Addresses, instant, presentReason } from './present.ts'
import * as schemas from './schemas.ts'

/** The body of a revocation. certificateHold is no reason for it, because that is a suspension. */
export const revocation = v.strictObject({
  reason: v.optional(
    v.picklist(REASON_NAMES, `must be one of ${REASON_NAMES.join(', ')}`),
    'unspecified',
  ),
})
const nothing = v.strictObject({})
const time = v.nullable(schemas.instant)

/** What a document or batch can be made: its body, and the reason and time in its answer. */
export const REVISIONS = {
  revoke: {
    body: revocation,
    example: { reason: 'keyCompromise' },
    answer: { reason: schemas.reason, revokedAt: time },
    errors: [],
  },
  suspend: {
    body: nothing,
    example: {},
    answer: { reason: schemas.reason, suspendedAt: time },
    errors: ['already_revoked', 'change_pending'],
  },
  release: {
    body: nothing,
    example: {},
    answer: { releasedAt: time },
    errors: ['already_revoked', 'not_suspended', 'change_pending'],
  },
} as const
export type Revision = keyof typeof REVISIONS

/** The members of an answer; the last of them belong to a document and to a batch. */
const answerOf = <N extends v.ObjectEntries, A extends v.ObjectEntries>(names: N, answer: A) => ({
  ...names,
  status: schemas.status,
  ...answer,
  network: schemas.network,
})
const NAMES = { publicId: v.nullable(schemas.publicId), documentHash: schemas.hash }
const blockchainHash = v.nullable(schemas.hash)
const transaction = v.pipe(
  blockchainHash,
  v.description('The transaction of the change; null while there is none.'),
)
const ofDocument = <A extends v.ObjectEntries>(answer: A) =>
  v.object({ ...answerOf(NAMES, answer), blockchainHash: transaction })
const ofBatch = <A extends v.ObjectEntries>(answer: A) =>
  v.object({ ...answerOf({ root: schemas.hash }, answer), blockchainHash })

export const revisedDocument = {
  revoke: ofDocument(REVISIONS.revoke.answer),
  suspend: ofDocument(REVISIONS.suspend.answer),
  release: ofDocument(REVISIONS.release.answer),
}
export const revisedBatch = {
  revoke: ofBatch(REVISIONS.revoke.answer),
  suspend: ofBatch(REVISIONS.suspend.answer),
  release: ofBatch(REVISIONS.release.answer),
}

/** @throws {ApiError} `bad_fields` */
export function actionOf(kind: Revision, documentHash: Hex, body: JsonValue): RevisionAction {
  if (kind === 'revoke') {
    const { reason } = parseBody(revocation, body)
    return { kind, documentHash, reason: REVOCATION_REASONS[reason] }
  }
  parseBody(nothing, body)
  return { kind, documentHash }
}

/** @returns The result of a revision, as the REST API returns it. */
export function presentRevised(
  kind: Revision,
  { status, reason, revisedAt, transactionHash }: Revised,
  { network }: Addresses,
): PresentedRevision {
  const common = { network, blockchainHash: transactionHash }
  const at = instant(revisedAt)
  switch (kind) {
    case 'revoke':
      return { status, reason: presentReason(reason), ...common, revokedAt: at }
    case 'suspend':
      return { status, reason: presentReason(reason), ...common, suspendedAt: at }
    case 'release':
      return { status, ...common, releasedAt: at }
  }
}

type PresentedRevision = OmitEach<AnswerOf<(typeof revisedBatch)[Revision]>, 'root'>
/** `Omit` for each member of a union. */
type OmitEach<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

const responsesOf = <D extends v.GenericSchema>(data: D, example?: object) => ({
  200: {
    description: 'The change is in a block. Repeating the request gives the same answer.',
    data,
    ...(example && { example }),
  },
  202: { description: 'The change is promised and will happen.', data },
})

/** The common part of the operations. */
const bodyOf = (kind: Revision) => ({
  scope: 'documents:revoke' as const,
  headers: { prefer: schemas.prefer },
  body: {
    schema: REVISIONS[kind].body,
    example: REVISIONS[kind].example,
    isOptional: true as const,
  },
})

const EXAMPLE_TIME = '2026-11-21T08:36:39Z'
const OF_DOCUMENT = {
  revoke: {
    summary: 'Revoke a document, permanently',
    example: { status: 'revoked', reason: 'keyCompromise', revokedAt: EXAMPLE_TIME },
  },
  suspend: {
    summary: 'Suspend a document',
    description:
      'The document is not valid until it is released. It can be suspended again after a release.',
    example: { status: 'suspended', reason: 'certificateHold', suspendedAt: EXAMPLE_TIME },
  },
  release: {
    summary: 'Release a suspended document',
    example: { status: 'valid', releasedAt: EXAMPLE_TIME },
  },
}
const documentOperation = (kind: Revision) => {
  const { example, ...texts } = OF_DOCUMENT[kind]
  return operation({
    ...bodyOf(kind),
    ...texts,
    operationId: `${kind}Document`,
    route: `POST /v1/documents/:publicId/${kind}`,
    tag: 'Documents',
    parameters: { publicId: schemas.documentName },
    responses: responsesOf(revisedDocument[kind], {
      publicId: schemas.EXAMPLE_PUBLIC_ID,
      documentHash: schemas.EXAMPLE_HASH,
      ...example,
      network: 'test',
      blockchainHash: schemas.EXAMPLE_TRANSACTION,
    }),
    errors: [
      ...REVISIONS[kind].errors,
      'not_issued',
      'other_issuer',
      ...NAMED_ERRORS,
      ...WRITE_ERRORS,
    ],
  })
}

const OF_BATCH = {
  revoke: { summary: 'Revoke all documents of a batch, permanently' },
  suspend: { summary: 'Suspend all documents of a batch' },
  release: {
    summary: 'Release a suspended batch',
    description: 'Documents that were suspended or revoked individually stay so.',
  },
}
const batchOperation = (kind: Revision) =>
  operation({
    ...bodyOf(kind),
    ...OF_BATCH[kind],
    operationId: `${kind}Batch`,
    route: `POST /v1/batches/:root/${kind}`,
    tag: 'Batches',
    parameters: batchParameters,
    responses: responsesOf(revisedBatch[kind]),
    errors: [
      ...REVISIONS[kind].errors,
      'not_found',
      'category_not_allowed',
      'not_issued',
      ...WRITE_ERRORS,
    ],
  })

const KINDS = Object.keys(REVISIONS) as Revision[]
const DOCUMENT_REVISIONS = KINDS.map((kind) => ({ kind, one: documentOperation(kind) }))
const BATCH_REVISIONS = KINDS.map((kind) => ({ kind, one: batchOperation(kind) }))

/** Revokes, suspends and releases one document. */
export const documentRevisionRoutes = resource(
  DOCUMENT_REVISIONS.map(({ one }) => one),
  (serve, deps) => {
    for (const { kind, one } of DOCUMENT_REVISIONS)
      serve(one, async (c) => {
        const deadline = deps.newDeadline()
        const name = nameIn(c.req.param('publicId'))
        const { key, validUntil, ...of } = await changeableOf(deps, c.get('grant'), name, deadline)
        const publicId = await of.publicId()
        const request = { kind, key, validUntil, deadline }
        const revised = await revise(c, deps, request)
        const { documentHash } = key
        const presented = presentRevised(kind, revised, deps.addresses)
        return succeed(c, one, { publicId, documentHash, ...presented }, statusOf(revised))
      })
  },
  {
    Revocation: revocation,
    RevokedDocument: revisedDocument.revoke,
    SuspendedDocument: revisedDocument.suspend,
    ReleasedDocument: revisedDocument.release,
  },
)

/** Revokes, suspends and releases all documents of a batch together. */
export const batchRevisionRoutes = resource(
  BATCH_REVISIONS.map(({ one }) => one),
  (serve, deps) => {
    for (const { kind, one } of BATCH_REVISIONS)
      serve(one, async (c) => {
        const root = batchRootOf(c.req.param('root'))
        await assertMayRevise(deps, root, c.get('grant'))
        const request = { kind, key: { documentHash: root, root }, deadline: deps.newDeadline() }
        const revised = await revise(c, deps, request)
        const presented = presentRevised(kind, revised, deps.addresses)
        return succeed(c, one, { root, ...presented }, statusOf(revised))
      })
  },
  {
    RevokedBatch: revisedBatch.revoke,
    SuspendedBatch: revisedBatch.suspend,
    ReleasedBatch: revisedBatch.release,
  },
)

/**
 * A batch can have documents of any category, so a key that is limited to some categories must
 * change the documents one by one.
 */
async function assertMayRevise({ batchReader }: AppDeps, root: Hex, grant: Grant): Promise<void> {
  if (!(await batchReader.isOf(root, tenantOf(grant))))
    throw new ApiError('not_found', 'no such batch')
  if (grant.categories)
    throw new ApiError(
      'category_not_allowed',
      'the API key is limited to certain categories: name the documents instead of the batch',
    )
}

async function revise(
  c: Context,
  { revising, wait }: AppDeps,
  request: { kind: Revision; key: { documentHash: Hex; root?: Hex } } & Pick<
    RevisionRequest,
    'validUntil' | 'deadline'
  >,
): Promise<Revised> {
  const { kind, key, ...rest } = request
  const sent = actionOf(kind, key.documentHash, await readOptionalJson(c))
  return revising.revise({
    ...rest,
    action: { ...sent, ...key, ...requesterOf(c.get('grant')) },
    wait: prefersAsync(c.req.header('prefer')) ? 0 : wait,
  })
}

const statusOf = ({ status }: Revised) => (status === 'pending' ? 202 : 200)
