import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPage, root } from './markdown.ts'

const foldersIn = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

/** Made or installed here, as .gitignore says. */
const ignored = readFileSync(join(root, '.gitignore'), 'utf8').replaceAll('/', '').split('\n')
/** The folders that hold source. */
const folders = foldersIn('').filter(
  (name) => !name.startsWith('.') && !ignored.includes(name) && name !== 'docs',
)
/** Those whose folders are parts of their own. */
const SEVERAL = ['packages', 'apps']
const within = (folder: string) => foldersIn(folder).map((name) => `${folder}/${name}`)
const parts = folders.flatMap((name) => (SEVERAL.includes(name) ? within(name) : [name]))

/** @returns The folders that the map of CONTRIBUTING.md names, each after the one that holds it. */
function mapped(map: string): string[] {
  let folder = ''
  return [...map.matchAll(/^( {2})?([\w-]+)\/(?: |$)/gm)].map(([, inside, name = '']) => {
    if (inside !== undefined) return `${folder}/${name}`
    folder = name
    return name
  })
}

/** @returns The folders that the first column of a table in docs/design.md names. */
function namedIn(title: string): string[] {
  const [, after = ''] = readFileSync(join(root, 'docs/design.md'), 'utf8').split(`\n| ${title} |`)
  const [table = ''] = after.split('\n\n')
  const cells = table.split('\n').map((row) => row.split('|')[1] ?? '')
  return cells.flatMap((cell) => [...cell.matchAll(/`([\w/-]+)\/`/g)].map(([, name = '']) => name))
}

test('the map of CONTRIBUTING.md lists exactly the folders', () => {
  const map = readPage('CONTRIBUTING.md').blocks.find(
    ({ headings }) => headings.at(-1) === 'Where things are',
  )
  const all = [...folders, ...['modules', 'tools', ...SEVERAL].flatMap(within)]
  expect(mapped(map?.code ?? '').toSorted()).toEqual(all.toSorted())
})

test('the table of parts lists exactly the folders', () => {
  expect(namedIn('part').toSorted()).toEqual(parts.toSorted())
})

test('the table of rooms lists exactly the folders of the gateway', () => {
  const rooms = ['gateway', 'packages/anchoring'].flatMap(foldersIn)
  expect(namedIn('room').toSorted()).toEqual(rooms.toSorted())
})
