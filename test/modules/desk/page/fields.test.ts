import { expect, test } from 'vitest'
import { documentOf, emptyTyped } from '#desk/fields.ts'

test('removes invisible characters from what is typed', () => {
  const typed = {
    ...emptyTyped(),
    subjectName: '\u202aAna Test\u202c ',
    subjectId: '\u200e1001',
    entries: [{ name: 'grade\u200b', value: '\ufeffA' }],
  }
  expect(documentOf(typed)).toMatchObject({
    subjectName: 'Ana Test',
    subjectId: '1001',
    metadata: { grade: 'A' },
  })
})
