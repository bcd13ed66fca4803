import type { Hono } from 'hono'
import { toHex } from '../../document/hex.ts'
import { decodePublicId } from '../../document/public-id.ts'
import { readBundle, verifyBundle } from '../../verifier/bundle.ts'
import { ChainError } from '../../verifier/errors.ts'
import type { Deps } from '../app.ts'
import type { Env } from '../env.ts'
import { PRIVATE } from '../envelope.ts'
import { ApiError, HEAD_BEHIND, unverifiable } from '../errors.ts'
import { authorize } from '../middleware/authorize.ts'

/** GET …/documents/{publicId}/bundle: the portable proof, without the envelope. */
export function bundleRoutes(app: Hono<Env>, deps: Deps): void {
  const { findKey, standingOf, store, bundleOf, verifyOptions } = deps
  const { newDeadline } = deps
  for (const path of ['/v1/documents', '/api/documents'])
    app.get(`${path}/:publicId/bundle`, authorize(findKey, 'documents:read', {}), async (c) => {
      const publicId = c.req.param('publicId')
      const { issuerId, hash } = decodePublicId(publicId)
      const documentHash = toHex(hash)
      const bundle = await newDeadline()
        .within((signal) => bundleOf(publicId, signal))
        .catch((error) => {
          if (!(error instanceof ChainError)) throw error
          const { code } = error
          throw unverifiable([{ check: 'chain', outcome: 'unknown', code }])
        })
      // What goes out has been read as its reader will read it.
      const { blockHash, blockTime } = readBundle(bundle).block
      assertFresh(blockTime, verifyOptions.maxHeadAge)
      const { status, checks } = await verifyBundle(bundle, {
        registry: bundle.registry,
        trustedBlocks: [blockHash],
      })
      // Promised, and not on the chain yet or not on this node: soon to be had, and no proof of absence.
      const promised =
        status === 'not_issued' && (await standingOf({ issuerId, documentHash })) !== undefined
      if (promised) throw unverifiable(HEAD_BEHIND)
      if (status === 'unverifiable') {
        if ((await store.get(hash)).status === 'erased')
          throw new ApiError('erased', 'the document has been erased')
        throw unverifiable(checks)
      }
      return c.json(bundle, 200, {
        ...PRIVATE,
        'Content-Disposition': `attachment; filename="${toHex(hash.subarray(0, 8))}.bundle.json"`,
      })
    })
}

/** A node that stands still gives proofs too, and leaves out what came later. */
function assertFresh(blockTime: number, maxHeadAge = Infinity): void {
  if (Date.now() / 1000 - blockTime > maxHeadAge)
    throw unverifiable([{ check: 'chain', outcome: 'unknown', code: 'head_stale' }])
}
