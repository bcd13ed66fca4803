import type { Hono } from 'hono'
import * as v from 'valibot'
import { type Hex, toHex } from '../../document/hex.ts'
import { decodePublicId } from '../../document/public-id.ts'
import { parseRegistry } from '../../verifier/readers/chain.ts'
import { verifyPublicId } from '../../verifier/verify.ts'
import type { Deps } from '../app.ts'
import { verifyWithin } from '../deadline.ts'
import type { Env } from '../env.ts'
import { succeed } from '../envelope.ts'
import { HEAD_BEHIND, unverifiable } from '../errors.ts'
import { withHistory } from '../history.ts'
import { authorize } from '../middleware/authorize.ts'
import { instant, networkOfRegistry, presentDocument, presentProof } from '../present.ts'

const PARAMETERS = {
  publicId: v.string(),
  /** With the storage proof of the record. */
  proof: v.exactOptional(v.literal('full', 'must be full')),
}

/** GET …/verify?publicId=: the verdict about a document. */
export function verifyRoutes(app: Hono<Env>, deps: Deps): void {
  const { verifyOptions, provingChain, addresses, findKey } = deps
  const { standingOf, history, newDeadline } = deps
  for (const path of ['/v1/verify', '/api/verify'])
    app.get(path, authorize(findKey, 'verify', PARAMETERS), async (c) => {
      const { publicId, proof: wanted } = c.get('query')
      const decoded = decodePublicId(publicId)
      const { issuerId, hash } = decoded
      const documentHash = toHex(hash)
      const options = verifyWithin(newDeadline(), {
        ...verifyOptions,
        ...(wanted && { chain: provingChain }),
      })
      const verdict = await verifyPublicId(decoded, options)
      if (verdict.status === 'unverifiable') throw unverifiable(verdict.checks)
      const standing =
        verdict.status === 'not_issued' ? await standingOf({ issuerId, documentHash }) : undefined
      // This gateway has seen it on the chain: the node is behind.
      if (standing?.anchored) throw unverifiable(HEAD_BEHIND)
      const status = standing ? 'pending' : verdict.status
      const { document, stateProof, asOf, ...rest } = verdict
      const proof = await withHistory(history, verdict.blockchainProof)
      const blockchainProof = presentProof(proof)
      return succeed(c, {
        ...rest,
        status,
        network: networkOfRegistry(addresses.registry),
        asOf: asOf && { ...asOf, blockTime: instant(asOf.blockTime) },
        document:
          document &&
          presentDocument(addresses, document, {
            publicId,
            // A publicId of a batch holds the hash of the document's batch block.
            documentHash: proof?.documentHash ?? documentHash,
            status,
            transactionHash: proof?.transactionHash ?? null,
          }),
        blockchainProof: stateProof
          ? {
              ...(blockchainProof ?? anchorOf(addresses.registry, documentHash)),
              stateProof,
            }
          : blockchainProof,
      })
    })
}

/** What is proven of a document without a record: that there is none, for this hash in this registry. */
function anchorOf(registry: string, documentHash: Hex) {
  return { chainId: parseRegistry(registry).chainId, registry, documentHash }
}
