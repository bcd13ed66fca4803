import { ChainError } from '../errors.ts'

/** @returns What a proof is refused with that proves nothing. */
export function invalid(message: string, cause?: unknown): ChainError {
  return new ChainError('proof_invalid', message, cause)
}
