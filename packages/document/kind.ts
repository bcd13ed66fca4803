import * as v from 'valibot'
import { toCanonical } from './canonical.ts'
import { category, isMetadataKey } from './document.ts'
import type { FieldProblem } from './errors.ts'
import { isObject } from './json.ts'
import { VISIBLE } from './members.ts'

// Kinds of documents: what an issuer says about the documents of a category. Their form is SD-JWT VC
// Type Metadata (draft-ietf-oauth-sd-jwt-vc), which wallets read too; `document_registry` holds what
// that does not have.

/** The fields of a document that a kind can name besides those of its `metadata`. */
export const PLAIN_FIELDS = [
  'subjectName',
  'subjectId',
  'category',
  'issuedAt',
  'expiresAt',
] as const
export type PlainField = (typeof PLAIN_FIELDS)[number]
export const FIELD_TYPES = ['text', 'date', 'number', 'choice'] as const
export type FieldType = (typeof FIELD_TYPES)[number]

/** The maximum bytes of a kind as a file. */
export const MAX_KIND_BYTES = 64 * 1024
const MAX_LABEL = 100
const MAX_DESCRIPTION = 500
const MAX_LOCALES = 32
const MAX_CLAIMS = 64
const MAX_CHOICES = 200
/** The path of an entry of `metadata` begins with it, and so does its name. */
const METADATA = 'metadata'

/**
 * Control characters, and those that change the direction of text beyond their own. A mark for one
 * place (U+200E, U+200F, U+061C) stays allowed, because Arabic and Hebrew need it.
 */
const REFUSED = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** Text of the issuer that stands in pages of others. */
const words = (maxLength: number) =>
  v.pipe(
    v.string('must be a string'),
    v.metadata({ minLength: 1, maxLength }),
    v.check(
      (text) => [...text].length <= maxLength && VISIBLE.test(text),
      `must have 1 to ${maxLength} characters, of which one is visible`,
    ),
    v.check(
      (text) => !REFUSED.test(text),
      'must not have control characters, nor characters that turn the direction of text',
    ),
  )

const locale = v.pipe(
  v.string('must be a string'),
  v.regex(
    /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$/,
    'must be a language tag (BCP 47), such as de or pt-BR',
  ),
)
const description = v.exactOptional(words(MAX_DESCRIPTION))

function inLocales<E extends v.ObjectEntries>(entries: E) {
  return v.pipe(
    v.array(v.strictObject({ locale, ...entries, description }), 'must be a list'),
    v.maxLength(MAX_LOCALES, `must have at most ${MAX_LOCALES} languages`),
    v.check(
      (list) => areDistinct(list.map((one) => String(Object(one).locale).toLowerCase())),
      'must not have a language twice',
    ),
  )
}

const areDistinct = (list: readonly string[]) => new Set(list).size === list.length

const path = v.pipe(
  v.array(v.string('must be a string'), 'must be a list'),
  v.metadata({ minItems: 1, maxItems: 2 }),
  v.check(
    ([first, second, third]) =>
      second === undefined
        ? PLAIN_FIELDS.some((name) => name === first)
        : first === METADATA && isMetadataKey(second) && third === undefined,
    `must be one of ${PLAIN_FIELDS.join(', ')}; or metadata and the name of an entry`,
  ),
)

const ofClaim = v.pipe(
  v.strictObject({
    type: v.picklist(FIELD_TYPES, `must be one of ${FIELD_TYPES.join(', ')}`),
    choices: v.exactOptional(
      v.pipe(
        v.array(words(MAX_LABEL), 'must be a list'),
        v.minLength(1, 'must not be empty'),
        v.maxLength(MAX_CHOICES, `must have at most ${MAX_CHOICES} choices`),
        v.check((list) => areDistinct(list.map(String)), 'must not have a choice twice'),
      ),
    ),
  }),
  v.forward(
    v.check(
      ({ type, choices }) => (type === 'choice') === (choices !== undefined),
      'must be there for the type choice, and for no other',
    ),
    ['choices'],
  ),
)

const claim = v.pipe(
  v.strictObject({
    path,
    display: v.exactOptional(inLocales({ label: words(MAX_LABEL) })),
    mandatory: v.exactOptional(v.boolean('must be true or false')),
    sd: v.exactOptional(v.literal('always', 'must be always')),
    document_registry: v.exactOptional(ofClaim),
  }),
  v.forward(
    v.check(
      ({ path, document_registry }) => path.length === 2 || document_registry === undefined,
      'must be absent, because every document has this field',
    ),
    ['document_registry'],
  ),
  v.forward(
    v.check(
      ({ path: [name], mandatory }) =>
        name === METADATA || name === 'expiresAt' || mandatory !== false,
      'must be true, because every document has this field',
    ),
    ['mandatory'],
  ),
)

const claims = v.pipe(
  v.array(claim, 'must be a list'),
  v.maxLength(MAX_CLAIMS, `must have at most ${MAX_CLAIMS} fields`),
  v.check(
    (list) => areDistinct(list.map((one) => JSON.stringify(Object(one).path))),
    'must not have a field twice',
  ),
)

