import { fromHex, type Hex } from '../../document/hex.ts'
import { invalid } from './invalid.ts'

/** @throws {ChainError} `proof_invalid` when it is no hexadecimal. */
export function bytesOf(hex: Hex): Uint8Array {
  try {
    return fromHex(hex)
  } catch (cause) {
    throw invalid('not hexadecimal', cause)
  }
}
