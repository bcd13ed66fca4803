/** Thrown for a bad command line, before anything is read or requested. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Why a command could not do its work. Stable: it is the `code` of the JSON output. */
export type InputErrorCode =
  /** The file cannot be read, or is too large. */
  | 'unreadable'
  /** The file of `--out` cannot be written. */
  | 'unwritable'
  /** An image without a readable QR code, or an unreadable image. */
  | 'no_qr_code'
  /** An image with QR codes that lead to different documents. */
  | 'several_qr_codes'
  /** An address without a publicId in its fragment. */
  | 'no_public_id'
  /** A presentation, but the command needs a whole document. */
  | 'only_presentation'
  /** No source has the sealed document or its batch block. */
  | 'unavailable'
  /** The document belongs to another registry than the trusted one. */
  | 'other_registry'
  /** The presentation is too long for a link, or the link for a QR code. */
  | 'too_long'
  /** The bundle does not belong to the given publicId. */
  | 'bundle_of_another'
  /** The proof of completeness belongs to another issuer than `--issuer`. */
  | 'other_issuer'
  /** The registry has no issuer of this number. */
  | 'unknown_issuer'
  /** The issuer was registered after the block that the command looks at. */
  | 'issuer_newer'
  /** A table of documents that is not one; the message names the line. */
  | 'bad_table'
  /** The folder of `--out` belongs to something else. */
  | 'other_run'
  /** The user was asked, and did not agree. */
  | 'declined'
  /** The gateway does not answer, or cannot work now: what is left can be done later. */
  | 'interrupted'
  /** The PDF engine or its fonts cannot be installed. */
  | 'no_engine'
  /** A proof of the file proves nothing about the registry that the reader trusts. */
  | 'unproven'
  /** The list has more hashes than one proof can hold. */
  | 'too_many'
  /** The registry or the gateway does not allow it as it is now; the message says why. */
  | 'not_possible'
  /** Only a checkout has what the command needs. */
  | 'no_checkout'

/** Thrown when a command cannot do its work. Messages never repeat what may be a publicId. */
export class InputError extends Error {
  override name = 'InputError'
  readonly code: InputErrorCode

  constructor(code: InputErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
