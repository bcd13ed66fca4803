import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ApiErrorCode, ERRORS } from '#http/core/error-table.ts'
import { ApiError } from '#http/core/errors.ts'
import { errorsPage } from '#scripts/errors-page.ts'
import { root } from './markdown.ts'

test('docs/errors.md is what `npm run generate` makes of the table', () => {
  expect(readFileSync(join(root, 'docs/errors.md'), 'utf8')).toBe(errorsPage())
})

test('errors have a Retry-After exactly if their status is 429 or 503', () => {
  for (const [code, { status }] of Object.entries(ERRORS)) {
    const { headers } = new ApiError(code as ApiErrorCode, '')
    expect([code, 'Retry-After' in headers]).toEqual([code, status === 429 || status === 503])
  }
})
