import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** Files of gateway/ that know nothing of the parts above them. */
const BASE = [
  ...[
    'blind-index',
    'clock',
    'deadline',
    'document-index',
    'events',
    'grant',
    'history',
    'lines',
    'load-metrics',
    'log',
  ],
  ...['metrics', 'rate-limit', 'registry-abi', 'shared-read', 'shares', 'successions', 'version'],
  ...['webhook-metrics', 'wei'],
]

/** What each layer may import beside itself; biome.json forbids circles within one. */
const LAYERS: Record<string, readonly string[]> = {
  client: [],
  document: [],
  verifier: ['document'],
  // Draws QR codes, also for the gateway.
  'certificates/png': [],
  certificates: ['certificates/png', 'document', 'verifier'],
  cli: ['certificates', 'client', 'document', 'verifier'],
  web: ['document', 'verifier'],
  'gateway/base': ['document', 'verifier'],
  'gateway/issue': ['document', 'verifier', 'gateway/base'],
  'gateway/keys': ['gateway/base'],
  'gateway/webhooks': ['document', 'gateway/base'],
  'gateway/adapters': [
    ...['document', 'verifier', 'gateway/base', 'gateway/issue', 'gateway/keys'],
    'gateway/webhooks',
  ],
  'gateway/documents': ['document', 'verifier', 'gateway/base', 'gateway/issue'],
  // It serves the verify page.
  'gateway/http': [
    'certificates/png',
    ...['document', 'verifier', 'web', 'gateway/base', 'gateway/issue', 'gateway/keys'],
    ...['gateway/documents', 'gateway/webhooks', 'gateway/bulk'],
  ],
  'gateway/bulk': ['document', 'verifier', 'gateway/base', 'gateway/issue'],
  // What reads the settings, and puts the parts together.
  'gateway/server': [
    ...['document', 'verifier', 'web', 'gateway/base', 'gateway/issue', 'gateway/keys'],
    ...[
      'gateway/documents',
      'gateway/webhooks',
      'gateway/adapters',
      'gateway/http',
      'gateway/bulk',
    ],
  ],
  'local-chain': ['document', 'verifier'],
}

/** @param path From the root. @returns `undefined` for what stands above all of the layers. */
function layerOf(path: string): string | undefined {
  const [first = '', second = '', third] = path.split('/')
  if (path === 'certificates/png.ts') return 'certificates/png'
  if (first !== 'gateway') return first in LAYERS ? first : undefined
  if (third !== undefined) return `gateway/${second}`
  return BASE.includes(second.replace('.ts', '')) ? 'gateway/base' : 'gateway/server'
}

/** Type-only imports too. */
const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g

/** @returns Where the imports of a file lead, from the root; data, as package.json, aside. */
function importsOf(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8')
  return [...text.matchAll(IMPORT)]
    .map(([, to = '']) => join(dirname(path), to))
    .filter((to) => !to.endsWith('.json'))
}

const folders = [...new Set(Object.keys(LAYERS).map((layer) => layer.split('/')[0] ?? ''))]
const files = folders.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
)

describe.each(Object.entries(LAYERS))('%s', (layer, allowed) => {
  const own = files.filter((path) => layerOf(path) === layer)

  test('behavior: imports nothing that stands above it', () => {
    expect(own).not.toEqual([])
    const up = own.flatMap((path) =>
      importsOf(path)
        .filter((to) => ![layer, ...allowed].includes(layerOf(to) ?? ''))
        .map((to) => `${path} imports ${to}`),
    )
    expect(up).toEqual([])
  })
})
