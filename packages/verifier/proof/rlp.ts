import { concatBytes } from '@noble/hashes/utils.js'
import { invalid } from './invalid.ts'

/**
 * Recursive Length Prefix encoding (Yellow Paper, appendix B), in both directions. An item is bytes
 * or a list.
 */
export type RlpItem = Uint8Array | RlpItem[]

const BYTES = 0x80
const LIST = 0xc0
/** The longest payload whose length is in the first byte. */
const SHORT = 55
/**
 * The maximum number of lists around an item. Nothing that is hashed in a block is nested deeper (a
 * list in a node in a node).
 */
const MAX_DEPTH = 32

export function encodeRlp(item: RlpItem): Uint8Array {
  if (!(item instanceof Uint8Array)) return withLength(LIST, concatBytes(...item.map(encodeRlp)))
  const [first = BYTES] = item
  return item.length === 1 && first < BYTES ? item : withLength(BYTES, item)
}

/** @returns The number of bytes that {@link encodeRlp} makes of an item. */
export function sizeOfRlp(item: RlpItem): number {
  if (!(item instanceof Uint8Array)) {
    const payload = item.reduce((sum, one) => sum + sizeOfRlp(one), 0)
    return headOf(LIST, payload).length + payload
  }
  const [first = BYTES] = item
  return item.length === 1 && first < BYTES ? 1 : headOf(BYTES, item.length).length + item.length
}

function withLength(kind: number, payload: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.from(headOf(kind, payload.length)), payload)
}

/** @returns The bytes in front of a payload of this length. */
function headOf(kind: number, length: number): number[] {
  if (length <= SHORT) return [kind + length]
  const digits: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256)
  return [kind + SHORT + digits.length, ...digits]
}

/** @throws {FormatError} `proof_invalid` unless it is exactly the encoding of one item. */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  const { item, end } = readItem(bytes, 0, 0)
  if (end !== bytes.length) throw invalid('unexpected bytes after the RLP item')
  return item
}

function readItem(bytes: Uint8Array, start: number, depth: number): { item: RlpItem; end: number } {
  const first = bytes[start]
  if (first === undefined || depth > MAX_DEPTH) throw invalid('invalid RLP')
  if (first < BYTES) return { item: bytes.slice(start, start + 1), end: start + 1 }
  const kind = first < LIST ? BYTES : LIST
  const { from, end } = readLength(bytes, start, first - kind)
  if (kind === BYTES) {
    const item = bytes.slice(from, end)
    if (item.length === 1 && (item[0] ?? 0) < BYTES)
      throw invalid('RLP has a prefix before a single byte that needs none')
    return { item, end }
  }
  const list: RlpItem[] = []
  let at = from
  while (at < end) {
    const next = readItem(bytes.subarray(0, end), at, depth + 1)
    list.push(next.item)
    at = next.end
  }
  return { item: list, end }
}

/** @param code The first byte without the kind. @returns The start and the end of the payload. */
function readLength(bytes: Uint8Array, start: number, code: number): { from: number; end: number } {
  const width = Math.max(0, code - SHORT)
  const from = start + 1 + width
  const digits = bytes.subarray(start + 1, from)
  const length = width === 0 ? code : digits.reduce((sum, byte) => sum * 256 + byte, 0)
  const shortest = width === 0 || (length > SHORT && digits[0] !== 0)
  const end = from + length
  if (!shortest || end > bytes.length) throw invalid('RLP length is out of bounds')
  return { from, end }
}
