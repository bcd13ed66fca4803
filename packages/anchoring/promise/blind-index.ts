import { encodeUtf8 } from '#document/bytes.ts'
import { type Document, validUntilOf } from '#document/document.ts'
import type { Hex } from '#document/hex.ts'
import type { Hkdf } from '#document/hkdf.ts'
import type { IssuerSubkeys } from '#document/keys.ts'
import type { IndexEntry } from './document-index.ts'

const MILLISECONDS_PER_DAY = 86_400_000

/** The fields by which the index can be searched. */
export type BlindField = 'subjectId' | 'category'

/**
 * Computes a blind index: equal values give equal numbers, and without the key a number tells
 * nothing about its value. It is HKDF-SHA256 (RFC 5869) of the value's UTF-8, with the index subkey
 * as the salt and the field in the info, so HMAC under the subkey twice. The result is the first 8
 * bytes, big-endian and signed. Two of ten million values collide with a probability of about 1 in
 * 370,000.
 */
export function blindIndexOf(
  { index }: Pick<IssuerSubkeys, 'index'>,
  field: BlindField,
  value: string,
  hkdf: Hkdf,
): bigint {
  const bytes = hkdf(encodeUtf8(value), index)(`document-registry/v1/index/${field}`, 8)
  return new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0)
}

/** Makes the entries of documents. @param tenant `null` when it is unknown. */
export type IndexEntryOf = (
  subkeys: Pick<IssuerSubkeys, 'index'>,
  document: Document,
  tenant: string | null,
) => IndexEntry

/** There are few categories, so that many of their blind indexes are remembered. */
const MAX_REMEMBERED = 1_000

export function createIndexEntryOf(hkdf: Hkdf): IndexEntryOf {
  const remembered = new Map<Uint8Array, Map<string, bigint>>()

  function categoryOf(key: Uint8Array, value: string): bigint {
    const known = remembered.get(key) ?? new Map<string, bigint>()
    remembered.set(key, known)
    const found = known.get(value) ?? blindIndexOf({ index: key }, 'category', value, hkdf)
    if (known.size >= MAX_REMEMBERED) known.clear()
    known.set(value, found)
    return found
  }

  return ({ index }, document, tenant) => ({
    issuedOn: dayOf(document.issuedAt),
    validUntil: validUntilOf(document),
    subject: blindIndexOf({ index }, 'subjectId', document.subjectId, hkdf),
    category: categoryOf(index, document.category),
    tenant,
    ...(document.supersedes !== undefined && { supersedes: document.supersedes as Hex }),
  })
}

/** @param date YYYY-MM-DD. @returns Days since 1970-01-01. */
export function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / MILLISECONDS_PER_DAY
}
