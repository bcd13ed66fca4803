import { cidOf } from '#document/cid.ts'
import { serveHttp, type TestServer } from './http.ts'

/** A trustless IPFS gateway that serves any configured bytes, right or wrong. */
export type BlockServer = TestServer & {
  /** @param bytes The response for this hash; a number is an HTTP status without a block. */
  set(hash: Uint8Array, bytes: Uint8Array | number): void
}

export async function startBlockServer(): Promise<BlockServer> {
  const blocks = new Map<string, Uint8Array | number>()
  const server = await serveHttp((request, response) => {
    const path = new URL(request.url ?? '', 'http://localhost').pathname
    const block = blocks.get(path) ?? 404
    if (typeof block === 'number') {
      response.writeHead(block).end()
      return
    }
    response.writeHead(200, { 'content-type': 'application/vnd.ipld.raw' })
    response.end(block)
  })
  return {
    ...server,
    set: (hash, bytes) => {
      blocks.set(`/ipfs/${cidOf(hash)}`, bytes)
    },
  }
}
