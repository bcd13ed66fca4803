import type { Hono } from 'hono'
import * as v from 'valibot'
import type { Document } from '../../../document/document.ts'
import { FormatError } from '../../../document/errors.ts'
import type { Hex } from '../../../document/hex.ts'
import { decodePublicId } from '../../../document/public-id.ts'
import { openDocument } from '../../../document/sealed.ts'
import { FINALITIES, type Finality } from '../../../verifier/ports.ts'
import { REASON_NAMES, REVOCATION_REASONS, reasonName } from '../../../verifier/reasons.ts'
import { keyOf, type VerifyOptions, verifyPublicId } from '../../../verifier/verify.ts'
import { type NewDeadline, verifyWithin } from '../../deadline.ts'
import type { FindKey } from '../../grant.ts'
import { type History, withHistory } from '../../history.ts'
import type { RevisionIntent } from '../../issue/intent.ts'
import type { Issued, Issuing } from '../../issue/issue.ts'
import type { PayloadStore } from '../../issue/ports.ts'
import type { Revising } from '../../issue/revise.ts'
import { authorize } from '../authorize.ts'
import { changeableOf, type PathDeps, publicIdOf } from '../document-path.ts'
import type { Env } from '../env.ts'
import { succeed } from '../envelope.ts'
import { ApiError, unverifiable } from '../errors.ts'
import { parseIssueBody } from '../issue-body.ts'
import { instant, networkOfRegistry, presentDocument, presentProof } from '../present.ts'
import { isPromised, type StandingOf } from '../promised.ts'
import { problemsOf, readJson } from '../request.ts'

export type DocumentDeps = PathDeps & {
  findKey: FindKey
  issuing: Issuing
  revising: Revising
  verifyOptions: VerifyOptions
  standingOf: StandingOf
  store: PayloadStore
  history: History
  /** How long a request to issue or revoke waits for a block; milliseconds. */
  wait: number
  newDeadline: NewDeadline
}

/** The finality of the anchoring's block that a response waits for. */
const FINALITY = v.optional(
  v.picklist(FINALITIES, `must be one of ${FINALITIES.join(', ')}`),
  'included',
)

/** The changes to an issued document, and the name of their time in the response. */
const REVISIONS = [
  {
    action: 'revoke',
    changedAt: 'revokedAt',
    read: (documentHash: Hex, body: unknown): RevisionIntent => ({
      kind: 'revoke',
      documentHash,
      reason: REVOCATION_REASONS[readBody(revocation, body).reason],
    }),
  },
  {
    action: 'suspend',
    changedAt: 'suspendedAt',
    read: (documentHash: Hex, body: unknown): RevisionIntent => {
      readBody(nothing, body)
      return { kind: 'suspend', documentHash }
    },
  },
  {
    action: 'release',
    changedAt: 'releasedAt',
    read: (documentHash: Hex, body: unknown): RevisionIntent => {
      readBody(nothing, body)
      return { kind: 'release', documentHash }
    },
  },
] as const

/**
 * The life of one document: POST …/documents, GET …/documents/{publicId}, POST
 * …/documents/{publicId}/revoke, /suspend, /release; with a documentHash in the place of a publicId
 * too.
 */
