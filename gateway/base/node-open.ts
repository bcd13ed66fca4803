import { createDecipheriv, createSecretKey, hash } from 'node:crypto'
import { FormatError } from '#document/errors.ts'
import { type Decrypt, decodeOpened, type Opener, open } from '#document/sealed.ts'
import { NODE_PRIMITIVES } from './node-seal.ts'

/**
 * Opens documents with Node's own cryptography, in a fraction of the time of WebCrypto
 * (docs/performance.md).
 */
export const openWithNode: Opener = {
  sha256: (bytes) => hash('sha256', bytes, 'buffer'),
  open: (sealed, documentKey) => open(sealed, documentKey, { decrypt, decodeBase64url }),
  decodeOpened: (opened, documentKey) => decodeOpened(opened, documentKey, NODE_PRIMITIVES),
}

function decodeBase64url(text: string): Uint8Array {
  return Buffer.from(text, 'base64url')
}

const TAG_LENGTH = 16

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
