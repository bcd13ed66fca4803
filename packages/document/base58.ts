import { fromHex, toHex } from './hex.ts'

// base58btc, without a multibase prefix. The codec of multiformats processes every byte through
// every digit, which takes two to three times as long.

export const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** The value of each digit by character code; absent = not a digit. */
const DIGITS: readonly (number | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const digit = ALPHABET.indexOf(String.fromCharCode(code))
  return digit < 0 ? undefined : digit
})
/** The maximum number of digits whose value a number represents exactly. */
const CHUNK = 9
const CHUNK_VALUE = 58n ** BigInt(CHUNK)

/**
 * @param bytes The first byte must not be 0, because base58btc would write each leading 0 as a
 * separate digit.
 */
export function encodeBase58(bytes: Uint8Array): string {
  const digits: string[] = []
  for (let rest = BigInt(toHex(bytes)); rest > 0n; rest /= CHUNK_VALUE) {
    let chunk = Number(rest % CHUNK_VALUE)
    for (let i = 0; i < CHUNK; i++) {
      digits.push(ALPHABET.charAt(chunk % 58))
      chunk = Math.floor(chunk / 58)
    }
  }
  return digits.reverse().join('').replace(/^1+/, '')
}

/**
 * @param text A short text, because decoding is quadratic.
 * @returns `undefined` for text with other characters.
 */
export function decodeBase58(text: string): Uint8Array | undefined {
  let value = 0n
  for (let start = 0; start < text.length; start += CHUNK) {
    const end = Math.min(start + CHUNK, text.length)
    let chunk = 0
    let scale = 1
    for (let at = start; at < end; at++) {
      const digit = DIGITS[text.charCodeAt(at)]
      if (digit === undefined) return undefined
      chunk = chunk * 58 + digit
      scale *= 58
    }
    value = value * BigInt(scale) + BigInt(chunk)
  }
  const hex = value === 0n ? '' : value.toString(16)
  // Each leading 1 stands for a byte 0.
  const zeros = text.length - text.replace(/^1+/, '').length
  return fromHex(`0x${'00'.repeat(zeros)}${hex.length % 2 === 0 ? '' : '0'}${hex}`)
}
