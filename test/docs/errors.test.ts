import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { STATUS } from '#http/core/errors.ts'
import { root } from './markdown.ts'

const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')
const known = Object.entries(STATUS).map(([code, status]) => `${code} ${status}`)

test('default: the table has every error code with its status, and no other', () => {
  const rows = [...page.matchAll(/^\| \[`(\w+)`\]\(#(\w+)\) \| (\d+) \| (no|yes|after .+) \|$/gm)]
  for (const [, code, anchor] of rows) expect(anchor).toBe(code)
  expect(rows.map(([, code, , status]) => `${code} ${status}`).sort()).toEqual(known.sort())
})

test('default: every error code has one section, which begins with its status', () => {
  const sections = [...page.matchAll(/^### `(\w+)`\n\n(\d+)[.,] ?\S/gm)]
  expect(sections.map(([, code, status]) => `${code} ${status}`).sort()).toEqual(known.sort())
})

test('default: the table says "yes" for those codes that have a Retry-After', () => {
  const yes = [...page.matchAll(/^\| \[`(\w+)`\].*\| yes \|$/gm)].map(([, code]) => code)
  const retryable = Object.entries(STATUS).filter(([, status]) => status === 503 || status === 429)
  expect(yes.sort()).toEqual(retryable.map(([code]) => code).sort())
})
