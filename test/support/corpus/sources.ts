import type { ServerResponse } from 'node:http'
import type { SourceKind } from './case.ts'

/** Bytes that no source of blocks is read beyond, and more. */
const TOO_LARGE = 4 * 1024 * 1024

/** Answers as an IPFS gateway of this kind does. @param bytes The right ones. */
export function serveBlock(
  kind: SourceKind,
  bytes: Uint8Array,
  response: ServerResponse,
): void {
  const type = { 'content-type': 'application/vnd.ipld.raw' }
  switch (kind) {
    case 'has':
      response.writeHead(200, type).end(bytes)
      return
    case 'missing':
      response.writeHead(404).end()
      return
    case 'gone':
      response.writeHead(410).end()
      return
    case 'http_500':
      response.writeHead(500).end()
      return
    case 'down':
      response.destroy()
      return
    case 'slow':
      // It has begun, and never ends.
      response.writeHead(200, type).write(bytes.subarray(0, 16))
      return
    case 'wrong_bytes':
      response.writeHead(200, type).end(oneBitOff(bytes))
      return
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
      return
    case 'too_large':
      response.writeHead(200, type).end(new Uint8Array(TOO_LARGE))
  }
}

function oneBitOff(bytes: Uint8Array): Uint8Array {
  const other = bytes.slice()
  const middle = other.length >> 1
  other[middle] = (other[middle] ?? 0) ^ 1
  return bytes.length > 0 ? other : new Uint8Array(1)
}
