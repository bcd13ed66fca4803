import { CodedError } from '#document/errors.ts'

/** Thrown for a wrong command line, before anything is read or requested. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Why a command could not do its work. Stable: it is the `code` of the JSON output. */
export type InputErrorCode =
  /** The file cannot be read, or is too large. */
  | 'unreadable'
  /** A source does not answer, so it is unknown whether it has what was asked for. */
  | 'unreachable'
  /** The output file or folder cannot be written. */
  | 'unwritable'
  /** An image without a readable QR code, or an unreadable image. */
  | 'no_qr_code'
  /** An image with QR codes that lead to different documents. */
  | 'several_qr_codes'
  /** Text with several publicIds. */
  | 'several_public_ids'
  /** An address without a publicId. */
  | 'no_public_id'
  /** A presentation was given, but the command needs a whole document. */
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
  /** The registry has no issuer with this number. */
  | 'unknown_issuer'
  /** The issuer was registered after the block that the command reads. */
  | 'issuer_newer'
  /** The table of documents is malformed; the message names the line. */
  | 'bad_table'
  /** The folder of `--out` belongs to something else. */
  | 'other_run'
  /** The user was asked and declined. */
  | 'declined'
  /** The gateway does not answer or is unavailable. The rest can be done later. */
  | 'interrupted'
  /** The PDF engine or its fonts cannot be installed. */
  | 'no_engine'
  /** A proof in the file proves nothing about the trusted registry. */
  | 'unproven'
  /** The list has more hashes than one proof can contain. */
  | 'too_many'
  /**
   * The current state of the registry or the gateway does not allow it; the message has the reason.
   */
  | 'not_possible'
  /** The command needs files that only a checkout has. */
  | 'no_checkout'

/** Thrown when a command cannot do its work. Messages never repeat text that may be a publicId. */
export class InputError extends CodedError<InputErrorCode> {
  override name = 'InputError'
}
