import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import durations from './durations.json' with { type: 'json' }
import { importsOf, resolveImport } from './support/imports.ts'

const ROOT = join(import.meta.dirname, '..')

const LIBRARY = ['document', 'verifier']
/** What a request promises, and what keeps it. */
const PROMISED = [...LIBRARY, 'gateway/base', 'gateway/promise']
const SUBJECTS = ['gateway/batches', 'gateway/documents', 'gateway/events', 'gateway/keys']

/**
 * The rooms of the house, and what each may import beside itself. A room is a folder. What is not
 * here (operate/, scripts/, tools/, corpus/, test/) may import every room, and none may import it.
 */
const ROOMS: Record<string, readonly string[]> = {
  client: [],
  document: [],
  verifier: ['document'],
  certificates: LIBRARY,
  cli: [...LIBRARY, 'certificates', 'client', 'table'],
  table: LIBRARY,
  // A language of the page must be one of certificates.
  web: [...LIBRARY, 'certificates'],
  desk: [...LIBRARY, 'client', 'table', 'web'],
  'local-chain': LIBRARY,
  'gateway/base': LIBRARY,
  'gateway/promise': [...LIBRARY, 'gateway/base'],
  'gateway/engine': PROMISED,
  'gateway/finality': PROMISED,
  'gateway/batches': PROMISED,
  'gateway/documents': [...PROMISED, 'gateway/keys'],
  'gateway/keys': PROMISED,
  'gateway/events': PROMISED,
  'gateway/store': [...PROMISED, ...SUBJECTS],
  'gateway/chain': PROMISED,
  'gateway/kubo': PROMISED,
  // It serves the verify page, draws QR codes, and writes tables for people.
  'gateway/http': [...PROMISED, ...SUBJECTS, 'web', 'certificates'],
  // The limits of a setting are those of the room that it configures, and so are the roles.
  'gateway/settings': [...PROMISED, 'gateway/engine', 'gateway/keys'],
}
/** Puts the rooms of the gateway together. */
ROOMS['gateway/parts'] = Object.keys(ROOMS).filter((room) => room !== 'cli')
/** `gateway/main.ts`, which starts them. */
ROOMS.gateway = [...ROOMS['gateway/parts'], 'gateway/parts']
/** What can be left out. Each stands on the core, which imports none, and none imports another. */
const MODULES = readdirSync(join(ROOT, 'modules'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `modules/${name}`)
for (const module of MODULES) ROOMS[module] = ROOMS.gateway
/** `modules/all.ts` lists them. */
ROOMS.modules = [...MODULES, 'gateway/http', 'gateway/parts', 'gateway/settings']

/** @param path From the root. @returns `undefined` for what stands above all rooms. */
function roomOf(path: string): string | undefined {
  const folder = dirname(path).split('/')
  return [folder.slice(0, 2).join('/'), folder[0] ?? ''].find((room) => room in ROOMS)
}

const folders = [...new Set(Object.keys(ROOMS).map((room) => room.split('/')[0] ?? ''))]
const files = folders.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
)

describe.each(Object.entries(ROOMS))('%s', (room, allowed) => {
  const own = files.filter((path) => roomOf(path) === room)

  test('behavior: imports nothing that stands above it', () => {
    expect(own).not.toEqual([])
    const up = own.flatMap((path) =>
      importsOf(path)
        .filter((to) => ![room, ...allowed].includes(roomOf(resolveImport(path, to)) ?? ''))
        .map((to) => `${path} imports ${to}`),
    )
    expect(up).toEqual([])
  })

  test('climbs no ladder of folders, and leaves its room by name', () => {
    const isLadder = (path: string, to: string) =>
      to.startsWith('../../../') ||
      // The published libraries have no names for rooms.
      (path.startsWith('gateway/') &&
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

test('behavior: every folder of the gateway is a room', () => {
  const rooms = readdirSync(join(ROOT, 'gateway')).filter((name) => name !== 'main.ts')
  expect(rooms.map((name) => `gateway/${name}`).filter((room) => !(room in ROOMS))).toEqual([])
})

// vitest.config.ts looks them up by these names, and starts an unknown file at the end.
test('behavior: the listed durations are those of tests', () => {
  expect(Object.keys(durations).filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
