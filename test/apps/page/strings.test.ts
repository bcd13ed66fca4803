import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { named as desk } from '#desk/strings/en.ts'
import { named as page } from '#web/strings/en.ts'

const { resolve } = createRequire(import.meta.url)
const sourcesOf = (file: string) => {
  const folder = dirname(resolve(file))
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('strings/'))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
}
// The desk also shows texts of the page.
const DESK = sourcesOf('#desk/i18n.ts').join('\n')
const PAGE = [...sourcesOf('#web/i18n.ts'), DESK].join('\n')

// Keys that are built at run time are listed as types.
describe.each([
  ['page', page, PAGE],
  ['desk', desk, DESK],
])('%s', (_, texts, sources) => {
  test('uses every text with a literal key', () => {
    expect(Object.keys(texts).filter((key) => !sources.includes(`'${key}'`))).toEqual([])
  })
})
