import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { SCHEMA_VERSION, schemaOf, tablesOf } from '#store/tables.ts'

/** The digest of the schema of each version that was ever published here. */
const DIGESTS: Record<number, string> = {
  16: '4ccd58d7e2d227134fcfdb145907e81855855a6c3b4b710f77681d1a769dd7d5',
  17: 'd7aaee371fc6a0cfcb1debd620f3bacd14f3624cb34a21cf161bb949f478c6fa',
}

// Older folders are refused and not converted, so a folder must never be of another schema, or have
// rows of another meaning, under the same number.
test('a change of the schema raises its version', () => {
  const text = (['sqlite', 'postgres'] as const)
    .map((name) => schemaOf(name, tablesOf(name)))
    .join('\n')
  const digest = createHash('sha256').update(text).digest('hex')
  expect(digest, 'raise SCHEMA_VERSION, and add the digest under the new number').toBe(
    DIGESTS[SCHEMA_VERSION],
  )
})
