import { ApiError } from './errors.ts'

/** Whether a client wants the answer before a block (RFC 7240). */
export function prefersAsync(prefer: string | undefined): boolean {
  return (prefer ?? '').split(',').some((item) => item.trim().toLowerCase() === 'respond-async')
}

/**
 * draft-ietf-httpapi-idempotency-key-header: a quoted string; a value without quotes is accepted
 * too.
 *
 * @throws {ApiError} `bad_idempotency_key`.
 */
export function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const key = /^"([\x20-\x21\x23-\x7e]{1,255})"$|^([\x21\x23-\x7e]{1,255})$/.exec(header)
  if (!key)
    throw new ApiError(
      'bad_idempotency_key',
      'Idempotency-Key must have 1 to 255 printable ASCII characters',
    )
  return key[1] ?? key[2]
}
