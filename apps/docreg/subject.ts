import { readFile, stat } from 'node:fs/promises'
import { isCredential, parseCredential } from '#document/credential.ts'
import { isPresentationFile } from '#document/presentation.ts'
import { hasPresentationLink, readPresentationLink } from '#document/presentation-link.ts'
import { readVerifyLinks } from '#document/verify-link.ts'
import { readBundle } from '#verifier/bundle.ts'
import { bundleInPdf, isPdf } from '#verifier/pdf.ts'
import { readPresentation } from '#verifier/presentation.ts'
import { InputError } from './errors.ts'
import { readStdin } from './files.ts'

/** The subject of the command. */
export type Subject = {
  /** The undecoded input. It contains a decryption key, so never print it. */
  publicId: string
  /** The registry that an address or QR code names. It is only a hint by whoever made the code. */
  registryHint?: string
  /** The bundle from which it was read, if any, and the block of the bundle. */
  bundle?: ReturnType<typeof readBundle>
  /** The bundle was attached to a PDF, so its reader wants to know the current status. */
  fromPdf?: true
}

/** A presentation, and the block of its state proof, if it has one. */
export type Presented = ReturnType<typeof readPresentation> & {
  /** The text of the credential from which it was read, if any. */
  credential?: string
}

/** The maximum size in bytes. No document, code or bundle of this project is larger. */
const MAX_BYTES = 16 * 1024 * 1024

/**
 * @param given See {@link readInput}.
 * @throws {InputError} also for a presentation, which does not lead to the whole document.
 * @throws {FormatError} for a malformed bundle.
 */
export async function readSubject(given: string): Promise<Subject> {
  const input = await readInput(given)
  if ('presentation' in input)
    throw new InputError(
      'only_presentation',
      'a presentation is not enough: give the publicId or a bundle',
    )
  return input
}

/**
 * @param given A publicId, the address of a verify page, or the path of a file with one of these, a
 * bundle, a presentation, a credential or a QR code (PNG, JPEG); `-` for any of these on standard
 * input.
 * @throws {InputError}
 * @throws {FormatError} for a malformed bundle, presentation or credential.
 */
export async function readInput(given: string): Promise<Subject | Presented> {
  if (given === '-') return fromBytes(await readStdin(MAX_BYTES))
  if (await isFile(given)) return fromBytes(await readBytes(given))
  const isLink = isAddress(given) || hasPresentationLink(given) || readVerifyLinks(given).length > 0
  // A publicId never contains these characters.
  if (!isLink && /[./\\]/.test(given)) throw new InputError('unreadable', 'the file does not exist')
  return fromText(given)
}

async function fromBytes(bytes: Uint8Array): Promise<Subject | Presented> {
  if (/^(GIF8|RIFF....WEBP)/s.test(Buffer.from(bytes.subarray(0, 12)).toString('latin1')))
    throw new InputError(
      'no_qr_code',
      'GIF and WebP are not read here: save the picture as PNG or JPEG, or show it to the verify page',
    )
  if (isPdf(bytes)) return { ...fromBundle(await bundleInPdf(bytes)), fromPdf: true }
  if (!isImage(bytes)) {
    // This decoder is lenient and only recognizes the kind. The content is decoded strictly later.
    const text = new TextDecoder().decode(bytes)
    if (!JSON_START.test(text)) return fromText(text)
    return isPresentationFile(text) ? readPresentation(bytes) : fromBundle(bytes)
  }
  const { readQrCodes } = await import('./qr-image.ts')
  const texts = [...new Set(await readQrCodes(bytes))]
  const found = await Promise.all(texts.map(fromText))
  const [first] = found
  if (first === undefined || !found.every((one) => isSame(one, first)))
    throw new InputError(
      'several_qr_codes',
      'the picture has several QR codes that lead to different documents',
    )
  return first
}

/** @returns Whether both contain the same whole document. */
function isSame(a: Subject | Presented, b: Subject | Presented): boolean {
  if (a === b) return true
  return 'publicId' in a && 'publicId' in b && a.publicId === b.publicId
}

/** @returns Whether the bytes begin like a PNG or JPEG file. */
function isImage(bytes: Uint8Array): boolean {
  const starts = (...magic: number[]) => magic.every((byte, i) => bytes[i] === byte)
  return starts(0x89, 0x50, 0x4e, 0x47) || starts(0xff, 0xd8, 0xff)
}

/** Text that begins with a brace, also in UTF-16 or after a byte order mark. */
const JSON_START = /^[\s\ufffd\0]*\{/

function fromBundle(bytes: Uint8Array): Subject {
  const read = readBundle(bytes)
  const { publicId, registry } = read.bundle
  return { publicId, registryHint: registry, bundle: read }
}

async function fromText(text: string): Promise<Subject | Presented> {
  const trimmed = text.trim()
  if (/^<(\?xml|svg|!doctype)/i.test(trimmed))
    throw new InputError(
      'no_qr_code',
      'SVG and HTML are not supported: save the QR code as PNG or JPEG',
    )
  if (isCredential(trimmed)) return fromCredential(trimmed)
  if (hasPresentationLink(trimmed)) return readPresentation(await readPresentationLink(trimmed))
  return fromLink(trimmed)
}

function fromCredential(credential: string): Presented {
  return { presentation: parseCredential(credential).presentation, block: null, credential }
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text)
}

/** @param text A publicId, or text with a link to a document. No address is opened. */
function fromLink(text: string): Subject {
  const [link, ...others] = readVerifyLinks(text)
  if (others.length > 0)
    throw new InputError('several_public_ids', 'the text has several publicIds: give one of them')
  if (link) {
    const { publicId, registry } = link
    return { publicId, ...(registry !== undefined && { registryHint: registry }) }
  }
  if (!isAddress(text)) return { publicId: text }
  throw new InputError(
    'no_public_id',
    'the address contains no publicId, neither as #publicId=… nor as …/qr/<publicId>',
  )
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}

/** @throws {InputError} `unreadable` */
export async function readBytes(path: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(path)
    if (size > MAX_BYTES) throw new RangeError(`more than ${MAX_BYTES} bytes`)
    return await readFile(path)
  } catch (cause) {
    throw new InputError('unreadable', `the file cannot be read: ${cause}`)
  }
}
