import { decodeUtf8, isWellFormed } from './bytes.ts'
import { FormatError, type FormatErrorCode, refusingAs } from './errors.ts'

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | JsonValue[]
  | { [key: string]: JsonValue }

/**
 * No format of this project nests deeper, and programs that read JSON recursively are safe at this
 * depth.
 */
const MAX_DEPTH = 32

/** @returns Whether a JSON value is an object, and not an array or `null`. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Parses JSON (RFC 8259) with the rules of I-JSON (RFC 7493): no duplicate keys and no lone
 * surrogates. The key `__proto__` is also refused, because many programs treat it specially.
 *
 * @param text JSON text.
 * @throws {FormatError} `json_syntax`, `json_duplicate_key`, `json_lone_surrogate`,
 * `json_forbidden_key`, `json_too_deep`.
 *
 * @example
 * ```ts
 * parseStrictJson('{"a":1}') // => { a: 1 }
 * ```
 */
export function parseStrictJson(text: string): JsonValue {
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new FormatError('json_syntax', 'invalid JSON', { cause })
  }
  if (countKeys(value) !== countMembers(text))
    throw new FormatError('json_duplicate_key', 'an object has a duplicate key')
  return value
}

/**
 * @returns The text of JSON in bytes.
 * @throws {FormatError} `json_syntax` when they are not UTF-8.
 */
export function decodeJsonText(bytes: Uint8Array): string {
  return refusingAs('json_syntax', 'invalid UTF-8', () => decodeUtf8(bytes))
}

/**
 * @param input A JSON file as text or bytes; any other value counts as parsed.
 * @param maxLength The maximum length in characters or bytes; a longer file is refused unread.
 * @throws {FormatError} `code` for a file that is too long; a code of {@link parseStrictJson}.
 */
export function readJsonFile(input: unknown, maxLength: number, code: FormatErrorCode): unknown {
  if (typeof input !== 'string' && !(input instanceof Uint8Array)) return input
  if (input.length > maxLength) throw new FormatError(code, 'the JSON is too long')
  return parseStrictJson(typeof input === 'string' ? input : decodeJsonText(input))
}

/**
 * @returns The number of keys of all objects in a value. Also checks every string and the depth.
 */
function countKeys(value: JsonValue, depth = 0): number {
  if (depth > MAX_DEPTH)
    throw new FormatError('json_too_deep', `the JSON is nested more than ${MAX_DEPTH} levels deep`)
  if (typeof value === 'string') assertWellFormed(value)
  if (value === null || typeof value !== 'object') return 0
  const keys = Array.isArray(value) ? [] : Object.keys(value)
  keys.forEach(assertGoodKey)
  let count = keys.length
  for (const item of Object.values(value)) count += countKeys(item, depth + 1)
  return count
}

const QUOTE = '"'.charCodeAt(0)
const BACKSLASH = '\\'.charCodeAt(0)
const COLON = ':'.charCodeAt(0)

/**
 * @param text JSON. No regular expression is used, because a string of some megabytes overflows its
 * stack.
 * @returns The number of members that are written in it, including those with a repeated key. This
 * is the number of colons outside strings.
 */
function countMembers(text: string): number {
  let count = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) inString = !inString
    else if (inString && character === BACKSLASH) at++
    else if (!inString && character === COLON) count++
  }
  return count
}

function assertGoodKey(key: string): void {
  assertWellFormed(key)
  if (key === '__proto__')
    throw new FormatError('json_forbidden_key', 'the key __proto__ is not allowed')
}

function assertWellFormed(text: string): void {
  if (!isWellFormed(text))
    throw new FormatError('json_lone_surrogate', 'a string contains a lone surrogate')
}
