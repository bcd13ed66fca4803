import type { Context } from 'hono'
import { type JsonValue, parseStrictJson } from '../document/json.ts'
import { ApiError } from './errors.ts'

/** Most bytes of a request body for one document. */
export const MAX_BODY = 64 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a JSON body of at most {@link MAX_BODY} bytes.
 *
 * @throws {ApiError} `not_json` (content type or encoding), `too_large`, `bad_json`.
 */
export async function readJson(c: Context): Promise<JsonValue> {
  const type = c.req.header('content-type') ?? ''
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type))
    throw new ApiError('not_json', 'Content-Type must be application/json')
  if (c.req.header('content-encoding') !== undefined)
    throw new ApiError('not_json', 'Content-Encoding is not supported')
  return parseStrictJson(decode(await readBody(c)))
}

async function readBody(c: Context): Promise<Uint8Array> {
  try {
    return await readAtMost(c, MAX_BODY)
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ApiError('bad_json', 'the body broke off', { cause: error })
  }
}

/**
 * Reads a body of at most `limit` bytes.
 *
 * @throws {ApiError} `too_large`; anything else when the body breaks off.
 */
export async function readAtMost(
  c: Context,
  limit: number,
): Promise<Uint8Array> {
  const tooLarge = () =>
    new ApiError('too_large', `the body must be at most ${limit} bytes`, {
      headers: { Connection: 'close' },
    })
  const announced = Number(c.req.header('content-length') ?? Number.NaN)
  if (announced > limit) throw tooLarge()
  if (announced >= 0) return new Uint8Array(await c.req.arrayBuffer())
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of c.req.raw.body ?? []) {
    length += chunk.length
    if (length > limit) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new ApiError('bad_json', 'not UTF-8', { cause })
  }
}
