const LINE_FEED = 0x0a
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** @returns The bytes without the byte order mark that Windows writes before a text. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return BYTE_ORDER_MARK.equals(bytes.subarray(0, 3)) ? bytes.subarray(3) : bytes
}

/**
 * Splits bytes into lines. Each may begin with a byte order mark, as where files were joined.
 *
 * @param maxLength The maximum bytes of a line, without its line feed.
 * @returns The lines without line feeds; `undefined` for one that is too long, whose rest is
 * skipped. The last line may lack its line feed.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxLength: number,
): AsyncGenerator<Uint8Array | undefined> {
  let rest = Buffer.alloc(0)
  let tooLong = false
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk])
    let start = 0
    let end = bytes.indexOf(LINE_FEED)
    while (end !== -1) {
      const fits = !tooLong && end - start <= maxLength
      yield fits ? withoutMark(bytes.subarray(start, end)) : undefined
      tooLong = false
      start = end + 1
      end = bytes.indexOf(LINE_FEED, start)
    }
    rest = bytes.subarray(start)
    tooLong ||= rest.length > maxLength
    if (tooLong) rest = Buffer.alloc(0)
  }
  if (tooLong) yield undefined
  else if (rest.length > 0) yield withoutMark(rest)
}
