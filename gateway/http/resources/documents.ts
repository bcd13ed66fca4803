import * as v from 'valibot'
import { verifyWithin } from '#base/deadline.ts'
import { decodeBatchBlock } from '#document/batch/block.ts'
import type { Document } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { decodePublicId, type PublicId } from '#document/public-id.ts'
import { openDocument } from '#document/sealed.ts'
import type { Grant } from '#keys/grant.ts'
import { withHistory } from '#promise/history.ts'
import type { IssuedDocument } from '#promise/issue.ts'
import { FINALITIES, type Finality } from '#verifier/ports.ts'
import { keyOf, verifyPublicId } from '#verifier/verify.ts'
import type { AnswerOf } from '../core/answers.ts'
import { succeed } from '../core/envelope.ts'
import { ApiError, unverifiable, WRITE_ERRORS } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { isPromised } from '../core/promised.ts'
import type { AppDeps } from '../deps.ts'
import { publicIdOf } from './document-path.ts'
import { ISSUE_EXAMPLE, issueBody, issuedHeaders, readIssueRequest } from './issue-body.ts'
import { type PresentedDocument, presentDocument, presentProof } from './present.ts'
import * as schemas from './schemas.ts'

/** The finality of the anchoring block that a response waits for. */
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

export const issuedSchema = v.object({
  ...schemas.documentSchema.entries,
  finality: v.exactOptional(
    v.pipe(
      v.nullable(schemas.finality),
      v.description('Present with `wait=safe` or `wait=finalized`.'),
    ),
  ),
})
export const ISSUED_HEADERS = {
  Location: schemas.url,
  'Idempotency-Replayed': v.exactOptional(
    v.pipe(v.literal('true'), v.description('The document had already been promised or anchored.')),
  ),
}

const ISSUE = operation({
  operationId: 'issueDocument',
  route: 'POST /v1/documents',
  tag: 'Documents',
  summary: 'Issue a document',
  description:
    'Seals the document, stores it and anchors it. Without an Idempotency-Key, every request is a new document.',
  scope: 'documents:issue',
  query: { wait: FINALITY },
  headers: { 'idempotency-key': schemas.idempotencyKey, prefer: schemas.prefer },
  body: { schema: issueBody, example: ISSUE_EXAMPLE },
  responses: {
    201: {
      description: 'The document is anchored in a block, and the registry shows it.',
      data: issuedSchema,
      headers: ISSUED_HEADERS,
      example: EXAMPLE_ISSUED,
    },
    202: {
      description:
        'The document is promised: it is on disk and on its way to the chain. Or it is not yet as final as `wait` requires.',
      data: issuedSchema,
      headers: ISSUED_HEADERS,
    },
  },
  errors: [
    'bad_idempotency_key',
    'idempotency_key_reused',
    'category_not_allowed',
    'conflict',
    'distrusted',
    'erased',
    ...WRITE_ERRORS,
  ],
})

const RETRIEVE = operation({
  operationId: 'retrieveDocument',
  route: 'GET /v1/documents/:publicId',
  tag: 'Documents',
  summary: 'Retrieve a document',
  description:
    "Returns the document as issued, with its current status. While it is pending it comes from the gateway's store, without a proof.",
  scope: 'documents:read',
  parameters: { publicId: schemas.documentName },
  answer: { description: 'The document.', data: schemas.retrieved },
  errors: ['not_found', 'erased', 'unverifiable', 'store_unavailable'],
})

/** Issues and retrieves a document. */
export const documentRoutes = resource(
  [ISSUE, RETRIEVE],
  (serve, deps) => {
    const { issuing, addresses, newDeadline } = deps
    serve(ISSUE, async (c) => {
      const { wait: finality } = c.get('query')
      const issued = await issuing.issue({
        ...(await readIssueRequest(c, deps)),

        deadline: newDeadline(),
        finality,
      })
      const done = issued.status !== 'pending' && reaches(issued, finality)
      return succeed(
        c,
        ISSUE,
        {
          ...presentDocument(addresses, issued.document, issued),
          ...(finality !== 'included' && { finality: issued.finality }),
        },
        done ? 201 : 202,
        issuedHeaders(addresses, issued),
      )
    })

    serve(RETRIEVE, async (c) =>
      succeed(
        c,
        RETRIEVE,
        await retrieve(
          deps,
          c.get('grant'),
          await publicIdOf(deps, c.get('grant'), c.req.param('publicId'), newDeadline()),
        ),
      ),
    )
  },
  { NewDocument: issueBody, IssuedDocument: issuedSchema },
)

/**
 * Reads a document as issued, with its current status. While it is pending, it comes from the
 * gateway's store.
 */
async function retrieve(
  deps: AppDeps,
  grant: Grant,
  publicId: string,
): Promise<AnswerOf<typeof schemas.retrieved>> {
  const { verifyOptions, addresses, findIssue, history, successions, newDeadline } = deps
  const decoded = decodePublicId(publicId)
  const key = keyOf(decoded)
  const { documentHash } = key
  if (await deps.isErased(documentHash)) throw erased()
  const verdict = await verifyPublicId(decoded, verifyWithin(newDeadline(), verifyOptions))
  const proof = await withHistory(history, verdict.blockchainProof)
  const supersededBy = await successions.successorOf(proof?.documentHash ?? documentHash)
  const present = async (
    document: Document,
    status: PresentedDocument['status'],
    hash = documentHash,
  ) => {
    // The publicId of a document in a batch contains the hash of its batch block.
    const named = { documentHash: proof?.documentHash ?? hash }
    const found = await deps.findDocument(named, grant)
    const transactionHash = proof?.transactionHash ?? null
    return presentDocument(addresses, document, {
      ...named,
      publicId,
      supersededBy,
      status,
      transactionHash,
      createdAt: found?.createdAt,
    })
  }
  if (verdict.document && verdict.status !== 'unverifiable')
    return {
      ...(await present(verdict.document, verdict.status)),
      ...(proof && { blockchainProof: presentProof(proof) }),
    }
  const promised = await isPromised(findIssue, key, verdict.status)
  const pending = promised && (await openPending(deps, decoded))
  if (pending) return present(pending.document, 'pending', pending.documentHash)
  // For a document in a batch, only the verdict has the documentHash.
  if (verdict.checks.some(({ check, code }) => check === 'payload' && code === 'erased'))
    throw erased()
  if (verdict.checks.some(({ outcome }) => outcome === 'unknown'))
    throw unverifiable(verdict.checks)
  throw new ApiError('not_found', 'no such document')
}

const erased = () => new ApiError('erased', 'the document has been erased')

/** @returns The promised document; `undefined` if the key does not open it. */
async function openPending(
  { store }: AppDeps,
  { kind, hash, documentKey }: PublicId,
): Promise<{ document: Document; documentHash: Hex } | undefined> {
  const block = await store.get(hash)
  if (block.status !== 'found') return undefined
  try {
    const documentHash = kind === 'batch' ? decodeBatchBlock(block.bytes).documentHash : toHex(hash)
    const sealed = kind === 'batch' ? await store.get(fromHex(documentHash)) : block
    if (sealed.status !== 'found') return undefined
    return { document: await openDocument(sealed.bytes, documentKey), documentHash }
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}

function reaches({ finality }: IssuedDocument, wanted: Finality): boolean {
  return finality !== null && FINALITIES.indexOf(finality) >= FINALITIES.indexOf(wanted)
}
