import { createReadStream } from 'node:fs'
import { InputError } from './errors.ts'

/** The maximum bytes of a line. The longest is a proof of 100,000 documents. */
const MAX_LINE = 256 * 1024 * 1024
const LINE_FEED = 10

/**
 * Reads a text file line by line.
 *
 * @param unfinished Whether text after the last line feed is a line too. It is not one in a file
 * that an interrupted program may have written.
 * @returns Each line without its line feed, and the position of the byte after it.
 * @throws {InputError} `unreadable`, also for a line of more than 256 MiB.
 */
export async function* readLines(
  file: string,
  { unfinished = false }: { unfinished?: boolean } = {},
): AsyncGenerator<{ line: string; end: number }> {
  let parts: Buffer[] = []
  let length = 0
  let end = 0
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      let from = 0
      for (let to = chunk.indexOf(LINE_FEED); to >= 0; to = chunk.indexOf(LINE_FEED, from)) {
        parts.push(chunk.subarray(from, to))
        end += length + to - from + 1
        yield { line: Buffer.concat(parts).toString('utf8'), end }
        parts = []
        length = 0
        from = to + 1
      }
      length += chunk.length - from
      if (length > MAX_LINE) throw new RangeError(`a line has more than ${MAX_LINE} bytes`)
      parts.push(chunk.subarray(from))
    }
    if (unfinished && length > 0)
      yield { line: Buffer.concat(parts).toString('utf8'), end: end + length }
  } catch (cause) {
    if (cause instanceof InputError) throw cause
    throw new InputError('unreadable', `${file} cannot be read`, cause)
  }
}
