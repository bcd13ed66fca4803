/** A Huffman code: how many symbols there are of each length, and the symbols in their order. */
type Code = { counts: number[]; symbols: number[] }

const MAX_BITS = 15
const END_OF_BLOCK = 256
/** The order in which a block gives the lengths of the code of its lengths. */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

const repeat = (length: number, times: number): number[] => new Array(times).fill(length)
const FIXED = {
  literals: codeOf([...repeat(8, 144), ...repeat(9, 112), ...repeat(7, 24), ...repeat(8, 8)]),
  distances: codeOf(repeat(5, 30)),
}

/**
 * Finds where a stream of raw DEFLATE (RFC 1951) ends, which platforms do not tell: Node 20 ignores
 * what is behind it, and Deno does not miss its end.
 *
 * @param bytes A stream that a platform has inflated; so the result is small.
 * @returns The number of its bytes, and of those that it inflates to.
 * @throws {RangeError} for one that is cut.
 */
export function deflateLengths(bytes: Uint8Array): { deflated: number; inflated: number } {
  let at = 0
  let inflated = 0

  function bits(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++, at++) {
      const byte = bytes[at >> 3]
      if (byte === undefined) throw new RangeError('the DEFLATE stream is cut')
      value |= ((byte >> (at & 7)) & 1) << i
    }
    return value
  }

  function symbol({ counts, symbols }: Code): number {
    let [code, first, index] = [0, 0, 0]
    for (const count of counts.slice(1)) {
      code |= bits(1)
      if (code - first < count) return symbols[index + code - first] ?? 0
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    throw new RangeError('the DEFLATE stream has an unknown code')
  }

  function readCodes(): typeof FIXED {
    const [literals, distances, own] = [bits(5) + 257, bits(5) + 1, bits(4) + 4]
    const ownLengths = repeat(0, ORDER.length)
    for (const place of ORDER.slice(0, own)) ownLengths[place] = bits(3)
    const code = codeOf(ownLengths)
    const lengths: number[] = []
    while (lengths.length < literals + distances) {
      const length = symbol(code)
      if (length < 16) lengths.push(length)
      else if (length === 16) lengths.push(...repeat(lengths.at(-1) ?? 0, 3 + bits(2)))
      else lengths.push(...repeat(0, length === 17 ? 3 + bits(3) : 11 + bits(7)))
    }
    return {
      literals: codeOf(lengths.slice(0, literals)),
      distances: codeOf(lengths.slice(literals)),
    }
  }

  function skipStored(): void {
    at = (at + 7) & ~7
    const length = bits(16)
    at += 16 + 8 * length
    if (at > 8 * bytes.length) throw new RangeError('the DEFLATE stream is cut')
    inflated += length
  }

  function skipCompressed({ literals, distances }: typeof FIXED): void {
    for (;;) {
      const read = symbol(literals)
      if (read === END_OF_BLOCK) return
      inflated += read < END_OF_BLOCK ? 1 : lengthOf(read - END_OF_BLOCK - 1)
      if (read > END_OF_BLOCK) bits(Math.max(0, (symbol(distances) >> 1) - 1))
    }
  }

  function lengthOf(index: number): number {
    if (index < 8) return 3 + index
    if (index === 28) return 258
    const extra = (index >> 2) - 1
    return 3 + ((4 + (index & 3)) << extra) + bits(extra)
  }

  for (let isLast = 0; isLast === 0; ) {
    isLast = bits(1)
    const type = bits(2)
    if (type === 0) skipStored()
    else skipCompressed(type === 1 ? FIXED : readCodes())
  }
  return { deflated: (at + 7) >> 3, inflated }
}

/** @param lengths The length of the code of each symbol; 0 = it has none. */
function codeOf(lengths: readonly number[]): Code {
  const ofLength = Array.from({ length: MAX_BITS + 1 }, (_, length) =>
    lengths.flatMap((own, symbol) => (own === length && length > 0 ? [symbol] : [])),
  )
  return { counts: ofLength.map((symbols) => symbols.length), symbols: ofLength.flat() }
}