/** A kind of documents as its issuer writes it. The service sets `vct`, whatever is sent. */
export const typeMetadata = v.strictObject({
  vct: v.exactOptional(v.pipe(v.string('must be a string'), v.maxLength(2_048))),
  name: v.exactOptional(words(MAX_LABEL)),
  description,
  display: v.pipe(inLocales({ name: words(MAX_LABEL) }), v.minLength(1, 'must not be empty')),
  claims: v.optional(claims, []),
  document_registry: v.exactOptional(
    v.strictObject({
      category: v.exactOptional(category),
      template: v.exactOptional(
        v.pipe(words(MAX_LABEL), v.regex(/^[^/\\]*$/, 'must be the name of a template')),
      ),
    }),
  ),
})

/** What an issuer says about the documents of a category. */
export type Kind = {
  category: string
  /** For those who read the file. */
  name?: string
  description?: string
  /** The name of the kind in each language. */
  display: readonly Display[]
  fields: readonly KindField[]
  /** The template of certificates. */
  template?: string
}

/** Words in one language. */
export type Display = { locale: string; name: string; description?: string }

export type KindField = {
  /** As in a table: `expiresAt`, or `metadata.degree`. */
  name: string
  type: FieldType
  choices?: readonly string[]
  isRequired: boolean
  /** The labels in each language. */
  display: readonly Display[]
}

/**
 * @param value The parsed JSON of a kind.
 * @param category The category that it must be for; absent = the file has to say it.
 * @returns The kind, or every bad member.
 */
export function readKind(
  value: unknown,
  category?: string,
): { kind: Kind } | { problems: readonly FieldProblem[] } {
  if (!isObject(value)) return { problems: [{ field: '', message: 'must be a JSON object' }] }
  const read = v.safeParse(typeMetadata, value)
  if (!read.success) return { problems: read.issues.map(problemOf) }
  const said = read.output.document_registry?.category ?? category
  if (said !== undefined && said === (category ?? said)) return { kind: kindOf(read.output, said) }
  const message = category === undefined ? 'is required' : `must be ${category}`
  return { problems: [{ field: 'document_registry.category', message }] }
}

function problemOf(issue: v.BaseIssue<unknown>): FieldProblem {
  const isMember = issue.type === 'strict_object'
  const missing = issue.received === 'undefined' ? 'is required' : 'must be an object'
  const message = issue.expected === 'never' ? 'is an unknown member' : missing
  return { field: v.getDotPath(issue) ?? '', message: isMember ? message : issue.message }
}

function kindOf(
  {
    name,
    description,
    display,
    claims,
    document_registry: own,
  }: v.InferOutput<typeof typeMetadata>,
  category: string,
): Kind {
  return {
    category,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    display,
    fields: claims.map(fieldOf),
    ...(own?.template !== undefined && { template: own.template }),
  }
}

function fieldOf({
  path,
  display = [],
  mandatory,
  document_registry: own,
}: v.InferOutput<typeof claim>) {
  const [first = ''] = path
  const isAlwaysThere = first !== METADATA && first !== 'expiresAt'
  return {
    name: path.join('.'),
    type: own?.type ?? (first.endsWith('At') ? ('date' as const) : ('text' as const)),
    ...(own?.choices && { choices: own.choices }),
    isRequired: isAlwaysThere || mandatory === true,
    display: display.map(({ label, ...rest }) => ({ ...rest, name: label })),
  }
}

/**
 * @param vct The address of the kind, as credentials name it.
 * @returns The bytes of its file, in canonical form. {@link readKind} reads them back.
 */
export function encodeKind(kind: Kind, vct: string): Uint8Array {
  const { category, name, description, display, fields, template } = kind
  return toCanonical({
    vct,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    display,
    claims: fields.map(claimOf),
    document_registry: { category, ...(template !== undefined && { template }) },
  })
}

function claimOf({ name, type, choices, isRequired, display }: KindField) {
  const key = keyIn(name)
  return {
    path: key === undefined ? [name] : [METADATA, key],
    display: display.map(({ name: label, ...rest }) => ({ ...rest, label })),
    mandatory: isRequired,
    // Every field of a document is a disclosure of its own.
    sd: 'always',
    ...(key !== undefined && { document_registry: { type, ...(choices && { choices }) } }),
  }
}

/** @returns The key in `metadata` of a field; `undefined` for another field. */
export function keyIn(name: string): string | undefined {
  return name.startsWith(`${METADATA}.`) ? name.slice(METADATA.length + 1) : undefined
}

/** @returns The words in this language, else in another one of those that the issuer gave. */
export function wordsIn<W extends { locale: string }>(
  display: readonly W[],
  language: string,
): W | undefined {
  const wanted = language.toLowerCase()
  const primary = (tag: string) => tag.toLowerCase().split('-')[0]
  return (
    display.find(({ locale }) => locale.toLowerCase() === wanted) ??
    display.find(({ locale }) => primary(locale) === primary(wanted)) ??
    display.find(({ locale }) => primary(locale) === 'en') ??
    display[0]
  )
}
