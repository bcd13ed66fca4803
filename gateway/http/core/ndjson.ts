import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { encodeUtf8 } from '#document/bytes.ts'
import { PRIVATE } from './envelope.ts'
import { ApiError } from './errors.ts'

/** Newline-delimited JSON: one JSON text on each line, UTF-8. */
export const NDJSON = 'application/x-ndjson'

/**
 * @returns Whether the body is NDJSON.
 * @throws {ApiError} `not_json` for a `Content-Encoding`.
 */
export function isNdjson(c: Context): boolean {
  if (c.req.header('content-encoding') !== undefined)
    throw new ApiError('not_json', 'Content-Encoding is not supported')
  const type = c.req.header('content-type') ?? ''
  return /^application\/x-ndjson\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)
}

export type LineOptions = {
  status?: ContentfulStatusCode
  headers?: Record<string, string>
  /** The number of characters to gather before they are sent; 1 sends each line at once. */
  gather?: number
  /** Called once when the answer has ended for any reason. */
  done?: () => void
}

/**
 * Answers with one JSON object per line, made no faster than the client reads them.
 *
 * @param lines Ended with `return()` when the client disconnects.
 */
export function answerLines(
  c: Context,
  lines: AsyncGenerator<object>,
  { status = 200, headers = {}, gather = 1, done = () => {} }: LineOptions = {},
): Response {
  c.set('isEnvelope', true)
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { text, isLast } = await nextText(lines, gather).catch((error) => {
          done()
          throw error
        })
        if (text.length > 0) controller.enqueue(encodeUtf8(text))
        if (!isLast) return
        done()
        controller.close()
      },
      async cancel() {
        await lines.return(undefined).then(done, done)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    status,
    headers: {
      'Content-Type': NDJSON,
      'X-Request-Id': c.get('requestId'),
      ...PRIVATE,
      ...headers,
    },
  })
}

/** @returns The text of the next lines, of `gather` characters or a little more. */
async function nextText(
  lines: AsyncGenerator<object>,
  gather: number,
): Promise<{ text: string; isLast: boolean }> {
  let text = ''
  while (text.length < gather) {
    const next = await lines.next()
    if (next.done) return { text, isLast: true }
    text += `${JSON.stringify(next.value)}\n`
  }
  return { text, isLast: false }
}
