import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { DidReply, SourceKind } from './case.ts'
import type { Reply } from './reply.ts'

/** More bytes than a reader accepts from any source. */
const TOO_LARGE = 4 * 1024 * 1024

/** @param bytes The right bytes. @returns The answer of this kind of IPFS gateway. */
export function replyAs(kind: SourceKind, bytes: Uint8Array): Reply {
  const good = { status: 200, type: 'application/vnd.ipld.raw' }
  switch (kind) {
    case 'has':
      return { ...good, body: bytes }
    case 'missing':
      return { status: 404 }
    case 'missing_unfinished':
      return { status: 404, type: 'text/plain', body: utf8ToBytes('404'), unfinished: true }
    case 'gone':
      return { status: 410 }
    case 'http_500':
      return { status: 500 }
    case 'down':
      return 'hang up'
    case 'slow':
      return { ...good, body: bytes.subarray(0, 16), unfinished: true }
    case 'wrong_bytes':
      return { ...good, body: oneBitOff(bytes) }
    case 'html':
      return { status: 200, type: 'text/html', body: utf8ToBytes('<html>') }
    case 'too_large':
      return { ...good, body: new Uint8Array(TOO_LARGE) }
  }
}

/** @returns The answer of the issuer's domain. */
export function replyAsDomain(domain: DidReply): Reply {
  if (typeof domain === 'string') return domain
  const { document, text, zeros, ...head } = domain
  const whole = document ? JSON.stringify(document) : text
  const body = zeros === undefined ? utf8ToBytes(whole ?? '') : zeroBytes(zeros)
  return { ...head, type: 'application/json', body }
}

const zeroBytes = (length: number) => new Uint8Array(length)

function oneBitOff(bytes: Uint8Array): Uint8Array {
  const other = bytes.slice()
  const middle = other.length >> 1
  other[middle] = (other[middle] ?? 0) ^ 1
  return bytes.length > 0 ? other : new Uint8Array(1)
}
