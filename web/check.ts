import {
  type Check,
  createChainReader,
  createFetchProvider,
  createIpfsGatewaySource,
  type Verdict,
  verify,
} from '../verifier/index.ts'
import type { Sources } from './config.ts'

/** Milliseconds that one answer may take: a phone on a poor line needs more than a server. */
const PATIENCE = 15_000

/**
 * Has the library verify a document, from the sources that the reader trusts.
 *
 * @param onCheck Told of each check as soon as it is done.
 * @throws The signal's reason, once it aborts.
 */
export function check(
  publicId: string,
  { registry, rpc, ipfs, maxHeadAge }: Sources,
  { onCheck, signal }: { onCheck: (check: Check) => void; signal: AbortSignal },
): Promise<Verdict> {
  return verify(publicId, {
    chain: createChainReader(
      createFetchProvider(rpc[0] ?? '', PATIENCE),
      registry,
    ),
    blocks: ipfs.map((url) => createIpfsGatewaySource(url, PATIENCE)),
    ...(maxHeadAge !== undefined && { maxHeadAge }),
    onCheck,
    signal,
  })
}
