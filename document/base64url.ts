import { base64url } from 'jose'
import { FormatError } from './errors.ts'

export function encodeBase64url(bytes: Uint8Array): string {
  return base64url.encode(bytes)
}

/**
 * @param text The one base64url text (RFC 4648 §5, no padding) of its bytes. With several texts for the same bytes, a sealed
 * document would have several hashes.
 * @throws {FormatError} `base64url_malformed`.
 */
export function decodeBase64url(text: string): Uint8Array {
  // Checked before decoding: what a decoder makes of other characters and lengths differs between platforms.
  if (/^[A-Za-z0-9_-]*$/.test(text) && text.length % 4 !== 1) {
    const bytes = base64url.decode(text)
    if (base64url.encode(bytes) === text) return bytes
  }
  throw new FormatError('base64url_malformed', 'not base64url')
}
