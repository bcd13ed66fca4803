import canonicalize from 'canonicalize'
import { encodeUtf8 } from './bytes.ts'
import { FormatError } from './errors.ts'
import { decodeJsonText, type JsonValue, parseStrictJson } from './json.ts'

/** @param value A JSON value. @returns Its RFC 8785 (JCS) bytes, in UTF-8. */
export function toCanonical(value: unknown): Uint8Array {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('not a JSON value')
  return encodeUtf8(text)
}

/**
 * @param bytes Bytes that must be exactly the RFC 8785 form of a JSON value.
 * @throws {FormatError} `not_canonical`, or a code of {@link parseStrictJson}.
 */
export function fromCanonical(bytes: Uint8Array): JsonValue {
  const text = decodeJsonText(bytes)
  const value = parseStrictJson(text)
  if (canonicalTextOf(value) !== text)
    throw new FormatError('not_canonical', 'the JSON is not in canonical form (RFC 8785)')
  return value
}

/**
 * @returns `undefined` for a value without such a form, which is a number too large for a double
 * that JSON.parse makes infinite.
 */
function canonicalTextOf(value: JsonValue): string | undefined {
  try {
    return canonicalize(value)
  } catch {
    return undefined
  }
}
