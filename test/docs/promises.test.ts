import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesOf } from '../support/tiers.ts'
import { root } from './markdown.ts'

const read = (page: string) => readFileSync(join(root, page), 'utf8')

/** The section of SECURITY.md, which is the table of promises and their tests. */
const promises =
  read('SECURITY.md')
    .split('## Promises, and the tests that hold them')[1]
    ?.split('\n## ')[0]
    ?.split(/\n(?=- )/)
    .slice(1) ?? []

const testsIn = (text: string) =>
  [...text.matchAll(/`((?:test|tools\/corpus)\/[^`\s…]*)/g)].map(([, path = '']) => path)

describe('the promises of SECURITY.md', () => {
  test('each names a test', () => {
    expect(promises.length).toBeGreaterThan(45)
    expect(promises.filter((promise) => testsIn(promise).length === 0)).toEqual([])
  })
})

const run = [...filesOf('first'), ...filesOf('rest')]

describe.each(['SECURITY.md', 'docs/promise.md', 'docs/contract.md', 'docs/privacy.md'])(
  '%s',
  (page) => {
    test('names tests and folders that exist, in a tier that runs', () => {
      const paths = testsIn(read(page)).map((path) => path.replace(/-$/, ''))
      const lost = paths.filter((path) => {
        if (path.endsWith('.test.ts')) return !run.includes(path)
        return !existsSync(join(root, path)) && !run.some((one) => one.startsWith(path))
      })
      expect(lost.filter((path) => !path.startsWith('tools/corpus/cases/'))).toEqual([])
    })
  },
)
