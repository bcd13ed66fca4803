import { createChainReader } from '../verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '../verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '../verifier/readers/json-rpc.ts'
import type { Verdict } from '../verifier/verdict.ts'
import { verify } from '../verifier/verify.ts'
import type { Sources } from './config.ts'

/** Milliseconds that one answer may take: a phone on a poor line needs more than a server. */
const PATIENCE = 15_000

/** Has the library verify a document, from the sources that the reader trusts. */
export function check(publicId: string, sources: Sources): Promise<Verdict> {
  const { registry, rpc, ipfs, maxHeadAge } = sources
  return verify(publicId, {
    chain: createChainReader(
      createFetchProvider(rpc[0] ?? '', PATIENCE),
      registry,
    ),
    blocks: ipfs.map((url) => createIpfsGatewaySource(url, PATIENCE)),
    ...(maxHeadAge !== undefined && { maxHeadAge }),
  })
}