export function documentRoutes(app: Hono<Env>, deps: DocumentDeps): void {
  const { issuing, revising, addresses, findKey, wait, newDeadline } = deps
  for (const path of ['/v1/documents', '/api/documents']) {
    app.post(path, authorize(findKey, 'documents:issue', { wait: FINALITY }), async (c) => {
      const { wait: finality } = c.get('query')
      const { tenant, categories } = c.get('grant')
      const fields = parseIssueBody(await readJson(c), Date.now(), categories)
      const idempotencyKey = idempotencyKeyOf(c.req.header('idempotency-key'))
      const issued = await issuing.issue({
        fields,
        tenant,
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
    })

    app.get(`${path}/:publicId`, authorize(findKey, 'documents:read', {}), async (c) => {
      const publicId = await publicIdOf(deps, c.get('grant'), c.req.param('publicId'))
      const found = await retrieve(deps, publicId)
      return succeed(c, found)
    })

    for (const { action, changedAt, read } of REVISIONS)
      app.post(
        `${path}/:publicId/${action}`,
        authorize(findKey, 'documents:revoke', {}),
        async (c) => {
          const changeable = await changeableOf(deps, c.get('grant'), c.req.param('publicId'))
          const { documentHash, publicId } = changeable
          const { status, reason, revisedAt, transactionHash } = await revising.revise({
            intent: { ...read(documentHash, await readJson(c)), tenant: c.get('grant').tenant },
            wait: prefersAsync(c.req.header('prefer')) ? 0 : wait,
            deadline: newDeadline(),
          })
          return succeed(
            c,
            {
              publicId,
              documentHash,
              status,
              ...(action !== 'release' && { reason: reasonName(reason) }),
              [changedAt]: instant(revisedAt),
              network: networkOfRegistry(addresses.registry),
              blockchainHash: transactionHash,
            },
            status === 'pending' ? 202 : 200,
          )
        },
      )
  }
}

/** A document as issued, with its current status; while it is pending, from the gateway's store. */
async function retrieve(deps: DocumentDeps, publicId: string): Promise<object> {
  const { verifyOptions, addresses, standingOf, history, newDeadline } = deps
  const decoded = decodePublicId(publicId)
  const { hash, documentKey } = decoded
  const key = keyOf(decoded)
  const { documentHash } = key
  const verdict = await verifyPublicId(decoded, verifyWithin(newDeadline(), verifyOptions))
  const proof = await withHistory(history, verdict.blockchainProof)
  const present = (document: Document, status: string) =>
    presentDocument(addresses, document, {
      publicId,
      // A publicId of a batch holds the hash of the document's batch block.
      documentHash: proof?.documentHash ?? documentHash,
      status,
      transactionHash: proof?.transactionHash ?? null,
    })
  if (verdict.document)
    return {
      ...present(verdict.document, verdict.status),
      blockchainProof: presentProof(proof),
    }
  const promised = await isPromised(standingOf, key, verdict.status)
  const pending = promised && (await openPending(deps, hash, documentKey))
  if (pending) return present(pending, 'pending')
  if (verdict.status === 'erased') throw new ApiError('erased', 'the document has been erased')
  if (verdict.checks.some(({ outcome }) => outcome === 'unknown'))
    throw unverifiable(verdict.checks)
  throw new ApiError('not_found', 'no such document')
}

/** @returns The promised document; `undefined` if the key does not open it. */
async function openPending(
  { store }: DocumentDeps,
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

const isObject = v.custom<object>((body) => !Array.isArray(body), 'must be a JSON object')
const revocation = v.pipe(
  isObject,
  v.strictObject({
    reason: v.optional(
      // A suspension, certificateHold, is not a revocation here.
      v.picklist(REASON_NAMES, `must be one of ${REASON_NAMES.join(', ')}`),
      'unspecified',
    ),
  }),
)
const nothing = v.pipe(isObject, v.strictObject({}))

/** @throws {ApiError} `bad_fields`, naming every bad field. */
function readBody<T>(schema: v.GenericSchema<object, T>, body: unknown): T {
  const result = v.safeParse(schema, body)
  if (result.success) return result.output
  throw new ApiError('bad_fields', 'invalid fields', {
    details: problemsOf(result.issues),
  })
}

function reaches({ finality }: Issued, wanted: Finality): boolean {
  return finality !== null && FINALITIES.indexOf(finality) >= FINALITIES.indexOf(wanted)
}

/** RFC 7240. */
function prefersAsync(prefer: string | undefined): boolean {
  return (prefer ?? '').split(',').some((item) => item.trim().toLowerCase() === 'respond-async')
}

/**
 * draft-ietf-httpapi-idempotency-key-header: a quoted string; a value without quotes is accepted
 * too.
 */
function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const key = /^"([\x20-\x21\x23-\x7e]{1,255})"$|^([\x21\x23-\x7e]{1,255})$/.exec(header)
  if (!key)
    throw new ApiError(
      'bad_idempotency_key',
      'Idempotency-Key must have 1 to 255 printable ASCII characters',
    )
  return key[1] ?? key[2]
}
