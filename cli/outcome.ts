import { CallError } from '../client/index.ts'
import { InputError } from './errors.ts'

/**
 * What a failed call says about one document among many.
 *
 * @returns Why this document was refused; it will be refused again.
 * @throws {InputError} `interrupted`, if others would fail too: an outage, a bad API key.
 */
export function refusalOf(error: unknown): string {
  if (error instanceof InputError && error.code === 'bad_table') return error.message
  if (!(error instanceof CallError)) throw error
  const { code, status = 0, message, details } = error
  if (status === 401 || code === 'forbidden')
    throw new InputError('interrupted', `the gateway refuses the API key: ${message}`, error)
  if (status < 400 || status >= 500 || status === 429)
    throw new InputError('interrupted', `the gateway cannot work now: ${code}, ${message}`, error)
  const fields = details.map((detail) => {
    const { field = '', message: text = '' } = detail as { field?: string; message?: string }
    return `${field} ${text}`.trim()
  })
  return fields.length > 0 ? fields.join('; ') : `${code}: ${message}`
}
