import { sha256 } from '@noble/hashes/sha2.js'
import * as v from 'valibot'
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { decodeBatchBlock } from './batch/block.ts'
import { MAX_VALID_UNTIL } from './batch/entry.ts'
import { NODE } from './batch/tree.ts'
import { decodeUtf8, equalBytes } from './bytes.ts'
import { toCanonical } from './canonical.ts'
import {
  type Claims,
  claimsSchema,
  type Disclosures,
  disclose,
  FIELD_NAMES,
} from './disclosures.ts'
import type { Document } from './document.ts'
import { type FieldProblem, FormatError } from './errors.ts'
import { type Hex, toHex } from './hex.ts'
import { readJsonFile } from './json.ts'
import { bytes32, describeMember, issuerId, problemsOf } from './members.ts'
import { decodePublicId, type PublicId } from './public-id.ts'
import { isRegistryId, type RegistryId } from './registry-id.ts'
import { openDocument, readSealedHeader } from './sealed.ts'
import { type StateProof, stateProof } from './state-proof.ts'

/**
 * Some fields of a document, shown by its holder, in one JSON file (docs/formats.md, "The
 * presentation"). It reveals these fields, and nothing about the others except the number of
 * metadata entries in steps of eight. Its documentHash links it to other presentations of the
 * document, and whoever has it can pass it on.
 */
export type Presentation = {
  type: typeof TYPE
  v: 1
  /** A CAIP-10 account ID. It is only a claim: the reader chooses the registry to trust. */
  registry: RegistryId
  issuerId: number
  documentHash: Hex
  claims: Claims
  /** The disclosures of the fields and metadata entries that are shown, in base64url. */
  disclosures: string[]
  /** Leads from the document to its batch; `null` = issued alone. */
  batch: {
    root: Hex
    /** The expiry in the leaf, in seconds of the Unix epoch; 0 = never expires. */
    validUntil: number
    /** base64url of the siblings from the leaf upwards, 32 bytes each. */
    proof: string
  } | null
  /** The sealed document (JWE compact), so that the reader need not fetch it. */
  sealed: string | null
  /** The registry's state at one block, so that the reader needs no node. */
  stateProof: StateProof | null
}

const TYPE = 'document-registry-presentation'
/** Quotes inside a JSON string are escaped, so this matches only a member. */
const TYPE_MEMBER = /"type"\s*:\s*"document-registry-presentation"/
/**
 * The maximum size in characters or bytes. A sealed document has at most 1 MiB, a proof some
 * hundred KiB. Larger input is refused unread.
 */
const MAX_TEXT = 8 * 1024 * 1024
/** The number of siblings in a proof of the largest batch. */
const MAX_SIBLINGS = 29
const MAX_METADATA_ENTRIES = 64
const MAX_DISCLOSURES = FIELD_NAMES.length + MAX_METADATA_ENTRIES

const text = v.string('must be a string')
const textOrNull = v.nullable(v.string('must be a string or null'))
const schema = v.strictObject(
  {
    type: v.literal(TYPE, `must be ${TYPE}`),
    v: v.literal(1, 'must be 1'),
    registry: v.custom<RegistryId>(
      isRegistryId,
      'must be a lower-case CAIP-10 account ID, eip155:<chainId>:<address>',
    ),
    issuerId: v.custom<number>(
      (value) => v.is(issuerId, value),
      'must be a whole number from 1 to 4294967295',
    ),
    documentHash: bytes32,
    // All claims have one problem, because each of a million digests could be bad.
    claims: v.custom<Claims>(
      (value) => v.is(claimsSchema, value),
      'must be the claims of a document',
    ),
    disclosures: v.pipe(
      v.custom<string[]>(Array.isArray, 'must be an array'),
      v.maxLength(MAX_DISCLOSURES, `must have at most ${MAX_DISCLOSURES} disclosures`),
      v.array(text),
    ),
    batch: v.nullable(
      v.strictObject(
        {
          root: bytes32,
          validUntil: v.custom<number>(
            (value) =>
              Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_VALID_UNTIL,
            'must be a whole number below 2^40',
          ),
          proof: v.custom<string>(isProof, `must be at most ${MAX_SIBLINGS} hashes in base64url`),
        },
        describeMember,
      ),
    ),
    sealed: textOrNull,
    stateProof: v.nullable(stateProof),
  },
  describeMember,
)

function isProof(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    const { length } = decodeBase64url(value)
    return length % NODE === 0 && length <= MAX_SIBLINGS * NODE
  } catch (error) {
    if (error instanceof FormatError) return false
    throw error
  }
}

/**
 * Reads the form of a presentation. Warning: nothing in it is checked against a sealed document or
 * a registry; the verifier does that.
 *
 * @param input A presentation as JSON text, bytes of JSON text, or a parsed value. At most 8 MiB.
 * @throws {FormatError} `presentation_malformed`, with every bad member in `fields`.
 *
 * @example
 * ```ts
 * parsePresentation(presentation).issuerId // => 1
 * ```
 */
export function parsePresentation(input: unknown): Presentation {
  const read = v.safeParse(schema, parseJson(input))
  const bad = read.success ? contradictions(read.output) : problemsOf(read.issues)
  if (!read.success || bad.length > 0)
    throw new FormatError('presentation_malformed', 'invalid presentation', {
      fields: bad,
    })
  const { claims, ...members } = read.output
  return { ...members, claims: v.parse(claimsSchema, claims) }
}

