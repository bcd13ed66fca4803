import { encodeUtf8, isWellFormed } from './bytes.ts'
import { FormatError } from './errors.ts'
import { decodeJsonText, isObject, type JsonValue, parseStrictJson } from './json.ts'

/**
 * @param value A JSON value. Members that are `undefined` are left out, as by `JSON.stringify`.
 * @returns Its RFC 8785 (JCS) bytes, in UTF-8.
 * @throws {TypeError} for a value without such a form: an infinite number, a lone surrogate,
 * anything that JSON lacks.
 *
 * @example
 * ```ts
 * new TextDecoder().decode(toCanonical({ b: 1, a: 'x' })) // => '{"a":"x","b":1}'
 * ```
 */
export function toCanonical(value: unknown): Uint8Array {
  return encodeUtf8(canonicalTextOf(value))
}

/**
 * @param bytes Bytes that must be exactly the RFC 8785 form of a JSON value.
 * @throws {FormatError} `not_canonical`, or a code of {@link parseStrictJson}.
 *
 * @example
 * ```ts
 * fromCanonical(toCanonical({ b: 1, a: 'x' })) // => { a: 'x', b: 1 }
 * ```
 */
export function fromCanonical(bytes: Uint8Array): JsonValue {
  const text = decodeJsonText(bytes)
  const value = parseStrictJson(text)
  if (!isCanonical(value, text))
    throw new FormatError('not_canonical', 'the JSON is not in canonical form (RFC 8785)')
  return value
}

/** JSON.parse makes a number infinite that is too large for a double, which has no such form. */
function isCanonical(value: JsonValue, text: string): boolean {
  try {
    return canonicalTextOf(value) === text
  } catch {
    return false
  }
}

/** RFC 8785 §3.2: numbers and strings are written as ECMAScript does. */
function canonicalTextOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalTextOf).join(',')}]`
  if (isObject(value)) return `{${membersOf(value).join(',')}}`
  const isSimple = value === null || typeof value === 'boolean' || Number.isFinite(value)
  if (isSimple || (typeof value === 'string' && isWellFormed(value))) return JSON.stringify(value)
  throw new TypeError('the value has no canonical form')
}

function membersOf(object: Record<string, unknown>): string[] {
  const names = Object.keys(object).filter((name) => object[name] !== undefined)
  // The default order is that of UTF-16 code units, as §3.2.3 requires.
  return names.sort().map((name) => `${canonicalTextOf(name)}:${canonicalTextOf(object[name])}`)
}
