import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { readAtMost } from './bytes.ts'
import { deflateLengths } from './deflate-lengths.ts'
import { FormatError } from './errors.ts'
import { encodePresentation, type Presentation, parsePresentation } from './presentation.ts'
import { withoutNoise } from './verify-link.ts'

// The address of a verify page with a presentation in its fragment, which browsers do not send. The
// fragment is base64url of raw DEFLATE (RFC 1951) of the presentation's RFC 8785 bytes.

/**
 * The maximum size of an inflated presentation. A few KB of text could inflate to gigabytes, so
 * reading stops there.
 */
const MAX_INFLATED = 64 * 1024
/** A little more than the base64url of bytes that do not compress. */
const MAX_TEXT = 90_000
const PARAMETER = 'presentation'

/**
 * The longest link for which a QR code is drawn, in characters. At level L that is version 33 of
 * 40, with 149 modules a side, which is 8 cm in print at half a millimetre each.
 */
export const MAX_QR_LINK = 2_000

/**
 * @param page The address of a verify page, without a fragment.
 * @returns `undefined` for a presentation of more than 64 KiB.
 * @throws {TypeError} for a presentation with a sealed document or a state proof, which belong in a
 * file.
 *
 * @example
 * ```ts
 * const page = 'https://documents.example/verify'
 * const link = await encodePresentationLink(page, parsePresentation(presentation))
 * link.startsWith(`${page}#presentation=`) // => true
 * ```
 */
export async function encodePresentationLink(
  page: string,
  presentation: Presentation,
): Promise<string | undefined> {
  if (presentation.sealed !== null || presentation.stateProof !== null)
    throw new TypeError('a link must not carry a sealed document or a state proof')
  const bytes = encodePresentation(presentation)
  if (bytes.length > MAX_INFLATED) return undefined
  const deflated = through(bytes, new CompressionStream('deflate-raw'))
  const buffer = await new Response(deflated).arrayBuffer()
  return `${page}#${PARAMETER}=${encodeBase64url(new Uint8Array(buffer))}`
}

/**
 * @returns Whether this is an address with a presentation in its fragment.
 *
 * @example
 * ```ts
 * isPresentationLink('https://documents.example/verify#presentation=jZA') // => true
 * isPresentationLink('https://documents.example/verify') // => false
 * ```
 */
export function isPresentationLink(link: string): boolean {
  return parameterOf(link) !== null
}

/**
 * @throws {FormatError} `presentation_malformed`, as `parsePresentation`; also for a presentation
 * that inflates to more than 64 KiB.
 *
 * @example
 * ```ts
 * const page = 'https://documents.example/verify'
 * const link = await encodePresentationLink(page, parsePresentation(presentation))
 * const { documentHash } = await decodePresentationLink(link)
 * ```
 */
export async function decodePresentationLink(link: string): Promise<Presentation> {
  const text = parameterOf(link)
  if (text === null) throw malformed('the link does not contain a presentation')
  if (text.length > MAX_TEXT) throw malformed('the link is too long')
  return parsePresentation(await inflate(text))
}

/**
 * @returns Whether there is a link to a presentation in a text, as {@link readPresentationLink}
 * reads it.
 */
export function hasPresentationLink(text: string): boolean {
  return /presentation(=|%(25)*3D)/.test(text)
}

/**
 * Reads a link, also one in a sentence, encoded once more, broken into lines or inside the address
 * of a service that wraps links.
 *
 * @throws {FormatError} `presentation_malformed`.
 */
export async function readPresentationLink(text: string): Promise<Presentation> {
  const [, plain] = /presentation(?:3D)?([\w-]+)/.exec(withoutNoise(text)) ?? []
  const [, here = plain] = /presentation(?:=|%(?:25)*3D)([\w-]+)/.exec(text) ?? []
  const read = (found = '') => decodePresentationLink(`#${PARAMETER}=${found}`)
  return read(here).catch(() => read(plain))
}

async function inflate(text: string): Promise<Uint8Array> {
  try {
    const bytes = decodeBase64url(text)
    const inflated = await readAtMost(
      through(bytes, new DecompressionStream('deflate-raw')),
      MAX_INFLATED,
    )
    const lengths = deflateLengths(bytes)
    if (lengths.deflated !== bytes.length || lengths.inflated !== inflated.length)
      throw new RangeError('not exactly one stream of DEFLATE')
    return inflated
  } catch (cause) {
    // Platforms differ in the error that a stream throws for bad bytes.
    throw malformed('the presentation in the link cannot be decompressed', cause)
  }
}

function parameterOf(link: string): string | null {
  const at = link.indexOf('#')
  if (at < 0) return null
  return new URLSearchParams(link.slice(at + 1)).get(PARAMETER)
}

function through(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new Blob([new Uint8Array(bytes)]).stream().pipeThrough(stream)
}

function malformed(message: string, cause?: unknown): FormatError {
  return new FormatError('presentation_malformed', message, { cause })
}
