import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '../..')

/** Matches type-only imports too. */
const IMPORT = /\b(?:from|import)\s*\(?\s*'([.#][^']+)'/g
/** Maps `#document` to `document`, as in package.json. */
const ALIASES = Object.entries(manifest.imports).map(
  ([name, to]) => [name.replace('/*', ''), to.replace(/^\.\/|\/\*$/g, '')] as const,
)
const known = new Map<string, string[]>()

/**
 * @returns The imports of a module as written, without data. @param path The path from the root.
 */
export function importsOf(path: string): string[] {
  const text = () => readFileSync(join(ROOT, path), 'utf8')
  const imports = known.get(path) ?? [...text().matchAll(IMPORT)].map(([, to = '']) => to)
  known.set(path, imports)
  return imports.filter((to) => !to.endsWith('.json'))
}

/** @returns The path to which an import leads, from the root. */
export function resolveImport(from: string, to: string): string {
  if (to.startsWith('.')) return join(dirname(from), to)
  const [name = '', ...rest] = to.split('/')
  const folder = ALIASES.find(([alias]) => alias === name)?.[1]
  if (folder === undefined) throw new Error(`${from} imports ${to}, which package.json lacks`)
  return join(folder, ...rest)
}

const resolved = new Map<string, string[]>()

function modulesIn(path: string): string[] {
  const found =
    resolved.get(path) ??
    importsOf(path)
      .filter((to) => /\.m?[jt]s$/.test(to))
      .map((to) => resolveImport(path, to))
  resolved.set(path, found)
  return found
}

/**
 * @returns A module and everything that it imports, directly or indirectly, as paths from the root.
 */
export function modulesOf(path: string): Set<string> {
  const modules = new Set([path])
  for (const from of modules) for (const to of modulesIn(from)) modules.add(to)
  return modules
}
