import { readAtMost } from '../../document/bytes.ts'
import { cidOf } from '../../document/cid.ts'
import { refusalOf } from '../errors.ts'
import type { BlockSource } from '../ports.ts'
import { withTimeout } from '../signal.ts'

/** The maximum bytes of a block of this project. Larger responses are not read to the end. */
const MAX_BLOCK = 1024 * 1024

/**
 * A trustless IPFS gateway (https://specs.ipfs.tech/http-gateways/trustless-gateway/) that serves
 * raw blocks by CID.
 *
 * @param url The base URL, without `/ipfs`.
 * @param timeout Milliseconds per block.
 *
 * @example
 * ```ts
 * const source = createIpfsGatewaySource('https://ipfs.example')
 * const { status } = await source.get(decodePublicId(publicId).hash)
 * status // => 'found'
 * ```
 */
export function createIpfsGatewaySource(url: string, timeout = 10_000): BlockSource {
  const base = url.replace(/\/+$/, '')
  return {
    async get(hash, { signal } = {}) {
      const response = await fetch(`${base}/ipfs/${cidOf(hash)}?format=raw`, {
        headers: { accept: 'application/vnd.ipld.raw' },
        referrerPolicy: 'no-referrer',
        signal: withTimeout(timeout, signal),
      })
      // A 410 applies only to this gateway; another source may still have the block.
      if (response.status === 404 || response.status === 410) {
        await response.body?.cancel()
        return { status: 'missing' }
      }
      if (!response.ok) throw await refusalOf(response)
      return { status: 'found', bytes: await readAtMost(response.body, MAX_BLOCK) }
    },
  }
}
