/** The command line is wrong: nothing was read or asked of anybody. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Why the input leads to no publicId. Stable: it is the `code` of the JSON output. */
export type InputErrorCode =
  /** The file cannot be read, or is too large. */
  | 'unreadable'
  /** The file of `--out` cannot be written. */
  | 'unwritable'
  /** An image without a QR code that can be read, or not an image that can be. */
  | 'no_qr_code'
  /** An image with QR codes that lead to different documents. */
  | 'several_qr_codes'
  /** An address without a publicId in its fragment. */
  | 'no_public_id'
  /** A presentation, where a whole document is needed. */
  | 'only_presentation'
  /** No source has the sealed document, or what leads to it. */
  | 'unavailable'
  /** The document is one of another registry than the one that is trusted. */
  | 'other_registry'
  /** The presentation is too long for a link, or the link for a QR code. */
  | 'too_long'
  /** The bundle is not of the publicId that was given. */
  | 'bundle_of_another'
  /** The proof of completeness is of another issuer than `--issuer`. */
  | 'other_issuer'
  /** The list has more hashes than one proof can hold. */
  | 'too_many'

/**
 * The input leads to no publicId, so nothing is known about any document. Messages never repeat
 * the input.
 */
export class InputError extends Error {
  override name = 'InputError'
  readonly code: InputErrorCode

  constructor(code: InputErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
