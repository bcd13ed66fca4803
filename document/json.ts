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

/** Nothing of this project nests deeper; what reads JSON recursively is safe from it. */
const MAX_DEPTH = 32

/**
 * Parses JSON (RFC 8259) as I-JSON (RFC 7493) wants it: no duplicate keys, no lone surrogates; nor a key `__proto__`,
 * which too many programs take for something else.
 *
 * @param text JSON text.
 * @throws {FormatError} `json_syntax`, `json_duplicate_key`, `json_lone_surrogate`, `json_forbidden_key`,
 * `json_too_deep`.
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

/** @returns The number of keys of all objects in a value. Checks every string and the depth on the way. */
function countKeys(root: JsonValue): number {
  const stack: [JsonValue, number][] = [[root, 0]]
  let count = 0
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [value, depth] = next
    if (depth > MAX_DEPTH)
      throw new FormatError('json_too_deep', `nested deeper than ${MAX_DEPTH}`)
    if (typeof value === 'string') assertWellFormed(value)
    if (value === null || typeof value !== 'object') continue
    for (const item of Object.values(value)) stack.push([item, depth + 1])
    if (Array.isArray(value)) continue
    const keys = Object.keys(value)
    count += keys.length
    keys.forEach(assertGoodKey)
  }
  return count
}

function assertGoodKey(key: string): void {
  assertWellFormed(key)
  if (key === '__proto__')
    throw new FormatError('json_forbidden_key', 'the key __proto__ is refused')
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed())
    throw new FormatError(
      'json_lone_surrogate',
      'a string has half of a surrogate pair',
    )
}