/** The claims repeat the registry and issuer of the document. */
function contradictions(presentation: Presentation): FieldProblem[] {
  const names = ['registry', 'issuerId'] as const
  return names
    .filter((name) => presentation[name] !== presentation.claims[name])
    .map((field) => ({ field, message: 'must match the claims' }))
}

function parseJson(input: unknown): unknown {
  try {
    return readJsonFile(input, MAX_TEXT, 'presentation_malformed')
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new FormatError('presentation_malformed', cause.message, { cause })
  }
}

/**
 * @returns Whether JSON text claims to be a presentation. It may still be malformed.
 *
 * @example
 * ```ts
 * isPresentationFile(presentation) // => true
 * isPresentationFile('{}') // => false
 * ```
 */
export function isPresentationFile(text: string): boolean {
  return TYPE_MEMBER.test(text)
}

/**
 * @returns The RFC 8785 bytes of a presentation.
 *
 * @example
 * ```ts
 * const choose = { fields: ['subjectName'], metadata: [] }
 * const file = encodePresentation(await createPresentation({ publicId, sealed, choose }))
 * ```
 */
export function encodePresentation(presentation: Presentation): Uint8Array {
  return toCanonical(presentation)
}

/** The names of the fields that a presentation shows. */
export type Choice = {
  /** Any of category, expiresAt, issuedAt, subjectId, subjectName, supersedes. */
  fields: readonly string[]
  /** Keys of the metadata. */
  metadata: readonly string[]
}

/**
 * @returns Everything in a document that can be shown.
 *
 * @example
 * ```ts
 * const document = await openDocument(sealed, decodePublicId(publicId).documentKey)
 * choicesOf(document).fields.includes('subjectName') // => true
 * ```
 */
export function choicesOf(document: Document): Choice {
  return {
    fields: FIELD_NAMES.filter((name) => document[name] !== undefined),
    metadata: Object.keys(document.metadata ?? {}),
  }
}

/** The parts from which a presentation is made. */
export type PresentationSource = {
  publicId: string
  sealed: Uint8Array
  /** The batch block, for a publicId of kind 2. */
  batchBlock?: Uint8Array
  choose: Choice
  stateProof?: StateProof
  /** Whether to include the sealed document, for a reader who cannot fetch it. */
  includeSealed?: boolean
}

/**
 * Makes a presentation. It contains only the chosen fields, and neither publicId nor documentKey.
 * It has the `validUntil` of a document in a batch, which is public in the manifest of the batch.
 *
 * @throws {FormatError} `presentation_choice` for a name that the document does not have, with each
 * in `fields`; `presentation_source` for sealed bytes, a batch block or a document that do not
 * belong to the publicId; a code of {@link openDocument}, `public_id_…`, `batch_malformed`.
 *
 * @example
 * ```ts
 * const choose = { fields: ['subjectName'], metadata: [] }
 * const made = await createPresentation({ publicId, sealed, choose })
 * made.disclosures.length // => 1
 * ```
 */
export async function createPresentation(source: PresentationSource): Promise<Presentation> {
  const { sealed, choose, includeSealed = false } = source
  const publicId = decodePublicId(source.publicId)
  const { documentKey } = publicId
  const { documentHash, batch } = locate(publicId, source.batchBlock)
  if (toHex(sha256(sealed)) !== documentHash)
    throw new FormatError('presentation_source', 'the sealed document does not match')
  const document = await openDocument(sealed, documentKey)
  if (document.issuerId !== publicId.issuerId)
    throw new FormatError('presentation_source', 'the document belongs to another issuer')
  const { salt } = readSealedHeader(sealed)
  const disclosures = disclose(document, { documentKey, salt })
  const { registry, issuerId } = document
  return {
    type: TYPE,
    v: 1,
    registry,
    issuerId,
    documentHash,
    claims: disclosures.claims,
    disclosures: chosen(disclosures, choose),
    batch,
    sealed: includeSealed ? decodeUtf8(sealed) : null,
    stateProof: source.stateProof ?? null,
  }
}

/** @returns The documentHash, and the path from it to a batch. */
function locate(
  { kind, hash }: PublicId,
  batchBlock: Uint8Array | undefined,
): Pick<Presentation, 'documentHash' | 'batch'> {
  if (kind === 'single') return { documentHash: toHex(hash), batch: null }
  if (!batchBlock || !equalBytes(sha256(batchBlock), hash))
    throw new FormatError('presentation_source', 'the batch block is missing or does not match')
  const block = decodeBatchBlock(batchBlock)
  const { documentHash, root, validUntil } = block
  const proof = encodeBase64url(block.proof)
  return { documentHash, batch: { root, validUntil, proof } }
}

function chosen({ fields, metadata }: Disclosures, choose: Choice): Presentation['disclosures'] {
  const missing = (from: Disclosures['fields'], names: readonly string[]) =>
    names.filter((name) => !from.some((one) => one.name === name))
  const bad = [
    ...missing(fields, choose.fields),
    ...missing(metadata, choose.metadata).map((key) => `metadata.${key}`),
  ]
  if (bad.length > 0)
    throw new FormatError('presentation_choice', 'the document does not have the chosen fields', {
      fields: bad.map((field) => ({
        field,
        message: 'is not in the document',
      })),
    })
  return [
    ...fields.filter(({ name }) => choose.fields.includes(name)),
    ...metadata.filter(({ name }) => choose.metadata.includes(name)),
  ].map((one) => one.text)
}
