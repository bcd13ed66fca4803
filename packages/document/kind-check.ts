import { isRealDate, MAX_METADATA_ENTRIES, shown } from './document.ts'
import type { FieldProblem } from './errors.ts'
import { isObject } from './json.ts'
import { type Kind, type KindField, keyIn } from './kind.ts'
import { VISIBLE } from './members.ts'

const NUMBER = /^-?(0|[1-9][0-9]{0,29})(\.[0-9]{1,30})?$/

/**
 * Compares a document with its kind. Values that are no text are ignored, because the format of a
 * document refuses them.
 *
 * @param document Fields of a document, or what was sent as such.
 * @returns Every field that is missing, of another type, or unknown to the kind.
 */
export function kindProblems({ fields }: Kind, document: Record<string, unknown>): FieldProblem[] {
  const metadata = isObject(document.metadata) ? document.metadata : {}
  const known = fields.flatMap(({ name }) => keyIn(name) ?? [])
  const unknown = Object.keys(metadata)
    .filter((key) => !known.includes(key))
    .slice(0, MAX_METADATA_ENTRIES)
  return [
    ...fields.flatMap((field) => {
      const key = keyIn(field.name)
      const message = problemOf(field, key === undefined ? [document, field.name] : [metadata, key])
      return message === undefined ? [] : [{ field: field.name, message }]
    }),
    ...unknown.map((key) => ({
      field: `metadata.${shown(key)}`,
      message: 'is not a field of this kind of documents',
    })),
  ]
}

function problemOf(
  { type, choices = [], isRequired }: KindField,
  [holder, name]: readonly [Record<string, unknown>, string],
): string | undefined {
  const value = Object.hasOwn(holder, name) ? holder[name] : undefined
  if (value === undefined) return isRequired ? 'is required' : undefined
  if (typeof value !== 'string') return undefined
  if (isRequired && !VISIBLE.test(value)) return 'must not be empty'
  switch (type) {
    case 'date':
      return isRealDate(value) ? undefined : 'must be a real date, YYYY-MM-DD'
    case 'number':
      return NUMBER.test(value) ? undefined : 'must be a number, such as 12 or 1.7'
    case 'choice':
      return choices.includes(value) ? undefined : `must be one of ${listed(choices)}`
    case 'text':
      return undefined
  }
}

/** The maximum number of choices that a message names. */
const MAX_NAMED = 20

function listed(choices: readonly string[]): string {
  return choices.length > MAX_NAMED
    ? `${choices.slice(0, MAX_NAMED).join(', ')} …`
    : choices.join(', ')
}
