import { Zip, ZipPassThrough } from 'fflate'
import type { Context } from 'hono'
import { PRIVATE } from './envelope.ts'

export const ZIP = 'application/zip'

export type NamedFile = { name: string; bytes: Uint8Array }

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
  const parts: Uint8Array[] = []
  const zip = new Zip((error, part) => {
    if (error) throw error
    parts.push(part)
  })
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await files.next().catch((error) => {
          done()
          throw error
        })
        if (next.done) zip.end()
        else {
          const file = new ZipPassThrough(next.value.name)
          zip.add(file)
          file.push(next.value.bytes, true)
        }
        for (const part of parts.splice(0)) controller.enqueue(part)
        if (!next.done) return
        done()
        controller.close()
      },
      async cancel() {
        await files.return(undefined).then(done, done)
      },
    },
    { highWaterMark: 0 },
  )
  return c.body(body, 200, {
    ...PRIVATE,
    'Content-Type': ZIP,
    'Content-Disposition': `attachment; filename="${name}"`,
  })
}
