/** Why bytes or text are malformed. Stable: callers switch on it. */
export type FormatErrorCode =
  | 'utf8_malformed'
  | 'hex_malformed'
  | 'base64url_malformed'
  | 'json_syntax'
  | 'json_duplicate_key'
  | 'json_lone_surrogate'
  | 'json_forbidden_key'
  | 'json_too_deep'
  | 'not_canonical'
  | 'document_fields'
  | 'registry_malformed'
  | 'public_id_malformed'
  | 'public_id_checksum'
  | 'public_id_kind'
  | 'cid_malformed'
  | 'sealed_malformed'
  | 'sealed_header'
  | 'sealed_padding'
  | 'wrong_key'
  | 'other_disclosures'
  | 'claims_malformed'
  | 'claims_digest_repeated'
  | 'disclosure_malformed'
  | 'disclosure_repeated'
  | 'disclosure_unlisted'
  | 'disclosure_name_repeated'
  | 'batch_malformed'
  | 'manifest_malformed'
  | 'manifest_chunk'
  | 'manifest_order'
  | 'manifest_repeated'
  | 'manifest_root'
  | 'abi_malformed'
  | 'rpc_malformed'
  | 'proof_invalid'
  | 'bundle_malformed'
  | 'presentation_malformed'
  | 'presentation_source'
  | 'presentation_choice'
  | 'did_document_malformed'
  | 'credential_malformed'
  | 'completeness_malformed'

/** One bad field of a document, with its name and the problem, but never its value. */
export type FieldProblem = { field: string; message: string }

/** @returns Both lists, where the second omits fields that are in the first. */
export function mergeProblems(
  first: readonly FieldProblem[],
  second: readonly FieldProblem[],
): FieldProblem[] {
  const named = new Set(first.map(({ field }) => field))
  return [...first, ...second.filter(({ field }) => !named.has(field))]
}

/** An error with a stable code. Its message is for people. */
export class CodedError<C extends string> extends Error {
  readonly code: C

  constructor(code: C, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** Thrown by every decoder for input that violates its format, and only for that. */
export class FormatError extends Error {
  override name = 'FormatError'
  readonly code: FormatErrorCode
  /** Every bad field, if the code is about several of them; otherwise empty. */
  readonly fields: readonly FieldProblem[]

  constructor(
    code: FormatErrorCode,
    message: string,
    options: { cause?: unknown; fields?: readonly FieldProblem[] } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.fields = options.fields ?? []
  }
}

/**
 * Runs decoders whose codes have no meaning for the caller.
 *
 * @throws {FormatError} with this code if they refuse their input. Any other error is a bug and
 * passes.
 */
export function refusingAs<T>(code: FormatErrorCode, message: string, decode: () => T): T {
  try {
    return decode()
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new FormatError(code, message, { cause })
  }
}
