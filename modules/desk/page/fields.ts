import { sha256 } from '@noble/hashes/sha2.js'
import { toCanonical } from '#document/canonical.ts'
import { type DocumentFields, metadataOf, today } from '#document/document.ts'
import type { FieldProblem } from '#document/errors.ts'
import { toHex } from '#document/hex.ts'
import type { JsonValue } from '#document/json.ts'
import { PLAIN_FIELDS } from '#document/kind.ts'
import { seen } from '#table/words.ts'

/** What is typed into the form of a document. */
export type Typed = {
  subjectName: string
  subjectId: string
  category: string
  /** Whether a kind is typed that the service does not have; absent = the category says it. */
  isOther?: boolean
  issuedAt: string
  expiresAt: string
  /** Further entries, as they are shown; an empty one does not count. */
  entries: { name: string; value: string }[]
}

export function emptyTyped(): Typed {
  return {
    subjectName: '',
    subjectId: '',
    category: '',
    issuedAt: today(),
    expiresAt: '',
    entries: [],
  }
}

/** @returns The document that was typed, for `readNewDocument`. */
export function documentOf({ entries, ...typed }: Typed): JsonValue {
  const plain = PLAIN_FIELDS.map((field) => [field, seen(typed[field]).trim()] as const)
  const named = entries
    .map(({ name, value }) => [seen(name).trim(), seen(value).trim()] as const)
    .filter(([name, value]) => name !== '' || value !== '')
  return {
    ...Object.fromEntries(plain.filter(([, text]) => text !== '')),
    ...(named.length > 0 && { metadata: Object.fromEntries(named) }),
  }
}

/** @returns Problems that the object of {@link documentOf} cannot show: a name that is used twice. */
export function repeatedNames({ entries }: Typed): FieldProblem[] {
  const names = entries.map(({ name }) => name.trim()).filter((name) => name !== '')
  return names
    .filter((name, i) => names.indexOf(name) !== i)
    .map((name) => ({ field: `metadata.${name}`, message: 'twice' }))
}

/** @returns The form with the fields of a document. Dates may have the form of an answer. */
export function typedOf(fields: Partial<DocumentFields>): Typed {
  const { subjectName = '', subjectId = '', category = '', issuedAt = '', expiresAt = '' } = fields
  return {
    subjectName,
    subjectId,
    category,
    issuedAt: issuedAt.slice(0, 10),
    expiresAt: expiresAt.slice(0, 10),
    entries: metadataOf(fields).map(([name, value]) => ({ name, value })),
  }
}

/** @returns What people mean by “Birth certificate”, as a category: `birth_certificate`. */
export function categoryOf(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
}

/**
 * @returns An Idempotency-Key. The same form with the same content gives the same one, so that
 * sending it again issues nothing twice.
 */
export function keyOf(id: string, fields: DocumentFields): string {
  return `desk:${id}:${toHex(sha256(toCanonical(fields))).slice(2, 34)}`
}

/** A random id, also in pages over plain HTTP. */
export function newId(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16))).slice(2)
}

/** @returns A number with a point, for one that is typed with a comma, as many countries do. */
export const withPoint = (text: string): string => text.trim().replace(/^(-?\d+),(\d+)$/, '$1.$2')
