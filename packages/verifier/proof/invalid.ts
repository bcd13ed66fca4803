import { FormatError } from '../../document/errors.ts'
import { ChainError } from '../errors.ts'

/** @returns The error for an invalid proof. */
export function invalid(message: string): FormatError {
  return new FormatError('proof_invalid', message)
}

/** @throws {ChainError} `proof_invalid` if a decoder within `read` refuses its input. */
export function readProof<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new ChainError('proof_invalid', cause.message, cause)
  }
}
