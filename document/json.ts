import { FormatError } from './errors.ts'

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | JsonValue[]
  | { [key: string]: JsonValue }

// A string token and, when it is a key, the colon after it. Only run on text that JSON.parse took, where it cannot
// start in the middle of a string.
const STRING_TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?/g

/**
 * Parses JSON (RFC 8259) as I-JSON (RFC 7493) wants it: no duplicate keys, no lone surrogates; nor a key `__proto__`,
 * which too many programs take for something else.
 *
 * @param text JSON text.
 * @throws {FormatError} `json_syntax`, `json_duplicate_key`, `json_lone_surrogate`, `json_forbidden_key`.
 */
export function parseStrictJson(text: string): JsonValue {
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new FormatError('json_syntax', 'not JSON', { cause })
  }
  const keys = countKeys(value)
  let written = 0
  for (const token of text.matchAll(STRING_TOKEN)) {
    if (token[1] !== undefined) written++
  }
  if (written !== keys)
    throw new FormatError('json_duplicate_key', 'an object has a key twice')
  return value
}

function countKeys(value: JsonValue): number {
  if (typeof value === 'string') {
    assertWellFormed(value)
    return 0
  }
  if (value === null || typeof value !== 'object') return 0
  if (Array.isArray(value))
    return value.reduce<number>((sum, item) => sum + countKeys(item), 0)
  let count = 0
  for (const [key, item] of Object.entries(value)) {
    assertWellFormed(key)
    if (key === '__proto__')
      throw new FormatError(
        'json_forbidden_key',
        'the key __proto__ is refused',
      )
    count += 1 + countKeys(item)
  }
  return count
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed())
    throw new FormatError(
      'json_lone_surrogate',
      'a string has half of a surrogate pair',
    )
}
