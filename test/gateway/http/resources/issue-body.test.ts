import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FieldProblem } from '#document/errors.ts'
import type { JsonValue } from '#document/json.ts'
import { ApiError } from '#http/core/errors.ts'
import { parseIssueBody } from '#http/resources/issue-body.ts'
import { mutated } from '#test/support/arbitraries.ts'
import { bodySchemaOf, problemsBySchema } from '#test/support/described.ts'

// The body of a request to issue is parsed by #document/, and described by a schema. Both must agree
// on everything that a schema can say.

const SCHEMA = bodySchemaOf('issueDocument')
const NOW = Date.parse('2026-11-22T00:00:00Z')

/** What the descriptions say, since JSON Schema cannot. */
const BEYOND_SCHEMA = [
  'must have at least one letter, digit, punctuation mark or symbol',
  'must be a real date, YYYY-MM-DD, from 1970-01-02 to 9999-12-30',
  'must not be before issuedAt',
  'must be at most 366 days after today (UTC)',
  'must be at most 32768 bytes of UTF-8 in total',
  'must be well-formed Unicode, without lone surrogates',
  'must have a key of well-formed Unicode',
]

function problemsByParser(body: unknown): readonly FieldProblem[] {
  try {
    parseIssueBody(body as JsonValue, { now: NOW })
    return []
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'bad_fields') throw error
    return error.details as FieldProblem[]
  }
}

const FULL = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
  expiresAt: '2036-01-30T00:00:00Z',
  metadata: { registrar: 'Testville', constructor: 'x' },
}

const number = (min: number, max: number, digits: number) =>
  fc.integer({ min, max }).map((n) => String(n).padStart(digits, '0'))
const date = fc
  .tuple(
    fc.oneof(number(1968, 1972, 4), number(2025, 2028, 4), number(9998, 10_000, 4)),
    number(0, 13, 2),
    number(0, 32, 2),
    fc.constantFrom('', 'T00:00:00Z', 'T00:00:01Z', 'T00:00:00.000Z', '\n', ' '),
  )
  .map(([year, month, day, rest]) => `${year}-${month}-${day}${rest}`)
const text = (maxLength: number) =>
  fc.oneof(
    fc.string({ unit: 'binary', maxLength }),
    fc.string({ unit: 'grapheme', maxLength }),
    fc.integer({ min: maxLength - 1, max: maxLength + 1 }).map((n) => '😀'.repeat(n)),
  )
const word = fc.stringMatching(/^[a-z0-9_A-Z]{0,10}$/)
const near = {
  subjectName: text(200),
  subjectId: fc.oneof(
    fc.stringMatching(/^[0-9a٣\n]{0,66}$/),
    fc.integer({ min: 63, max: 65 }).map((n) => '7'.repeat(n)),
  ),
  category: fc.oneof(
    fc.array(word, { maxLength: 8 }).map((words) => words.join('_')),
    fc.integer({ min: 63, max: 65 }).map((n) => 'a'.repeat(n)),
  ),
  issuedAt: date,
  expiresAt: date,
  metadata: fc.oneof(
    fc.dictionary(text(64), text(20), { maxKeys: 4 }),
    fc
      .integer({ min: 63, max: 65 })
      .map((n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, '']))),
    fc.integer({ min: 32_766, max: 32_769 }).map((bytes) => ({ k: 'x'.repeat(bytes) })),
    fc.constantFrom('_sd', '...', '__proto__').map((key) => Object.fromEntries([[key, 'x']])),
  ),
}
const oneField = fc.oneof(
  ...Object.entries(near).map(([field, value]) =>
    (value as fc.Arbitrary<unknown>).map((one) => ({ ...FULL, [field]: one })),
  ),
)
const body = fc.oneof(mutated(FULL), oneField, fc.record(near, { requiredKeys: [] }))

test('the schema and the parser agree on every body', () => {
  const seen = { both: 0, neither: 0, rule: 0 }
  fc.assert(
    fc.property(body, (value) => {
      const bySchema = problemsBySchema(SCHEMA, value)
      const byParser = problemsByParser(value)
      if (byParser.length === 0) {
        expect(bySchema).toEqual([])
        seen.both++
      } else if (bySchema.length === 0) {
        const messages = byParser.map(({ message }) => message)
        const isBeyond = (message: string) =>
          BEYOND_SCHEMA.some((known) => message.startsWith(known))
        expect(messages.filter((message) => !isBeyond(message))).toEqual([])
        seen.rule++
      } else seen.neither++
    }),
    { numRuns: 3_000 },
  )
  // Each kind often enough to mean something.
  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(20)
})

test('an expiresAt of null means none', () => {
  const { expiresAt: _, ...endless } = FULL
  expect(problemsBySchema(SCHEMA, { ...FULL, expiresAt: null })).toEqual([])
  const read = (body: object) => parseIssueBody(body as JsonValue, { now: NOW })
  expect(read({ ...FULL, expiresAt: null })).toEqual(read(endless))
})

test.each([
  ['subjectName', 'a\u0000'],
  ['subjectName', ''],
  ['subjectId', '1\n'],
  ['category', 'birth_certificate\n'],
  ['issuedAt', '2026-01-31\n'],
  ['issuedAt', '2026-02-00'],
  ['metadata', []],
  ['supersedes', `0x${'00'.repeat(32)}`],
])('both refuse %s: %j', (field, value) => {
  const bad = { ...FULL, [field]: value }
  expect(problemsBySchema(SCHEMA, bad)).not.toEqual([])
  expect(problemsByParser(bad).map((problem) => problem.field)).toContain(field)
})
