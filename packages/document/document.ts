import * as v from 'valibot'
import { encodeUtf8, isWellFormed } from './bytes.ts'
import { fromCanonical, toCanonical } from './canonical.ts'
import { type FieldProblem, FormatError } from './errors.ts'
import { isObject } from './json.ts'
import { bytes32, issuerId, registry } from './members.ts'

/** The maximum UTF-8 bytes of all keys and values of `metadata` together. */
export const MAX_METADATA_BYTES = 32 * 1024
export const MAX_METADATA_ENTRIES = 64
/** The maximum length in code points. */
export const MAX_METADATA_KEY = 64
const FIRST_DATE = '1970-01-02'
const LAST_DATE = '9999-12-30'
export const DAY_MS = 86_400_000
/** RFC 9901 uses the first two for digests; many programs treat the third specially. */
export const REFUSED_METADATA_KEYS = ['_sd', '...', '__proto__']

const codePoints = (text: string) => [...text].length

/** @returns Whether it is a real day, as YYYY-MM-DD. */
export function isRealDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  // A day that its month does not have becomes one of the next month, and an invalid month gives
  // NaN.
  const day = new Date(`${text}T00:00:00Z`).getUTCDate()
  return day === Number(text.slice(-2))
}

/** @returns The day where the person is, which is another one in UTC for hours. */
export function today(): string {
  const now = new Date()
  const local = now.getTime() - now.getTimezoneOffset() * 60_000
  return new Date(local).toISOString().slice(0, 10)
}

/** @returns A day that its month does not have, such as 31 June; `undefined` for other texts. */
export function noSuchDay(text: string, language = 'en-GB'): string | undefined {
  const [, month, day] = /^(\d{4}-(?:0[1-9]|1[0-2]))-(29|3[01])$/.exec(text) ?? []
  if (month === undefined || day === undefined || isRealDate(text)) return undefined
  const options = {
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
    numberingSystem: 'latn',
  } as const
  return new Date(`${month}-28T00:00:00Z`).toLocaleDateString(language, options).replace('28', day)
}

const isDate = (text: string) => isRealDate(text) && text >= FIRST_DATE && text <= LAST_DATE

const WELL_FORMED = 'must be well-formed Unicode, without lone surrogates'
const wellFormed = v.check<string, string>(isWellFormed, WELL_FORMED)

const date = v.pipe(
  v.string('must be a string'),
  v.check(isDate, ({ input }) => {
    const day = noSuchDay(input)
    const rule = `must be a real date, YYYY-MM-DD, from ${FIRST_DATE} to ${LAST_DATE}`
    return day === undefined ? rule : `${rule}: there is no ${day}`
  }),
)

// `v.record` is not used, because it silently drops keys such as "constructor", and a document is
// kept exactly as sent.
const metadata = v.pipe(
  v.custom<Record<string, string>>(isObject, 'must be an object'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const input: Record<string, unknown> = dataset.value
    const bad = Object.entries(input).flatMap(([key, value]) =>
      problemsOfEntry(key, value).map((message) => ({ key, value, message })),
    )
    for (const { key, value, message } of bad.slice(0, MAX_METADATA_ENTRIES))
      addIssue({
        message,
        path: [{ type: 'object', origin: 'value', input, key, value }],
      })
  }),
  v.check(
    (metadata) => Object.keys(metadata).length <= MAX_METADATA_ENTRIES,
    `must have at most ${MAX_METADATA_ENTRIES} entries`,
  ),
  v.check(
    (metadata) => bytesOf(metadata) <= MAX_METADATA_BYTES,
    `must be at most ${MAX_METADATA_BYTES} bytes of UTF-8 in total`,
  ),
)

/** @returns Whether `metadata` may have this key. */
export const isMetadataKey = (key: string): boolean => problemsOfEntry(key, '').length === 0

