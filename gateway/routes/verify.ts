import type { Hono } from 'hono'
import { toHex } from '../../document/hex.ts'
import { decodePublicId } from '../../document/public-id.ts'
import { verify } from '../../verifier/verify.ts'
import type { Deps } from '../app.ts'
import { succeed } from '../envelope.ts'
import { ApiError, HEAD_BEHIND, unverifiable } from '../errors.ts'
import { type Authorized, authorize } from '../middleware/authorize.ts'
import { presentDocument } from '../present.ts'

/** GET …/verify?publicId=: the verdict about a document. */
export function verifyRoutes(app: Hono<Authorized>, deps: Deps): void {
  const { verifyOptions, addresses, findKey, standingOf } = deps
  for (const path of ['/v1/verify', '/api/verify'])
    app.get(path, authorize(findKey, 'verify'), async (c) => {
      const publicId = onlyPublicId(c.req.queries())
      const { hash } = decodePublicId(publicId)
      const verdict = await verify(publicId, verifyOptions)
      if (verdict.status === 'unverifiable') throw unverifiable(verdict.checks)
      const standing =
        verdict.status === 'not_issued' ? standingOf(toHex(hash)) : undefined
      // This gateway has seen it on the chain: the node is behind.
      if (standing?.anchored) throw unverifiable(HEAD_BEHIND)
      const status = standing ? 'pending' : verdict.status
      const { document, blockchainProof: proof } = verdict
      return succeed(c, {
        ...verdict,
        status,
        document:
          document &&
          presentDocument(addresses, document, {
            publicId,
            documentHash: toHex(hash),
            status,
            transactionHash: proof?.transactionHash ?? null,
          }),
      })
    })
}

function onlyPublicId(query: Record<string, string[]>): string {
  const { publicId, ...others } = query
  const unknown = Object.keys(others)
  const details = unknown.map((field) => ({
    field,
    message: 'is not a parameter here',
  }))
  if (publicId?.length !== 1)
    details.push({ field: 'publicId', message: 'is required, once' })
  if (details.length > 0 || publicId?.[0] === undefined)
    throw new ApiError('bad_query', 'some parameters are bad', { details })
  return publicId[0]
}
