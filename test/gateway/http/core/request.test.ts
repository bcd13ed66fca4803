import * as v from 'valibot'
import { expect, test } from 'vitest'
import { parseBody } from '#http/core/request.ts'

const schema = v.strictObject({
  name: v.string('must be a string'),
  inner: v.exactOptional(v.strictObject({ count: v.number('must be a number') })),
})

test.each([
  [{ more: 1 }, ['name is required', 'more unknown field']],
  [{ name: 'x', inner: { count: 1, more: 1 } }, ['inner.more unknown field']],
  [{ name: 'x', inner: 5 }, ['inner must be an object']],
  [{ name: 1 }, ['name must be a string']],
  [[], [' must be a JSON object']],
])('names the bad fields of %j in plain words', (body, expected) => {
  let problems: unknown
  try {
    parseBody(schema, body)
  } catch (error) {
    problems = (error as { details: { field: string; message: string }[] }).details.map(
      ({ field, message }) => `${field} ${message}`,
    )
  }
  expect(problems).toEqual(expected)
})
