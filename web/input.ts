import { decodeUtf8 } from '../document/bytes.ts'
import { FormatError } from '../document/errors.ts'
import type { Hex } from '../document/hex.ts'
import { decodePublicId } from '../document/public-id.ts'
import {
  readVerifyFragment,
  readVerifyLink,
  type VerifyLink,
} from '../document/verify-link.ts'
import { readBundle } from '../verifier/index.ts'
import { readQr } from './qr.ts'

/** What the reader wants checked. */
export type Subject = {
  publicId: string
  /** The registry that the link or the proof file names. A hint, and no more: the page trusts its own. */
  hint?: string
  /** A proof file, as text: what it says, as of its block, is checked too. */
  bundle?: string
  /** The hash of a block that the reader trusts, for the proof file. */
  trustedBlock?: Hex
  /** Blocks that came with a proof file, as text: the sealed document, and its batch block. */
  carried?: string[]
}

/** Why there is nothing to check; a key of the texts `error.…`. */
export type InputProblem =
  | 'empty'
  | 'malformed'
  | 'mistyped'
  | 'kind'
  | 'noQr'
  | 'notOurs'
  | 'file'
  | 'bundle'
  | 'camera'

/** Thrown for what holds no publicId. Nothing was asked of anybody. */
export class InputError extends Error {
  override name = 'InputError'
  readonly problem: InputProblem

  constructor(problem: InputProblem) {
    super(problem)
    this.problem = problem
  }
}

/** Longest text that is looked at, in UTF-16 units: a link with its fragment is a tenth of it. */
const MAX_TEXT = 4096
const MAX_HINT = 200
/** Bytes of the largest proof file that is read. */
const MAX_FILE = 8 * 1024 * 1024

/**
 * @param text A publicId, a link with one in its fragment, or the address of its QR code (`…/qr/<publicId>`), as typed, pasted
 *   or read from a QR code.
 * @throws {InputError}
 */
export function parseSubject(text: string): Subject {
  const trimmed = text.trim()
  if (trimmed === '') throw new InputError('empty')
  if (trimmed.length > MAX_TEXT) throw new InputError('malformed')
  const subject =
    subjectOf(readVerifyLink(trimmed)) ??
    (trimmed.includes('#')
      ? undefined
      : { publicId: trimmed.replace(/\s/g, '') })
  if (subject === undefined) throw new InputError('malformed')
  try {
    decodePublicId(subject.publicId)
  } catch (error) {
    throw new InputError(problemOf(error))
  }
  return subject
}

/**
 * @param text What is in a file that is no picture.
 * @throws {InputError}
 */
export function parseBundle(text: string): Subject {
  if (!text.trimStart().startsWith('{')) throw new InputError('file')
  try {
    const { publicId, registry, batch, sealed } = readBundle(text).bundle
    const carried = [batch, sealed].filter((block) => block !== null)
    return { publicId, hint: registry, bundle: text, carried }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new InputError('bundle')
  }
}

/** @param fragment What follows the `#` of an address. @returns `undefined` when it names no publicId. */
export function parseFragment(fragment: string): Subject | undefined {
  return subjectOf(readVerifyFragment(fragment))
}

function subjectOf(link: VerifyLink | undefined): Subject | undefined {
  if (link === undefined) return undefined
  const { publicId, registry } = link
  return {
    publicId,
    ...(registry !== undefined && { hint: registry.slice(0, MAX_HINT) }),
  }
}

/** @throws What is no `FormatError`. */
export function problemOf(error: unknown): InputProblem {
  if (!(error instanceof FormatError)) throw error
  if (error.code === 'public_id_checksum') return 'mistyped'
  return error.code === 'public_id_kind' ? 'kind' : 'malformed'
}

/**
 * @param file A picture of a QR code, or a proof file.
 * @throws {InputError}
 */
export async function readFile(file: File): Promise<Subject> {
  if (!file.type.startsWith('image/')) {
    if (file.size > MAX_FILE) throw new InputError('file')
    return parseBundle(textOfFile(new Uint8Array(await file.arrayBuffer())))
  }
  const image = await createImageBitmap(file).catch(() => {
    throw new InputError('file')
  })
  const text = await readQr(image)
  if (text === undefined) throw new InputError('noQr')
  try {
    return parseSubject(text)
  } catch {
    throw new InputError('notOurs')
  }
}

/**
 * @param bytes A file that is no picture.
 * @returns Its text, a byte order mark included.
 * @throws {InputError} when it is not UTF-8.
 */
export function textOfFile(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new InputError('file')
  }
}
