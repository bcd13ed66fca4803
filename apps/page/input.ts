import { decodeUtf8 } from '#document/bytes.ts'
import { isCredential, parseCredential } from '#document/credential.ts'
import { FormatError } from '#document/errors.ts'
import type { Hex } from '#document/hex.ts'
import { type Presentation, parsePresentation } from '#document/presentation.ts'
import { hasPresentationLink, readPresentationLink } from '#document/presentation-link.ts'
import { decodePublicId } from '#document/public-id.ts'
import { readVerifyLinks } from '#document/verify-link.ts'
import { readBundle, readPresentation } from '#verifier/index.ts'
import { bundleInPdf, isPdf } from '#verifier/pdf.ts'
import { readQr } from './qr.ts'

/** The subject of a check: a document, or an excerpt of one. */
export type Subject = DocumentSubject | ExcerptSubject

type Given = {
  /**
   * The registry that the link or file names. It is only a hint, because the page trusts its own.
   */
  hint?: string
  /** The hash of a block that the reader trusts, for the proof in a file. */
  trustedBlock?: Hex
  /** The file was attached to a PDF, whose text may differ from the document. */
  fromPdf?: true
}

export type DocumentSubject = Given & {
  publicId: string
  /** The text of a proof file; its statement as of its block is checked too. */
  bundle?: string
  /** Text blocks from a proof file: the sealed document and its batch block. */
  carried?: string[]
  /** The reader is the holder, who wants to put the document into a wallet. */
  isForWallet?: true
}

export type ExcerptSubject = Given & {
  presentation: Presentation
  /** The text of the credential that shows it, if a wallet does. */
  credential?: string
  /** What the wallet must have signed, if the page has asked it. */
  shownTo?: ShownTo
}

/** To whom, and when, a wallet shows a credential. */
export type ShownTo = { audience: string; nonce: string }

export function isExcerpt(subject: Subject): subject is ExcerptSubject {
  return 'presentation' in subject
}

/** Why there is nothing to check; a key of the `error.…` texts. */
export type InputProblem =
  | 'empty'
  | 'malformed'
  | 'mistyped'
  | 'several'
  | 'kind'
  | 'noQr'
  | 'notOurs'
  | 'file'
  | 'bundle'
  | 'pdf'
  | 'excerpt'
  | 'credential'
  | 'wallet'
  | 'camera'

/** Thrown for input without a publicId, before any request. */
export class InputError extends Error {
  override name = 'InputError'
  readonly problem: InputProblem

  constructor(problem: InputProblem) {
    super(problem)
    this.problem = problem
  }
}

/** The maximum bytes of a file. */
const MAX_FILE = 8 * 1024 * 1024

/**
 * @param text Typed, pasted or scanned text: a publicId, a link with one, also in a sentence, a
 * link to an excerpt, a credential from a wallet, or the content of a file.
 * @throws {InputError}
 */
export async function parseSubject(text: string): Promise<Subject> {
  const trimmed = text.trim()
  if (trimmed === '') throw new InputError('empty')
  if (trimmed.startsWith('{') || isCredential(trimmed)) return parseFile(trimmed)
  if (hasPresentationLink(trimmed)) return excerptOf(() => readPresentationLink(trimmed))
  return parseCode(trimmed)
}

function parseCode(text: string): DocumentSubject {
  const [link, ...others] = readVerifyLinks(text)
  if (others.length > 0) throw new InputError('several')
  if (link === undefined) throw new InputError('malformed')
  const { registry, ...subject } = link
  try {
    decodePublicId(subject.publicId)
  } catch (error) {
    throw new InputError(problemOf(error))
  }
  return { ...subject, ...(registry !== undefined && { hint: registry }) }
}

/**
 * @param text The contents of a file that is not a picture: a proof file, an excerpt or a
 * credential.
 * @throws {InputError}
 */
export async function parseFile(text: string): Promise<Subject> {
  const trimmed = text.trim()
  if (isCredential(trimmed)) return credentialIn(trimmed)
  if (!trimmed.startsWith('{')) throw new InputError('file')
  // A truncated file is not JSON, but its reader should still see an error about an excerpt.
  if (text.includes(PRESENTATION)) return excerptOf(async () => parsePresentation(text))
  try {
    const { publicId, registry, batch, sealed } = readBundle(text).bundle
    const carried = [batch, sealed].filter((block) => block !== null)
    return { publicId, hint: registry, bundle: text, carried }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new InputError('bundle')
  }
}

