import { Zip, ZipPassThrough } from 'fflate'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { encodeUtf8 } from '#document/bytes.ts'
import { NDJSON } from './request.ts'

export const ZIP = 'application/zip'

export type NamedFile = { name: string; bytes: Uint8Array }

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
  return c.body(streamOf(textsOf(lines, gather), done), status, {
    'Content-Type': NDJSON,
    ...headers,
  })
}

/** @returns The lines in pieces of `gather` characters or a little more. */
async function* textsOf(lines: AsyncGenerator<object>, gather: number): AsyncGenerator<Uint8Array> {
  let text = ''
  for await (const line of lines) {
    text += `${JSON.stringify(line)}\n`
    if (text.length < gather) continue
    yield encodeUtf8(text)
    text = ''
  }
  if (text !== '') yield encodeUtf8(text)
}

/**
 * Answers with a ZIP, made no faster than the client reads it. Files are stored as they are, since
 * a PDF is compressed.
 *
 * @param files Ended with `return()` when the client disconnects.
 * @param done Called once when the answer has ended for any reason.
 */
export function answerZip(
  c: Context,
  name: string,
  files: AsyncGenerator<NamedFile>,
  done: () => void,
): Response {
  return c.body(streamOf(zipOf(files), done), 200, {
    'Content-Type': ZIP,
    'Content-Disposition': `attachment; filename="${name}"`,
  })
}

async function* zipOf(files: AsyncGenerator<NamedFile>): AsyncGenerator<Uint8Array> {
  const parts: Uint8Array[] = []
  const zip = new Zip((error, part) => {
    if (error) throw error
    parts.push(part)
  })
  for await (const { name, bytes } of files) {
    const file = new ZipPassThrough(name)
    zip.add(file)
    file.push(bytes, true)
    yield* parts.splice(0)
  }
  zip.end()
  yield* parts.splice(0)
}

/** `ReadableStream.from` would not call `done` for a client that leaves before the first chunk. */
function streamOf(
  chunks: AsyncGenerator<Uint8Array>,
  done: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next().catch((error) => {
          done()
          throw error
        })
        if (!next.done) return controller.enqueue(next.value)
        done()
        controller.close()
      },
      async cancel() {
        await chunks.return(undefined).then(done, done)
      },
    },
    { highWaterMark: 0 },
  )
}
