import { FormatError } from './errors.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const replacing = new TextDecoder('utf-8', { ignoreBOM: true })

/** @param text Well-formed text, because half of a surrogate pair would become U+FFFD. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

/**
 * @returns The text, including a byte order mark, which is a character like any other.
 * @throws {FormatError} `utf8_malformed`.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new FormatError('utf8_malformed', 'invalid UTF-8', { cause })
  }
}

/** @returns The text, with U+FFFD in place of invalid UTF-8; otherwise as decodeUtf8. */
export function decodeAnyUtf8(bytes: Uint8Array): string {
  return replacing.decode(bytes)
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

/** @returns 4 bytes, big-endian. */
export function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

/** Thrown when a stream has more bytes than its reader accepts. */
export class TooLargeError extends Error {
  override name = 'TooLargeError'
}

/**
 * @param stream A stream; `null` = empty, such as the body of a response without one.
 * @throws {TooLargeError} as soon as it has more bytes than `limit`. The rest is not read.
 */
export async function readAtMost(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  // `for await` is not used, because Safari cannot iterate over a stream.
  const reader = stream?.getReader()
  for (;;) {
    const { value: chunk } = (await reader?.read()) ?? {}
    if (chunk === undefined) break
    length += chunk.length
    if (length > limit) {
      await reader?.cancel()
      throw new TooLargeError(`more than ${limit} bytes`)
    }
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** @returns Whether a text has no lone surrogate. Firefox has `isWellFormed` since the end of 2023. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text)
}
