import type { Hono } from 'hono'
import { type Hex, toHex } from '../../document/hex.ts'
import { decodePublicId } from '../../document/public-id.ts'
import { parseRegistry } from '../../verifier/readers/chain.ts'
import { verify } from '../../verifier/verify.ts'
import type { Deps } from '../app.ts'
import { verifyWithin } from '../deadline.ts'
import { succeed } from '../envelope.ts'
import { ApiError, HEAD_BEHIND, unverifiable } from '../errors.ts'
import { type Authorized, authorize } from '../middleware/authorize.ts'
import { presentDocument } from '../present.ts'

/** GET …/verify?publicId=: the verdict about a document. */
export function verifyRoutes(app: Hono<Authorized>, deps: Deps): void {
  const { verifyOptions, provingChain, addresses, findKey } = deps
  const { standingOf, newDeadline } = deps
  for (const path of ['/v1/verify', '/api/verify'])
    app.get(path, authorize(findKey, 'verify'), async (c) => {
      const { publicId, proven } = readQuery(c.req.queries())
      const { hash } = decodePublicId(publicId)
      const options = verifyWithin(newDeadline(), {
        ...verifyOptions,
        ...(proven && { chain: provingChain }),
      })
      const verdict = await verify(publicId, options)
      if (verdict.status === 'unverifiable') throw unverifiable(verdict.checks)
      const standing =
        verdict.status === 'not_issued' ? standingOf(toHex(hash)) : undefined
      // This gateway has seen it on the chain: the node is behind.
      if (standing?.anchored) throw unverifiable(HEAD_BEHIND)
      const status = standing ? 'pending' : verdict.status
      const { document, blockchainProof: proof, stateProof, ...told } = verdict
      return succeed(c, {
        ...told,
        status,
        document:
          document &&
          presentDocument(addresses, document, {
            publicId,
            documentHash: toHex(hash),
            status,
            transactionHash: proof?.transactionHash ?? null,
          }),
        blockchainProof: stateProof
          ? {
              ...(proof ?? anchorOf(addresses.registry, toHex(hash))),
              stateProof,
            }
          : proof,
      })
    })
}

/** What is proven of a document without a record: that there is none, for this hash in this registry. */
function anchorOf(registry: string, documentHash: Hex) {
  return { chainId: parseRegistry(registry).chainId, registry, documentHash }
}

function readQuery(query: Record<string, string[]>): {
  publicId: string
  proven: boolean
} {
  const { publicId, proof, ...others } = query
  const unknown = Object.keys(others)
  const details = unknown.map((field) => ({
    field,
    message: 'is not a parameter here',
  }))
  if (publicId?.length !== 1)
    details.push({ field: 'publicId', message: 'is required, once' })
  if (proof && (proof.length !== 1 || proof[0] !== 'full'))
    details.push({ field: 'proof', message: 'must be full, once' })
  if (details.length > 0 || publicId?.[0] === undefined)
    throw new ApiError('bad_query', 'some parameters are bad', { details })
  return { publicId: publicId[0], proven: proof !== undefined }
}
