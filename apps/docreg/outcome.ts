import { CallError, type Failure } from '#client/index.ts'
import { InputError } from './errors.ts'

/**
 * The meaning of a failed call for one document among many.
 *
 * @returns Why this document was refused; it would be refused again.
 * @throws {InputError} `interrupted` if others would fail too, because of an outage or a bad API
 * key.
 */
export function refusalOf(error: unknown): string {
  if (error instanceof InputError && error.code === 'bad_table') return error.message
  if (!(error instanceof CallError)) throw error
  const { code, status = 0, message, details } = error
  if (status === 401 || code === 'forbidden')
    throw new InputError('interrupted', `the gateway refuses the API key: ${message}`, error)
  if (status < 400 || status >= 500 || status === 429)
    throw new InputError('interrupted', `the gateway is unavailable: ${code}, ${message}`, error)
  return problemOf({ code, message, details })
}

/** @returns A failure in words: its bad fields, or otherwise code and message. */
export function problemOf({
  code,
  message,
  details = [],
}: Pick<Failure['error'], 'message' | 'details'> & { code: string }): string {
  const fields = details.map((detail) => {
    const { field = '', message: text = '' } = detail as { field?: string; message?: string }
    return `${field} ${text}`.trim()
  })
  return fields.length > 0 ? fields.join('; ') : `${code}: ${message}`
}

/** Failures that are not about the document. The same request may succeed later. */
const TEMPORARY: ReadonlySet<string> = new Set<Failure['error']['code']>([
  'chain_unavailable',
  'change_pending',
  'fee_too_high',
  'internal',
  'overloaded',
  'registry_refused',
  'signer_unavailable',
  'stopping',
  'store_unavailable',
  'unverifiable',
])

export const isTemporary = (code: string) => TEMPORARY.has(code)
