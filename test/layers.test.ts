import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import durations from './durations.json' with { type: 'json' }
import { importsOf, resolveImport } from './support/imports.ts'

const ROOT = join(import.meta.dirname, '..')

const LIBRARY = ['packages/document', 'packages/verifier']
/** What a request promises, and what keeps it. */
const PROMISED = [...LIBRARY, 'packages/anchoring/base', 'packages/anchoring/promise']
const SUBJECTS = [
  'packages/anchoring/batches',
  'gateway/documents',
  'gateway/events',
  'gateway/keys',
]

/**
 * The rooms of the house, and what each may import beside itself. A room is a folder. What is not
 * here (apps/docreg-gateway/, scripts/, tools/, test/) may import every room, and none may import
 * it.
 */
const ROOMS: Record<string, readonly string[]> = {
  'packages/client': [],
  'packages/document': [],
  'packages/verifier': ['packages/document'],
  'packages/certificates': LIBRARY,
  'packages/table': LIBRARY,
  'packages/local-chain': LIBRARY,
  'apps/docreg': [...LIBRARY, 'packages/certificates', 'packages/client', 'packages/table'],
  // A language of the page must be one of certificates.
  'apps/page': [...LIBRARY, 'packages/certificates'],
  'packages/anchoring/base': LIBRARY,
  'packages/anchoring/promise': [...LIBRARY, 'packages/anchoring/base'],
  'packages/anchoring/engine': PROMISED,
  'packages/anchoring/finality': PROMISED,
  'packages/anchoring/batches': PROMISED,
  'packages/anchoring/chain': PROMISED,
  'packages/anchoring/kubo': PROMISED,
  // Upwards: it keeps the rows of these two, whose ports are with their rooms.
  'packages/anchoring/store': [
    ...PROMISED,
    'packages/anchoring/batches',
    'gateway/events',
    'gateway/keys',
  ],
  'gateway/documents': [...PROMISED, 'gateway/keys'],
  'gateway/keys': PROMISED,
  'gateway/events': PROMISED,
  // It draws QR codes. Upwards: it writes the configuration of the verify page that it serves.
  'gateway/http': [...PROMISED, ...SUBJECTS, 'apps/page', 'packages/certificates'],
  // The limits of a setting are those of the room that it configures, and so are the roles.
  'gateway/settings': [...PROMISED, 'packages/anchoring/engine', 'gateway/keys'],
}
/** What the service consists of. */
const CORE = Object.keys(ROOMS).filter((room) => /^(packages|gateway)\//.test(room))
/** Puts it together, with the configuration of the verify page. */
ROOMS['gateway/parts'] = [...CORE, 'apps/page']
/** `gateway/main.ts`, which starts them. */
ROOMS.gateway = [...CORE, 'gateway/parts']
/** What can be left out. Each stands on the core, which imports none, and none imports another. */
const MODULES = readdirSync(join(ROOT, 'modules'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `modules/${name}`)
for (const module of MODULES) ROOMS[module] = ROOMS.gateway
/** A client of the REST API. Upwards: it shows a document as the verify page does. */
ROOMS['modules/desk/page'] = [...LIBRARY, 'packages/client', 'packages/table', 'apps/page']
/** `modules/all.ts` lists them. */
ROOMS.modules = [...MODULES, 'gateway/http', 'gateway/parts', 'gateway/settings']

/** @param path From the root. @returns `undefined` for what stands above all rooms. */
function roomOf(path: string): string | undefined {
  const folder = dirname(path).split('/')
  return [3, 2, 1].map((length) => folder.slice(0, length).join('/')).find((room) => room in ROOMS)
}

const folders = [...new Set(Object.keys(ROOMS).map((room) => room.split('/')[0] ?? ''))]
const files = folders.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
)

describe.each(Object.entries(ROOMS))('%s', (room, allowed) => {
  const own = files.filter((path) => roomOf(path) === room)

  test('imports only rooms below it', () => {
    expect(own).not.toEqual([])
    const up = own.flatMap((path) =>
      importsOf(path)
        .filter((to) => ![room, ...allowed].includes(roomOf(resolveImport(path, to)) ?? ''))
        .map((to) => `${path} imports ${to}`),
    )
    expect(up).toEqual([])
  })

  test('imports from other rooms by name, without a path of parent folders', () => {
    const isLadder = (path: string, to: string) =>
      to.startsWith('../../../') ||
      // The published libraries have no names for rooms.
      (/^(gateway|packages\/anchoring)\//.test(path) &&
        to.startsWith('../../') &&
        roomOf(resolveImport(path, to)) !== room)
    const ladders = own.flatMap((path) =>
      importsOf(path)
        .filter((to) => isLadder(path, to))
        .map((to) => `${path} imports ${to}`),
    )
    expect(ladders).toEqual([])
  })
})

test.each(['gateway', 'packages/anchoring'])('every folder of %s is a room', (folder) => {
  const rooms = readdirSync(join(ROOT, folder)).filter((name) => name !== 'main.ts')
  expect(rooms.map((name) => `${folder}/${name}`).filter((room) => !(room in ROOMS))).toEqual([])
})

// vitest.config.ts looks them up by these names, and starts an unknown file at the end.
test('every listed duration belongs to a test', () => {
  expect(Object.keys(durations).filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
