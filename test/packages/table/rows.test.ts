import { expect, test } from 'vitest'
import { checkRows, dayIn, withValues } from '#table/rows.ts'

test.each([
  ['2026/01/31', '2026-01-31'],
  ['2026-1-5', '2026-01-05'],
  ['2026-01-31 00:00:00', '2026-01-31'],
  ['2026-01-31T00:00:00.000Z', '2026-01-31'],
  ['31.01.2026 00:00', '2026-01-31'],
  ['31. 1. 2026', '2026-01-31'],
  ['1/31/2026', '2026-01-31'],
  ['2026.01.31.', '2026-01-31'],
  ['2026. 1. 31.', '2026-01-31'],
  ['2026年1月31日', '2026-01-31'],
  ['31-Jan-2026', '2026-01-31'],
  ['31 January 2026', '2026-01-31'],
  ['31.6.2026', '2026-06-31'],
])('%s is a day with one reading', (text, day) => {
  expect(dayIn(text, undefined)).toBe(day)
})

test('1.2.2026 is a day once the order is known', () => {
  expect(dayIn('1.2.2026', undefined)).toBe(undefined)
  expect(dayIn('1.2.2026', 'dmy')).toBe('2026-02-01')
  expect(dayIn('1.2.2026', 'mdy')).toBe('2026-01-02')
  // Another order than that of its table.
  expect(dayIn('31.1.2026', 'mdy')).toBe(undefined)
})

test.each(['2026-01-31 10:30', '31.1.26', '31-Foo-2026', '2026', '', 'x 2026-01-31', '1-2026-3'])(
  '%s is no day',
  (text) => {
    expect(dayIn(text, undefined)).toBe(undefined)
  },
)

test.each([
  ['1,234,567', '1234567', '1234567'],
  ['0042', '42', '0042'],
  ['012-34-5678', '12345678', '012345678'],
  ['85%', '0.85', '0.85'],
  ['7', '7.4', '7.4'],
  ['7.00', '7', '7'],
  ['1.23E+05', '123456', '123456'],
])('an identifier shown as %s, of the number %s, is %s', (text, value, identifier) => {
  const row = { line: 2, cells: { id: text }, notes: { id: { value } } }
  const fields = new Map([['id', 'subjectId']])
  expect(withValues(row, fields, () => false)).toEqual({ id: identifier })
})

test('one name in two forms of Unicode is a duplicate, and is not changed', () => {
  const sent = ['Zoë', 'Zoe\u0308', 'Zoe'].map((subjectName, i) => ({
    line: i + 2,
    cells: {},
    value: { subjectName, subjectId: '1', category: 'diploma', issuedAt: '2026-07-01' },
  }))
  const names = (rows: typeof sent) =>
    checkRows(rows, Date.now()).good.map(({ fields }) => fields.subjectName)
  expect(names(sent)).toEqual(['Zoë', 'Zoe'])
  expect(names(sent.slice(1))).toEqual(['Zoe\u0308', 'Zoe'])
  expect(checkRows(sent, Date.now()).bad).toMatchObject([{ line: 3, sameAs: 2 }])
})
