import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { fromCanonical, toCanonical } from './canonical.ts'
import { type Document, type DocumentPart, parseDocumentPart } from './document.ts'
import { FormatError, refusingAs } from './errors.ts'
import { type Hkdf, hkdf } from './hkdf.ts'
import type { SealingKeys } from './keys.ts'
import { issuerId, registry } from './members.ts'

/** A disclosure of RFC 9901: one field or one entry of the metadata, with its salt. */
export type Disclosure = {
  /** base64url of the JSON array of salt, name and value. */
  text: string
  name: string
  value: string
}

/**
 * The part of a document that reveals no content: the registry and issuer to which it belongs, and
 * a digest of each disclosure.
 */
export type Claims = v.InferOutput<typeof claimsSchema>

/** A document in parts; a holder can show each without the others. */
export type Disclosures = {
  claims: Claims
  /**
   * base64url of the sha-256 of the claims: the member `sd` in the header of the sealed document.
   */
  sd: string
  /** The disclosures in the order of their names. */
  fields: Disclosure[]
  metadata: Disclosure[]
}

/** The functions that make disclosures. A faster implementation must give the same results. */
export type Primitives = {
  /** @returns base64url of the bytes from `start` to `end`. */
  base64url(bytes: Uint8Array, start: number, end: number): string
  /** @returns base64url of the UTF-8 of text. */
  encode(text: string): string
  /** @returns base64url of the sha-256 of ASCII text. */
  digest(text: string): string
  hkdf: Hkdf
}

const portable: Primitives = {
  base64url: (bytes, start, end) => encodeBase64url(bytes.subarray(start, end)),
  encode: (text) => encodeBase64url(utf8ToBytes(text)),
  digest: (text) => encodeBase64url(sha256(utf8ToBytes(text))),
  hkdf,
}

/** The fields of a document that can be disclosed one by one. */
export const FIELD_NAMES = [
  'category',
  'expiresAt',
  'issuedAt',
  'subjectId',
  'subjectName',
  'supersedes',
] as const
const SALTS = 'document-registry/v1/disclosure-salts'
const DECOYS = 'document-registry/v1/decoys'
const SALT_LENGTH = 16
const DIGEST_LENGTH = 32
/** Lists grow in steps, so that their length hardly reveals the number of fields. */
const STEP = 8
/** The maximum number of metadata entries. */
const MAX_DIGESTS = 64

/**
 * @param keys The keys that sealed the document. The salt is `kid` in the header, so the publicId
 * and the sealed bytes suffice.
 *
 * @example
 * ```ts
 * const { documentKey } = decodePublicId(publicId)
 * const document = await openDocument(sealed, documentKey)
 * const { salt, sd } = readSealedHeader(sealed)
 * disclose(document, { documentKey, salt }).sd === sd // => true
 * ```
 */
export function disclose(
  document: Document,
  { documentKey, salt }: Pick<SealingKeys, 'documentKey' | 'salt'>,
  { base64url, encode, digest, hkdf }: Primitives = portable,
): Disclosures {
  const { registry, issuerId } = document
  const { fields, metadata } = entriesOf(document)
  const derive = hkdf(documentKey, salt)
  const count = fields.length + metadata.length
  const salts = derive(SALTS, SALT_LENGTH * count)
  const disclosures = [...fields, ...metadata].map(([name, value], i) => {
    const salt = base64url(salts, SALT_LENGTH * i, SALT_LENGTH * (i + 1))
    // For strings, JSON.stringify writes the form of RFC 8785.
    const json = `["${salt}",${JSON.stringify(name)},${JSON.stringify(value)}]`
    return { text: encode(json), name, value }
  })
  const digests = disclosures.map(({ text }) => digest(text))
  const ofFields = digests.slice(0, fields.length)
  const ofMetadata = digests.slice(fields.length)

  const inFields = decoysFor(fields.length)
  const inAll = inFields + decoysFor(metadata.length)
  const decoys = derive(DECOYS, DIGEST_LENGTH * inAll)
  for (let i = 0; i < inAll; i++) {
    const list = i < inFields ? ofFields : ofMetadata
    list.push(base64url(decoys, DIGEST_LENGTH * i, DIGEST_LENGTH * (i + 1)))
  }

  // The default order is that of UTF-16 code units, which for ASCII is that of bytes.
  const claims: Claims = {
    _sd: ofFields.sort(),
    _sd_alg: 'sha-256',
    issuerId,
    metadata: { _sd: ofMetadata.sort() },
    registry,
  }
  return {
    claims,
    // The members are in the order of RFC 8785, so JSON.stringify writes the same text.
    sd: digest(JSON.stringify(claims)),
    fields: disclosures.slice(0, fields.length),
    metadata: disclosures.slice(fields.length),
  }
}

type Entry = readonly [name: string, value: string]

function entriesOf(document: Document): { fields: Entry[]; metadata: Entry[] } {
  const fields: Entry[] = []
  for (const name of FIELD_NAMES) {
    const value = document[name]
    if (value !== undefined) fields.push([name, value])
  }
  const metadata = Object.entries(document.metadata ?? {})
  // RFC 8785 orders by UTF-16 code units, while Object.entries has numbers first.
  metadata.sort(([a], [b]) => (a < b ? -1 : 1))
  return { fields, metadata }
}

