import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { type Page, pages, root } from './markdown.ts'

const all = pages()

type Link = { from: string; path: string; anchor: string | undefined }

/** Links, pictures and the sources of `<picture>`, but no address of another site. */
function linksOf({ path, prose }: Page): Link[] {
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)]
  return targets
    .map(([, inline, attribute]) => inline ?? attribute ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor] = target.split('#')
      const found = file === '' ? path : normalize(join(dirname(path), file))
      return { from: `${path}: ${target}`, path: found, anchor }
    })
}

const links = all.flatMap(linksOf)

test('every internal link leads to a file', () => {
  expect(links.length).toBeGreaterThan(80)
  const broken = links.filter(({ path }) => !existsSync(join(root, path)))
  expect(broken.map(({ from }) => from)).toEqual([])
})

test('every anchor in a link is a heading of its page', () => {
  const anchored = links.filter(({ anchor }) => anchor !== undefined)
  expect(anchored.length).toBeGreaterThan(50)
  const broken = anchored.filter(({ path, anchor = '' }) => {
    const page = all.find((one) => one.path === path)
    return !page?.anchors.has(anchor)
  })
  expect(broken.map(({ from }) => from)).toEqual([])
})

test('the index of the README has every page of docs/', () => {
  const indexed = links.filter(({ from }) => from.startsWith('README.md:')).map(({ path }) => path)
  const manuals = all.map(({ path }) => path).filter((path) => path.startsWith('docs/'))
  expect(manuals.filter((path) => !indexed.includes(path))).toEqual([])
})