function problemsOfEntry(key: string, value: unknown): string[] {
  const problems: string[] = []
  const length = codePoints(key)
  if (length < 1 || length > MAX_METADATA_KEY)
    problems.push(`must have a key of 1 to ${MAX_METADATA_KEY} characters`)
  if (REFUSED_METADATA_KEYS.includes(key)) problems.push('must not use this key')
  if (!isWellFormed(key)) problems.push('must have a key of well-formed Unicode')
  if (typeof value !== 'string') problems.push('must be a string')
  else if (!isWellFormed(value)) problems.push(WELL_FORMED)
  return problems
}

/**
 * @returns The UTF-8 bytes of all keys and values. Checks also run on values that an earlier one
 * refused; those do not count.
 */
function bytesOf(metadata: Record<string, unknown>): number {
  const texts = Object.entries(metadata)
    .flat()
    .filter((text) => typeof text === 'string')
  // The texts are joined, because one call of the encoder takes as long as encoding some hundred
  // characters.
  return encodeUtf8(texts.join('')).length
}

export const category = v.pipe(
  v.string('must be a string'),
  v.regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, 'must be lower snake case, such as birth_certificate'),
  v.maxLength(64, 'must have at most 64 characters'),
)

const fields = {
  subjectName: v.pipe(
    v.string('must be a string'),
    v.check(
      (name) => codePoints(name) >= 1 && codePoints(name) <= 200,
      'must have 1 to 200 characters',
    ),
    v.check((name) => !/\p{Cc}/u.test(name), 'must not have control characters'),
    wellFormed,
  ),
  subjectId: v.pipe(
    v.string('must be a string'),
    v.regex(/^[0-9]{1,64}$/, 'must be 1 to 64 digits 0-9'),
  ),
  category,
  issuedAt: date,
  expiresAt: v.exactOptional(date),
  metadata: v.exactOptional(metadata),
}

type Dates = { issuedAt?: string; expiresAt?: string }
// A bad date is reported only as such, and not also as out of order.
const inOrder = ({ issuedAt, expiresAt }: Dates) =>
  issuedAt === undefined ||
  expiresAt === undefined ||
  !isDate(issuedAt) ||
  !isDate(expiresAt) ||
  expiresAt >= issuedAt
const NOT_IN_ORDER = 'must not be before issuedAt'

const fieldsSchema = v.pipe(
  v.object(fields),
  v.forward(v.partialCheck([['issuedAt'], ['expiresAt']], inOrder, NOT_IN_ORDER), ['expiresAt']),
)

const sealedFields = {
  ...fields,
  metadata: v.exactOptional(
    v.pipe(
      metadata,
      v.check(
        (metadata) => Object.keys(metadata).length > 0,
        'must be omitted when it has no entries',
      ),
    ),
  ),
  supersedes: v.exactOptional(bytes32),
}

const documentSchema = v.pipe(
  v.object({
    ...sealedFields,
    registry,
    issuerId,
  }),
  v.forward(v.partialCheck([['issuedAt'], ['expiresAt']], inOrder, NOT_IN_ORDER), ['expiresAt']),
)

const partSchema = v.pipe(
  v.object({
    ...sealedFields,
    subjectName: v.exactOptional(fields.subjectName),
    subjectId: v.exactOptional(fields.subjectId),
    category: v.exactOptional(fields.category),
    issuedAt: v.exactOptional(fields.issuedAt),
  }),
  v.forward(v.partialCheck([['issuedAt'], ['expiresAt']], inOrder, NOT_IN_ORDER), ['expiresAt']),
)

/** A document as a client sends it. Dates are `YYYY-MM-DD` in UTC. */
export type DocumentFields = v.InferOutput<typeof fieldsSchema>

/**
 * A document: its fields, bound to a registry (the lower-case CAIP-10 account ID
 * `eip155:<chainId>:<address>`) and to the issuer's number in it, so that it cannot be replayed
 * elsewhere.
 */
export type Document = v.InferOutput<typeof documentSchema>

/** The fields of a document that its holder disclosed: some, all or none. */
export type DocumentPart = v.InferOutput<typeof partSchema>

/**
 * @param value Any parsed request body.
 * @returns The fields. Empty metadata is omitted, because a sealed document has either none or some
 * entries.
 * @throws {FormatError} `document_fields`, naming every bad field in `fields`.
 *
 * @example
 * ```ts
 * const fields = parseDocumentFields({
 *   subjectName: 'Ada Lovelace', subjectId: '1', category: 'diploma', issuedAt: '2026-01-31',
 * })
 * fields.category // => 'diploma'
 * ```
 */
