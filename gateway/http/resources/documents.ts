import type { Hono } from 'hono'
import { type NewDeadline, verifyWithin } from '#base/deadline.ts'
import { decodeBatchBlock } from '#document/batch/block.ts'
import type { Document } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { decodePublicId, type PublicId } from '#document/public-id.ts'
import { openDocument } from '#document/sealed.ts'
import type { FindKey, Grant } from '#keys/grant.ts'
import type { IsErased } from '#promise/erase.ts'
import { type History, withHistory } from '#promise/history.ts'
import type { Issued, Issuing } from '#promise/issue.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { Revising } from '#promise/revise.ts'
import type { Successions } from '#promise/supersede.ts'
import { FINALITIES, type Finality } from '#verifier/ports.ts'
import { keyOf, type VerifyOptions, verifyPublicId } from '#verifier/verify.ts'
import type { Env } from '../core/env.ts'
import { succeed } from '../core/envelope.ts'
import { ApiError, unverifiable } from '../core/errors.ts'
import { serve } from '../core/operation.ts'
import { isPromised, type StandingOf } from '../core/promised.ts'
import { readJson, readOptionalJson } from '../core/request.ts'
import { idempotencyKeyOf, prefersAsync } from '../core/request-headers.ts'
import { ISSUE, RETRIEVE, REVISIONS } from './document-operations.ts'
import { changeableOf, nameIn, type PathDeps, publicIdOf } from './document-path.ts'
import { parseIssueBody } from './issue-body.ts'
import { presentDocument, presentProof } from './present.ts'
import { presentRevised } from './revisions.ts'

export type DocumentDeps = PathDeps & {
  findKey: FindKey
  issuing: Issuing
  revising: Revising
  verifyOptions: VerifyOptions
  standingOf: StandingOf
  store: PayloadStore
  isErased: IsErased
  history: History
  successions: Successions
  /** How long a request to issue or revoke waits for a block; milliseconds. */
  wait: number
  newDeadline: NewDeadline
}

/** The life of one document. */
export function documentRoutes(app: Hono<Env>, deps: DocumentDeps): void {
  const { issuing, revising, addresses, findKey, wait, newDeadline } = deps
  serve(app, ISSUE, findKey, async (c) => {
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

  serve(app, RETRIEVE, findKey, async (c) =>
    succeed(
      c,
      await retrieve(
        deps,
        c.get('grant'),
        await publicIdOf(deps, c.get('grant'), c.req.param('publicId'), newDeadline()),
      ),
    ),
  )

  for (const { operation, changedAt, read } of REVISIONS)
    serve(app, operation, findKey, async (c) => {
      const deadline = newDeadline()
      const name = nameIn(c.req.param('publicId'))
      const { key, validUntil, ...of } = await changeableOf(deps, c.get('grant'), name, deadline)
      const { documentHash } = key
      const publicId = await of.publicId()
      const { tenant } = c.get('grant')
      const revised = await revising.revise({
        intent: { ...read(documentHash, await readOptionalJson(c)), ...key, tenant },
        validUntil,
        wait: prefersAsync(c.req.header('prefer')) ? 0 : wait,
        deadline,
      })
      return succeed(
        c,
        { publicId, documentHash, ...presentRevised(revised, changedAt, addresses) },
        revised.status === 'pending' ? 202 : 200,
      )
    })
}

/** A document as issued, with its current status; while it is pending, from the gateway's store. */
async function retrieve(deps: DocumentDeps, grant: Grant, publicId: string): Promise<object> {
  const { verifyOptions, addresses, standingOf, history, successions, newDeadline } = deps
  const decoded = decodePublicId(publicId)
  const key = keyOf(decoded)
  const { documentHash } = key
  if (await deps.isErased(documentHash)) throw erased()
  const verdict = await verifyPublicId(decoded, verifyWithin(newDeadline(), verifyOptions))
  const proof = await withHistory(history, verdict.blockchainProof)
  const supersededBy = await successions.successorOf(proof?.documentHash ?? documentHash)
  const present = async (document: Document, status: string, hash = documentHash) => {
    // A publicId of a batch holds the hash of the document's batch block.
    const named = { documentHash: proof?.documentHash ?? hash }
    const found = await deps.findDocument(named, grant)
    const transactionHash = proof?.transactionHash ?? null
    return presentDocument(addresses, document, {
      ...{ ...named, publicId, supersededBy, status, transactionHash },
      createdAt: found?.createdAt,
    })
  }
  if (verdict.document)
    return {
      ...(await present(verdict.document, verdict.status)),
      blockchainProof: presentProof(proof),
    }
  const promised = await isPromised(standingOf, key, verdict.status)
  const pending = promised && (await openPending(deps, decoded))
  if (pending) return present(pending.document, 'pending', pending.documentHash)
  // Of a batch: only the verdict has the documentHash.
  if (verdict.checks.some(({ check, code }) => check === 'payload' && code === 'erased'))
    throw erased()
  if (verdict.checks.some(({ outcome }) => outcome === 'unknown'))
    throw unverifiable(verdict.checks)
  throw new ApiError('not_found', 'no such document')
}

const erased = () => new ApiError('erased', 'the document has been erased')

/** @returns The promised document; `undefined` if the key does not open it. */
async function openPending(
  { store }: DocumentDeps,
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

function reaches({ finality }: Issued, wanted: Finality): boolean {
  return finality !== null && FINALITIES.indexOf(finality) >= FINALITIES.indexOf(wanted)
}
