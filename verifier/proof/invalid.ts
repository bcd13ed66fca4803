import { FormatError } from '../../document/errors.ts'
import { ChainError } from '../errors.ts'

/** @returns What a decoder refuses a proof with that proves nothing. */
export function invalid(message: string): FormatError {
  return new FormatError('proof_invalid', message)
}

/** @throws {ChainError} `proof_invalid` for what a decoder that `read` uses refuses. */
export function readProof<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new ChainError('proof_invalid', cause.message, cause)
  }
}
