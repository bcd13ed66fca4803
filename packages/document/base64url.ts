import { base64url } from 'jose'
import { FormatError } from './errors.ts'

export function encodeBase64url(bytes: Uint8Array): string {
  return base64url.encode(bytes)
}

/**
 * @param text The canonical base64url text (RFC 4648 §5, no padding) of its bytes. If several texts
 * had the same bytes, a sealed document would have several hashes.
 * @param decode Decodes text that has been checked; another implementation must give the same
 * bytes.
 * @throws {FormatError} `base64url_malformed`.
 */
export function decodeBase64url(
  text: string,
  decode: (text: string) => Uint8Array = base64url.decode,
): Uint8Array {
  // This is checked before decoding, because decoders of different platforms handle other
  // characters, lengths and spare bits differently.
  const rest = text.length % 4
  const good =
    /^[A-Za-z0-9_-]*$/.test(text) &&
    (rest === 0 ||
      (rest === 2 && /[AQgw]$/.test(text)) ||
      (rest === 3 && /[AEIMQUYcgkosw048]$/.test(text)))
  if (good) return decode(text)
  throw new FormatError('base64url_malformed', 'invalid base64url')
}
