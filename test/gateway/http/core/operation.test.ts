import { expect, test } from 'vitest'
import { errorsOf, type Operation, operation } from '#http/core/operation.ts'
import { OPERATIONS } from '#modules/all.ts'

const declared = {
  operationId: 'one',
  tag: 'Documents',
  summary: 'One.',
  description: '',
  scope: 'documents:issue',
} as const

test.each([
  ['POST', ['store_unavailable'], true],
  ['DELETE', ['not_found', 'store_unavailable'], true],
  ['POST', ['not_found'], false],
  ['GET', ['store_unavailable'], false],
] as const)(
  'whether a %s with %j can lose the answer of the database: %s',
  (method, errors, expected) => {
    const one = operation({ ...declared, route: `${method} /v1/one`, errors })
    expect(errorsOf(one as unknown as Operation).includes('outcome_unknown')).toBe(expected)
  },
)

test('issuing or changing a document can have an unknown outcome', () => {
  const told = OPERATIONS.filter((one) => errorsOf(one).includes('outcome_unknown'))
  const routes = told.map(({ method, path }) => `${method} ${path}`)
  for (const route of ['POST /v1/documents', 'POST /v1/documents/:publicId/revoke'])
    expect(routes).toContain(route)
  expect(told.filter(({ method }) => method === 'GET')).toEqual([])
  for (const one of OPERATIONS) expect(new Set(errorsOf(one)).size).toBe(errorsOf(one).length)
})
