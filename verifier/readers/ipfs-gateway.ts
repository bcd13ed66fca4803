import { cidOf } from '../../document/cid.ts'
import type { BlockSource } from '../ports.ts'
import { withTimeout } from '../signal.ts'

/** No block of this project is larger; more is the source's fault, and not read on. */
const MAX_BLOCK = 1024 * 1024

/**
 * A trustless IPFS gateway (https://specs.ipfs.tech/http-gateways/trustless-gateway/): raw blocks by CID.
 *
 * @param url Its address, without `/ipfs`.
 * @param timeout Milliseconds a block may take.
 */
export function createIpfsGatewaySource(
  url: string,
  timeout = 10_000,
): BlockSource {
  const base = url.replace(/\/+$/, '')
  return {
    async get(hash, { signal } = {}) {
      const response = await fetch(`${base}/ipfs/${cidOf(hash)}?format=raw`, {
        headers: { accept: 'application/vnd.ipld.raw' },
        referrerPolicy: 'no-referrer',
        signal: withTimeout(timeout, signal),
      })
      // 410 is that gateway's word only: elsewhere the block may still be had.
      if (response.status === 404 || response.status === 410) {
        await response.body?.cancel()
        return { status: 'missing' }
      }
      if (!response.ok) {
        await response.body?.cancel()
        throw new Error(`HTTP ${response.status}`)
      }
      return { status: 'found', bytes: await readAtMost(response, MAX_BLOCK) }
    },
  }
}

async function readAtMost(
  response: Response,
  limit: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Not `for await`: Safari cannot iterate over a stream.
  const reader = response.body?.getReader()
  for (;;) {
    const { value: chunk } = (await reader?.read()) ?? {}
    if (chunk === undefined) break
    length += chunk.length
    if (length > limit) {
      await reader?.cancel()
      throw new Error(`block larger than ${limit} bytes`)
    }
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
