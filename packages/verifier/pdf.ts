import { FormatError } from '../document/errors.ts'

/** The maximum bytes of a PDF; a certificate has some hundred KiB. */
const MAX_PDF = 8 * 1024 * 1024
/** The maximum number of streams that are examined; a certificate has one attachment. */
const MAX_STREAMS = 64
/** The maximum bytes of all inflated streams together. */
const MAX_INFLATED = 16 * 1024 * 1024
const BUNDLE = /"type"\s*:\s*"document-registry-bundle"/
/**
 * The entry is in the trailer or in the dictionary of the cross-reference stream, neither of which
 * is compressed.
 */
const ENCRYPTED = /\/Encrypt\s*(\d|<<)/
/** The maximum distance from the start of a dictionary to its `stream`. */
const MAX_DICTIONARY = 4096
/**
 * The compressed bytes that are passed on at a time, because Chromium inflates everything that it
 * has before it can be stopped.
 */
const MAX_PIECE = 16 * 1024

/** @returns Whether the bytes begin like a PDF file. */
export function isPdf(bytes: Uint8Array): boolean {
  return latin1(bytes.subarray(0, 1024)).includes('%PDF-')
}

/**
 * Finds the bundle that is attached to a PDF. Dictionaries of streams are never compressed, so the
 * attachment is found by a search. No table of the file is trusted, and a file that another program
 * has saved again can be read too. An encrypted PDF has no readable attachment.
 *
 * @param pdf At most 8 MiB.
 * @returns The bytes of the first attachment that begins like a bundle, not yet checked.
 * @throws {FormatError} `bundle_malformed` for a PDF without a bundle.
 */
export async function bundleInPdf(pdf: Uint8Array): Promise<Uint8Array> {
  if (pdf.length > MAX_PDF) throw new FormatError('bundle_malformed', 'the PDF is too large')
  const text = latin1(pdf)
  let left = MAX_INFLATED
  for (const { start, end, isDeflated } of attachmentsIn(text)) {
    const raw = pdf.subarray(start, end)
    const content = isDeflated ? await inflate(raw, left) : raw
    left -= content.length
    if (BUNDLE.test(latin1(content.subarray(0, MAX_DICTIONARY)))) return content
    if (left <= 0) break
  }
  throw new FormatError(
    'bundle_malformed',
    ENCRYPTED.test(text)
      ? 'the PDF is encrypted: save it without a password first'
      : 'the PDF contains no readable bundle: use the file as it was issued, or scan its QR code',
  )
}

type Stream = { start: number; end: number; isDeflated: boolean }

/**
 * @returns The streams of embedded files in order, found in one pass whatever the file contains.
 */
function* attachmentsIn(text: string): Generator<Stream> {
  let seen = 0
  let from = 0
  let keyword = -1
  while (seen < MAX_STREAMS) {
    const at = text.indexOf('EmbeddedFile', from)
    if (at < 0) return
    from = at + 1
    // Many names may come before one `stream`, so it is searched for only once.
    if (keyword < at) keyword = text.indexOf('stream', at)
    if (keyword < 0) return
    const isNear = keyword - at < MAX_DICTIONARY
    // `/EmbeddedFiles` is the table of names.
    if (!isNear || !/^EmbeddedFile[\s/>]/.test(text.slice(at, at + 13))) continue
    seen++
    const start = keyword + (text.startsWith('\r\n', keyword + 6) ? 8 : 7)
    const end = text.indexOf('endstream', start)
    if (end < 0) return
    from = end
    const before = Math.max(keyword - MAX_DICTIONARY, 0)
    const object = before + Math.max(text.slice(before, at).lastIndexOf(' obj'), 0)
    yield { start, end, isDeflated: text.slice(object, keyword).includes('/FlateDecode') }
  }
}

/** @returns The bytes that can be inflated, at most `limit`. Anything after the data is ignored. */
async function inflate(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  const stream = piecesOf(bytes).pipeThrough(new DecompressionStream('deflate'))
  try {
    for (const reader = stream.getReader(); ; ) {
      const { done, value } = await reader.read()
      if (done) break
      length += value.length
      chunks.push(value)
      if (length < limit) continue
      await reader.cancel()
      break
    }
  } catch {
    // The data is damaged, or followed by a line end. The caller judges what came before.
  }
  const whole = new Uint8Array(Math.min(length, limit))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk.subarray(0, whole.length - at), at)
    at += Math.min(chunk.length, whole.length - at)
  }
  return whole
}

function piecesOf(bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (at >= bytes.length) return controller.close()
        controller.enqueue(bytes.slice(at, at + MAX_PIECE))
        at += MAX_PIECE
      },
    },
    { highWaterMark: 0 },
  )
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes)
}
