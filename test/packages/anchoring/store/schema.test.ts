import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SCHEMA_VERSION, schemaOf, schemaOfKeys } from '#store/tables.ts'

/** The digest of the schema of each version that was ever published here. */
const DIGESTS: Record<number, string> = {
  17: '49ad10ceaf6f7e555f2440b0456ae261360d94b34b6fd051c42946922bed0130',
  18: '857346adf24cd7e31ce5960d5229a0dc9908f175622d05ee2f3d75d53611bc52',
  19: '235a987cce685ba8b70d8fdf5d6cce10aa472f1c56e2e46cbad66cef7498b86f',
  20: 'cde3a46cc06180749c0d2949d721ce367a5a5dc06f6855fa52d6dfa87bb01097',
  21: '2ef0ae6f47aa4cae52f6afb2a0d3d5f276cf2e314c99ecfffb62c46ec10c25a0',
}

// Older folders are refused and not converted, so a folder must never be of another schema, or have
// rows of another meaning, under the same number.
test('a change of the schema requires a new version', () => {
  const text = schemaOf('postgres').replaceAll(/ *--.*/g, '')
  const digest = createHash('sha256').update(text).digest('hex')
  expect(digest, 'raise SCHEMA_VERSION, and add the digest under the new number').toBe(
    DIGESTS[SCHEMA_VERSION],
  )
})

test('both databases get every statement of schema.sql', () => {
  const file = new URL('../../../../packages/anchoring/store/schema.sql', import.meta.url)
  const count = (text: string) => text.match(/^CREATE /gm)?.length
  const all = count(readFileSync(file, 'utf8'))
  expect(count(schemaOf('postgres'))).toBe(all)
  expect(count(`${schemaOf('sqlite')}\n${schemaOfKeys()}`)).toBe(all)
})
