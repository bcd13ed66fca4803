import type { Hono } from 'hono'
import { toHex } from '../../../document/hex.ts'
import { decodePublicId } from '../../../document/public-id.ts'
import { type Bundle, readBundle, verifyBundle } from '../../../verifier/bundle.ts'
import { ChainError } from '../../../verifier/errors.ts'
import { keyOf, type VerifyOptions } from '../../../verifier/verify.ts'
import type { NewDeadline } from '../../deadline.ts'
import type { FindKey } from '../../grant.ts'
import type { PayloadStore } from '../../issue/ports.ts'
import { authorize } from '../authorize.ts'
import type { Env } from '../env.ts'
import { PRIVATE } from '../envelope.ts'
import { ApiError, HEAD_BEHIND, unverifiable } from '../errors.ts'
import { isPromised, type StandingOf } from '../promised.ts'

export type BundleDeps = {
  findKey: FindKey
  bundleOf: (publicId: string, signal: AbortSignal) => Promise<Bundle>
  standingOf: StandingOf
  store: PayloadStore
  verifyOptions: Pick<VerifyOptions, 'maxHeadAge'>
  newDeadline: NewDeadline
}

/** GET …/documents/{publicId}/bundle: the portable proof, without the envelope. */
export function bundleRoutes(app: Hono<Env>, deps: BundleDeps): void {
  const { findKey, standingOf, store, bundleOf, verifyOptions } = deps
  const { newDeadline } = deps
  for (const path of ['/v1/documents', '/api/documents'])
    app.get(`${path}/:publicId/bundle`, authorize(findKey, 'documents:read', {}), async (c) => {
      const publicId = c.req.param('publicId')
      const decoded = decodePublicId(publicId)
      const { hash } = decoded
      const bundle = await newDeadline()
        .within((signal) => bundleOf(publicId, signal))
        .catch((error) => {
          if (!(error instanceof ChainError)) throw error
          const { code } = error
          throw unverifiable([{ check: 'chain', outcome: 'unknown', code }])
        })
      // Read the bundle as its recipient will, before it goes out.
      const { blockHash, blockTime } = readBundle(bundle).block
      assertFresh(blockTime, verifyOptions.maxHeadAge)
      const { status, checks } = await verifyBundle(bundle, {
        registry: bundle.registry,
        trustedBlocks: [blockHash],
      })
      // The document will be on the chain soon, so its absence must not be proven now.
      if (await isPromised(standingOf, keyOf(decoded), status)) throw unverifiable(HEAD_BEHIND)
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

/** A node that stands still also returns proofs, without anything that came later. */
function assertFresh(blockTime: number, maxHeadAge = Infinity): void {
  if (Date.now() / 1000 - blockTime > maxHeadAge)
    throw unverifiable([{ check: 'chain', outcome: 'unknown', code: 'head_stale' }])
}
