import { hash } from 'node:crypto'
import type { Hkdf } from '#document/hkdf.ts'
import type { Hmac } from '#document/keys.ts'

const BLOCK = 64
const DIGEST = 32

/**
 * HKDF-SHA256 (RFC 5869) for keys and salts of at most 64 bytes. `hkdfSync` and `createHmac` spend
 * at least 12 µs on each call before they hash anything, `hash` less than 1 µs. Its fastest form is
 * that with a binary string.
 */
export const hkdfWithNode: Hkdf = (key, salt) => {
  const extraction = hmacBuffers(salt, key.length)
  extraction.inner.set(key, BLOCK)
  const prk = Buffer.from(hmac(extraction), 'latin1')
  return (info, length) => expand(prk, info, length)
}

/** HMAC-SHA256, also based on `hash`. */
export const hmacWithNode: Hmac = (key, message) => {
  const buffers = hmacBuffers(key, message.length)
  buffers.inner.set(message, BLOCK)
  return Buffer.from(hmac(buffers), 'latin1')
}

function expand(prk: Buffer, info: string, length: number): Uint8Array {
  // The inner message has the padded key, the previous block, the info and the number of the block.
  const { inner, outer } = hmacBuffers(prk, DIGEST + info.length + 1)
  inner.write(info, BLOCK + DIGEST, 'latin1')
  const blocks = Math.ceil(length / DIGEST)
  const output = Buffer.allocUnsafe(blocks * DIGEST)
  for (let i = 0; i < blocks; i++) {
    inner[inner.length - 1] = i + 1
    const block = hmac({ inner: i === 0 ? firstOf(inner) : inner, outer })
    inner.write(block, BLOCK, 'latin1')
    output.write(block, i * DIGEST, 'latin1')
  }
  return output.subarray(0, length)
}

/** @returns The message without a previous block, which the first block does not have. */
function firstOf(inner: Buffer): Buffer {
  return Buffer.concat([inner.subarray(0, BLOCK), inner.subarray(BLOCK + DIGEST)])
}

type HmacBuffers = { inner: Buffer; outer: Buffer }

/**
 * @returns The two messages of an HMAC (RFC 2104). The inner one has room for a text of this
 * length.
 */
function hmacBuffers(key: Uint8Array, length: number): HmacBuffers {
  const inner = Buffer.allocUnsafe(BLOCK + length)
  const outer = Buffer.allocUnsafe(BLOCK + DIGEST)
  for (let i = 0; i < BLOCK; i++) {
    const byte = key[i] ?? 0
    inner[i] = byte ^ 0x36
    outer[i] = byte ^ 0x5c
  }
  return { inner, outer }
}

function hmac({ inner, outer }: HmacBuffers): string {
  outer.write(hash('sha256', inner, 'binary'), BLOCK, 'latin1')
  return hash('sha256', outer, 'binary')
}
