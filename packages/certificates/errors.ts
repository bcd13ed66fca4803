import { CodedError } from '#document/errors.ts'

/** Why a certificate could not be made. The codes are stable. */
export type CertificateErrorCode =
  /** The folder of the template, its settings or its code is wrong. */
  | 'bad_template'
  /** The document lacks a field that the template requires. */
  | 'missing_field'
  /** The fonts for a script of the document are not there. The message names it. */
  | 'fonts_missing'
  /** No font has a character of the document, and its script is none that people write now. */
  | 'unprintable'
  /** The PDF engine or its fonts cannot be installed. */
  | 'no_engine'
  /** The process of the PDF engine ended, or took too long. */
  | 'engine_failed'
  /** The document is not valid, or could not be checked. */
  | 'not_valid'

/** Thrown when no certificate is made. The message contains no value of a document. */
export class CertificateError extends CodedError<CertificateErrorCode> {
  override name = 'CertificateError'
}
