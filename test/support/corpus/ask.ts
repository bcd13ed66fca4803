import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { base58btc } from 'multiformats/bases/base58'
import { uint32 } from '#document/bytes.ts'
import { formatVerifyLink } from '#document/verify-link.ts'
import type { Case } from './case.ts'
import type { Made } from './made.ts'

/** @returns The input of a case's reader: a publicId, or an address that contains it. */
export function givenOf({ ask }: Case, made: Made): string {
  const publicId = ask.text ?? mistyped(publicIdOf(ask, made), ask.typo)
  return ask.address
    ? formatVerifyLink(ask.address.page, {
        publicId,
        registry: ask.address.registry,
      })
    : publicId
}

/** The base58btc alphabet without 1, because a publicId that begins with 1 is too short. */
const DIGITS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** `encodePublicId` is not used, because it refuses the values that a reader must refuse. */
function publicIdOf({ kind, issuerId = 1, documentKey }: Case['ask'], made: Made): string {
  const { batch } = made
  const body = concatBytes(
    Uint8Array.of(kind ?? (batch ? 2 : 1)),
    uint32(issuerId),
    batch && kind === undefined ? batch.hash : made.hash,
    documentKey === undefined ? made.documentKey : hexToBytes(documentKey),
  )
  return base58btc.baseEncode(concatBytes(body, sha256(body).subarray(0, 4)))
}

function mistyped(publicId: string, at: number | undefined): string {
  if (at === undefined) return publicId
  const other = DIGITS[DIGITS.indexOf(publicId[at] ?? '') + 1] ?? '2'
  return publicId.slice(0, at) + other + publicId.slice(at + 1)
}