const PRESENTATION: Presentation['type'] = 'document-registry-presentation'

/** @throws {InputError} `excerpt`. */
async function excerptOf(read: () => Promise<Presentation>): Promise<ExcerptSubject> {
  try {
    const presentation = await read()
    // A malformed header is found here, and not only when the page shows the block.
    readPresentation(presentation)
    return { presentation, hint: presentation.registry }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new InputError('excerpt')
  }
}

/** @throws {InputError} `credential`. */
export function credentialIn(credential: string): ExcerptSubject {
  try {
    const { presentation } = parseCredential(credential)
    return { presentation, credential, hint: presentation.registry }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new InputError('credential')
  }
}

/** @returns The subject that {@link toHistory} stored; `undefined` if none. */
export function fromHistory(kept: unknown): Promise<Subject> | undefined {
  const { publicId, presentation, credential, hint, fromPdf, isForWallet, shownTo } = (kept ??
    {}) as Record<string, unknown>
  const from = fromPdf === true && ({ fromPdf } as const)
  if (typeof credential === 'string')
    return parseFile(credential).then((read) => ({
      ...read,
      ...(isShownTo(shownTo) && { shownTo }),
    }))
  if (presentation !== undefined)
    return excerptOf(async () => parsePresentation(presentation)).then((read) => ({
      ...read,
      ...from,
    }))
  if (typeof publicId !== 'string') return undefined
  return Promise.resolve({
    publicId,
    ...(typeof hint === 'string' && { hint }),
    ...(isForWallet === true && { isForWallet }),
    ...from,
  })
}

function isShownTo(value: unknown): value is ShownTo {
  const { audience, nonce } = Object(value) as Record<string, unknown>
  return typeof audience === 'string' && typeof nonce === 'string'
}

/**
 * @returns The state that a reload or a step back restores. For a proof file, it has only the
 * document, and whether a PDF must be compared with it.
 */
export function toHistory(subject: Subject): object {
  const from = subject.fromPdf && { fromPdf: true }
  if (isExcerpt(subject)) {
    const { presentation, credential, shownTo } = subject
    return credential === undefined
      ? { presentation, ...from }
      : { credential, ...(shownTo && { shownTo }) }
  }
  const { publicId, hint, isForWallet } = subject
  return {
    publicId,
    ...(hint !== undefined && { hint }),
    ...(isForWallet && { isForWallet }),
    ...from,
  }
}

/** @returns The block of the proof in a file; `undefined` if there is no proof. */
export function proofBlockOf(subject: Subject): ReturnType<typeof readBundle>['block'] | undefined {
  if (isExcerpt(subject)) return readPresentation(subject.presentation).block ?? undefined
  return subject.bundle === undefined ? undefined : readBundle(subject.bundle).block
}

/** @throws any error that is not a `FormatError`. */
export function problemOf(error: unknown): InputProblem {
  if (!(error instanceof FormatError)) throw error
  if (error.code === 'public_id_checksum') return 'mistyped'
  return error.code === 'public_id_kind' ? 'kind' : 'malformed'
}

/**
 * @param file A picture of a QR code, a proof file, a certificate as PDF, an excerpt or a
 * credential.
 * @throws {InputError}
 */
export async function readFile(file: File): Promise<Subject> {
  if (!file.type.startsWith('image/')) {
    if (file.size > MAX_FILE) throw new InputError('file')
    const bytes = new Uint8Array(await file.arrayBuffer())
    return isPdf(bytes) ? parsePdf(bytes) : parseFile(textOfFile(bytes))
  }
  const image = await createImageBitmap(file).catch(() => {
    throw new InputError('file')
  })
  const text = await readQr(image)
  if (text === undefined) throw new InputError('noQr')
  try {
    return await parseSubject(text)
  } catch {
    throw new InputError('notOurs')
  }
}

async function parsePdf(bytes: Uint8Array): Promise<Subject> {
  try {
    return { ...(await parseFile(textOfFile(await bundleInPdf(bytes)))), fromPdf: true }
  } catch (error) {
    if (error instanceof FormatError || error instanceof InputError) throw new InputError('pdf')
    throw error
  }
}

/**
 * @param bytes A file that is not a picture.
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
