import { gcm } from '@noble/ciphers/aes.js'

/**
 * AES-GCM decryption for pages without WebCrypto: browsers withhold it over plain HTTP from another
 * machine, for example on a phone in the same network.
 */
export function supplyAesGcm(): void {
  if (globalThis.crypto.subtle !== undefined) return
  const subtle = {
    async importKey(
      _format: 'raw',
      raw: Uint8Array,
      algorithm: object,
      _extractable: boolean,
      usages: string[],
    ) {
      return { algorithm, usages, raw, [Symbol.toStringTag]: 'CryptoKey' }
    },
    async decrypt(
      { iv, additionalData }: { iv: Uint8Array; additionalData: Uint8Array },
      { raw }: { raw: Uint8Array },
      sealed: Uint8Array,
    ) {
      return gcm(raw, iv, additionalData).decrypt(sealed)
    },
  }
  Object.defineProperty(globalThis.crypto, 'subtle', { value: subtle })
}
