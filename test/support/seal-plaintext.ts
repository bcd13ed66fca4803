import { disclose } from '#document/disclosures.ts'
import { decodeDocument } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import type { SealingKeys } from '#document/keys.ts'
import { type Sealed, sealPlaintext } from '#document/sealed.ts'

/** The `sd` for a plaintext that is not a document. */
export const NO_DOCUMENT_SD = 'A'.repeat(43)

/**
 * Seals any bytes: under their own `sd` if they are a document, otherwise under one that matches no
 * document.
 */
export function sealAnything(plaintext: Uint8Array, keys: SealingKeys): Promise<Sealed> {
  return sealPlaintext(plaintext, sdFor(plaintext, keys), keys)
}

function sdFor(plaintext: Uint8Array, keys: SealingKeys): string {
  try {
    return disclose(decodeDocument(plaintext), keys).sd
  } catch (error) {
    if (error instanceof FormatError) return NO_DOCUMENT_SD
    throw error
  }
}
