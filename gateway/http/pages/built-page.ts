import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { Context } from 'hono'
import type { BuiltPage } from './built-file.ts'

/** The best one first. Browsers do not accept Brotli over plain HTTP from another machine. */
const PACKERS = [
  ['br', (text: string) => promisify(brotliCompress)(text)],
  ['gzip', (text: string) => promisify(gzip)(text)],
] as const

/** @param camera Who may use the camera, as in `Permissions-Policy`. */
export function createPageHandler(
  { html, policy }: BuiltPage,
  camera: 'camera=()' | 'camera=(self)',
): (c: Context) => Promise<Response> {
  return createPackedHandler(html, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Permissions-Policy': `${camera}, geolocation=(), microphone=()`,
    'Cross-Origin-Opener-Policy': 'same-origin',
  })
}

/** Answers with a text, packed once for each way that clients accept. */
export function createPackedHandler(
  text: string,
  own: Record<string, string>,
): (c: Context) => Promise<Response> {
  const headers = { ...own, Vary: 'Accept-Encoding' }
  const packed = new Map<string, Promise<Buffer>>()

  return async (c) => {
    const accepted = c.req.header('accept-encoding') ?? ''
    const [name, pack] = PACKERS.find(([name]) => new RegExp(`\\b${name}\\b`).test(accepted)) ?? []
    if (name === undefined || pack === undefined) return c.body(text, 200, headers)
    const bytes = packed.get(name) ?? pack(text)
    packed.set(name, bytes)
    return c.body(new Uint8Array(await bytes), 200, { ...headers, 'Content-Encoding': name })
  }
}
