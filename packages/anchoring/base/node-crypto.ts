import { createCipheriv, createDecipheriv, createSecretKey, hash } from 'node:crypto'
import { disclose, type Primitives } from '#document/disclosures.ts'
import { encodeDocument } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import type { Hkdf } from '#document/hkdf.ts'
import type { Hmac } from '#document/keys.ts'
import {
  type Decrypt,
  decodeOpened,
  headerOf,
  type Opener,
  open,
  pad,
  type Seal,
} from '#document/sealed.ts'

// Sealing and opening with Node's own cryptography, in a fraction of the time of WebCrypto
// (docs/performance.md), and with the same bytes.

const BLOCK = 64
const DIGEST = 32
const TAG_LENGTH = 16

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

export const sealWithNode: Seal = (document, keys, encoded = encodeDocument(document)) => {
  const { salt, documentKey, iv } = keys
  const { sd } = disclose(document, keys, NODE_PRIMITIVES)
  const header = NODE_PRIMITIVES.encode(JSON.stringify(headerOf({ salt, sd })))
  const cipher = createCipheriv('aes-128-gcm', createSecretKey(documentKey), iv)
  cipher.setAAD(Buffer.from(header, 'latin1'))
  const ciphertext = Buffer.concat([cipher.update(pad(encoded)), cipher.final()])
  const tag = cipher.getAuthTag()
  // The empty part is the place of the encrypted key, which `dir` does not have (RFC 7516 §5.1).
  const parts = [header, '', ...[iv, ciphertext, tag].map(base64url)]
  const bytes = Buffer.from(parts.join('.'), 'latin1')
  return { bytes, documentHash: hash('sha256', bytes, 'buffer') }
}

export const NODE_PRIMITIVES: Primitives = {
  base64url: (bytes, start, end) => bufferOf(bytes).toString('base64url', start, end),
  encode: (text) => Buffer.from(text, 'utf8').toString('base64url'),
  digest: (text) => hash('sha256', text, 'base64url'),
  hkdf: hkdfWithNode,
}

function base64url(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('base64url')
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

export const openWithNode: Opener = {
  sha256: (bytes) => hash('sha256', bytes, 'buffer'),
  open: (sealed, documentKey) => open(sealed, documentKey, { decrypt, decodeBase64url }),
  decodeOpened: (opened, documentKey) => decodeOpened(opened, documentKey, NODE_PRIMITIVES),
}

function decodeBase64url(text: string): Uint8Array {
  return Buffer.from(text, 'base64url')
}

const decrypt: Decrypt = ({ additionalData, iv, data }, documentKey) => {
  const end = data.length - TAG_LENGTH
  const key = createSecretKey(documentKey)
  const decipher = createDecipheriv('aes-128-gcm', key, iv, {
    authTagLength: TAG_LENGTH,
  })
  decipher.setAAD(additionalData).setAuthTag(data.subarray(end))
  const plaintext = decipher.update(data.subarray(0, end))
  try {
    decipher.final()
  } catch (cause) {
    throw new FormatError('wrong_key', 'the key does not open the sealed document', { cause })
  }
  return plaintext
}