function decoysFor(digests: number): number {
  return Math.max(STEP, Math.ceil(digests / STEP) * STEP) - digests
}

const digest = v.pipe(
  v.string(),
  v.check((text) => isBase64url(text, DIGEST_LENGTH)),
)
const list = v.pipe(
  v.array(digest),
  v.check(({ length }) => length % STEP === 0),
  v.minLength(STEP),
  v.maxLength(MAX_DIGESTS),
  v.check((digests) => digests.every((one, i) => i === 0 || (digests[i - 1] ?? '') <= one)),
)
/** The form of claims; {@link parseClaims} also refuses a repeated digest. */
export const claimsSchema = v.strictObject({
  _sd: list,
  _sd_alg: v.literal('sha-256'),
  issuerId,
  metadata: v.strictObject({ _sd: list }),
  registry,
})

/**
 * @param value Any parsed JSON value.
 * @throws {FormatError} `claims_malformed`; `claims_digest_repeated` for a repeated digest, in one
 * list or across both.
 *
 * @example
 * ```ts
 * const { claims } = parsePresentation(presentation)
 * parseClaims(JSON.parse(JSON.stringify(claims))).issuerId // => 1
 * ```
 */
export function parseClaims(value: unknown): Claims {
  const { success, output } = v.safeParse(claimsSchema, value)
  if (!success) throw new FormatError('claims_malformed', 'invalid claims')
  const digests = [...output._sd, ...output.metadata._sd]
  if (new Set(digests).size !== digests.length)
    throw new FormatError('claims_digest_repeated', 'duplicate digest')
  return output
}

/**
 * @returns base64url of the sha-256 of the claims; compare it with `sd` in the header of the sealed
 * document.
 *
 * @example
 * ```ts
 * const { claims } = parsePresentation(presentation)
 * sdOf(claims) === readSealedHeader(sealed).sd // => true
 * ```
 */
export function sdOf(claims: Claims): string {
  return encodeBase64url(sha256(toCanonical(claims)))
}

/**
 * @param text A disclosure as its holder shows it.
 * @throws {FormatError} `disclosure_malformed`.
 *
 * @example
 * ```ts
 * const [text] = parsePresentation(presentation).disclosures
 * parseDisclosure(text).name // => 'subjectName'
 * ```
 */
export function parseDisclosure(text: string): Disclosure {
  return refusingAs('disclosure_malformed', 'invalid disclosure', () => {
    const parts = fromCanonical(decodeBase64url(text))
    const [salt, name, value, ...more] = Array.isArray(parts) ? parts : []
    if (
      typeof salt === 'string' &&
      typeof name === 'string' &&
      typeof value === 'string' &&
      more.length === 0 &&
      isBase64url(salt, SALT_LENGTH)
    )
      return { text, name, value }
    throw new FormatError(
      'disclosure_malformed',
      'a disclosure must be an array of salt, name and value',
    )
  })
}

/**
 * Reads the fields that a holder disclosed. Warning: it does not check that the claims belong to a
 * sealed document; compare {@link sdOf} with `sd` in its header.
 *
 * @param disclosures Disclosures of any number of fields and metadata entries, in any order.
 * @returns The disclosed fields.
 * @throws {FormatError} `disclosure_repeated` for the same disclosure twice;
 * `disclosure_malformed`; `disclosure_unlisted` when its digest is in no list of the claims;
 * `disclosure_name_repeated` for a second disclosure of a field or entry; `document_fields` for a
 * name or value that no document can have.
 *
 * @example
 * ```ts
 * const { claims, disclosures } = parsePresentation(presentation)
 * readDisclosures(claims, disclosures) // => { subjectName: 'Ada Lovelace' }
 * ```
 */
export function readDisclosures(claims: Claims, disclosures: readonly string[]): DocumentPart {
  if (new Set(disclosures).size !== disclosures.length)
    throw new FormatError('disclosure_repeated', 'duplicate disclosure')
  const fields = new Map<string, string>()
  const metadata = new Map<string, string>()
  for (const { text, name, value } of disclosures.map(parseDisclosure)) {
    const found = listOf(claims, portable.digest(text))
    if (found === undefined)
      throw new FormatError('disclosure_unlisted', 'the claims do not include this disclosure')
    const named = found === 'fields' ? fields : metadata
    if (named.has(name))
      throw new FormatError('disclosure_name_repeated', 'two disclosures have the same name')
    named.set(name, value)
  }
  return parseDocumentPart({
    ...(metadata.size > 0 && { metadata: Object.fromEntries(metadata) }),
    // These come last, because a field named metadata is text and must be refused.
    ...Object.fromEntries(fields),
  })
}

function listOf({ _sd, metadata }: Claims, digest: string): 'fields' | 'metadata' | undefined {
  if (_sd.includes(digest)) return 'fields'
  return metadata._sd.includes(digest) ? 'metadata' : undefined
}

function isBase64url(text: string, length: number): boolean {
  try {
    return decodeBase64url(text).length === length
  } catch (error) {
    if (error instanceof FormatError) return false
    throw error
  }
}
