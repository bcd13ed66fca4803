/** A body has more bytes than its reader takes. */
export class TooLargeError extends Error {
  override name = 'TooLargeError'
}

/**
 * @returns The body of an answer.
 * @throws {TooLargeError} as soon as it has more bytes than `limit`: the rest is not read.
 */
export async function readAtMost(response: Response, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Not `for await`: Safari cannot iterate over a stream.
  const reader = response.body?.getReader()
  for (;;) {
    const { value: chunk } = (await reader?.read()) ?? {}
    if (chunk === undefined) break
    length += chunk.length
    if (length > limit) {
      await reader?.cancel()
      throw new TooLargeError(`an answer of more than ${limit} bytes`)
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