export function parseDocumentFields(value: unknown): DocumentFields {
  const { metadata, ...fields } = parse(fieldsSchema, value)
  const empty = metadata === undefined || Object.keys(metadata).length === 0
  return empty ? fields : { ...fields, metadata }
}

/**
 * @param value Any value with some fields of a document.
 * @throws {FormatError} `document_fields`, as for a whole document.
 */
export function parseDocumentPart(value: unknown): DocumentPart {
  return parse(partSchema, value)
}

/** Compares numbers in names by their value. */
const NAMES = new Intl.Collator('en', { numeric: true })

/** @returns The metadata entries in the order that people expect: `module_2` before `module_10`. */
export function metadataOf({
  metadata = {},
}: Pick<DocumentPart, 'metadata'>): [name: string, value: string][] {
  return Object.entries(metadata).sort(([a], [b]) => NAMES.compare(a, b))
}

/**
 * @returns The RFC 8785 bytes of a document.
 *
 * @example
 * ```ts
 * const document = await openDocument(sealed, decodePublicId(publicId).documentKey)
 * encodeDocument(document)[0] // => 0x7b
 * ```
 */
export function encodeDocument(document: Document): Uint8Array {
  return toCanonical(document)
}

/**
 * @param bytes The RFC 8785 bytes of a document.
 * @throws {FormatError} `document_fields`, or a code of {@link fromCanonical}.
 *
 * @example
 * ```ts
 * const document = await openDocument(sealed, decodePublicId(publicId).documentKey)
 * decodeDocument(encodeDocument(document)).subjectName // => 'Ada Lovelace'
 * ```
 */
export function decodeDocument(bytes: Uint8Array): Document {
  return parse(documentSchema, fromCanonical(bytes))
}

/**
 * @returns `validUntil` as it is in the registry: the first second at which the document is no
 * longer valid, in seconds of the Unix epoch, which is midnight UTC after its last valid day; 0 =
 * never expires.
 *
 * @example
 * ```ts
 * validUntilOf({ expiresAt: '1970-01-02' }) // => 172800
 * validUntilOf({}) // => 0
 * ```
 */
export function validUntilOf(document: Pick<Document, 'expiresAt'>): number {
  if (document.expiresAt === undefined) return 0
  const lastDay = Date.parse(`${document.expiresAt}T00:00:00Z`)
  return (lastDay + DAY_MS) / 1000
}

function parse<S extends typeof fieldsSchema | typeof documentSchema | typeof partSchema>(
  schema: S,
  value: unknown,
): v.InferOutput<S> {
  if (!isObject(value))
    throw new FormatError('document_fields', 'the document is not a JSON object', {
      fields: [{ field: '', message: 'must be a JSON object' }],
    })
  const result = v.safeParse(schema, value)
  const known = Object.keys(schema.pipe[0].entries)
  const unknown = Object.keys(value).filter((name) => !known.includes(name))
  if (result.success && unknown.length === 0) return result.output
  throw new FormatError('document_fields', 'the document has invalid fields', {
    fields: [
      ...(result.issues ?? []).map(problemOf),
      ...unknown.map((name) => ({
        field: shown(name),
        message: 'is not a field of a document',
      })),
    ],
  })
}

function problemOf({ path, type, message }: v.BaseIssue<unknown>): FieldProblem {
  const names = path?.map(({ key }) => shown(String(key))) ?? []
  return {
    field: names.join('.'),
    message: type === 'object' ? 'is required' : message,
  }
}

/** @returns A name that was chosen by the sender, shortened and well-formed. */
export function shown(name: string): string {
  const start = [...name.slice(0, 2 * MAX_METADATA_KEY + 2)]
  const short = start
    .slice(0, MAX_METADATA_KEY)
    .join('')
    .replace(/\p{Surrogate}/gu, '\ufffd')
  return start.length > MAX_METADATA_KEY ? `${short}…` : short
}
