/** What a package brings to its user, from the lock file: the versions that the tests ran with. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export type Manifest = {
  name: string
  version: string
  license: string
  dependencies?: Record<string, string>
}
export type Locked = {
  version: string
  license?: string
  /** Whether only development dependencies need it. */
  dev?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}
/** The packages of a lock file by path, such as `node_modules/ethers`. */
export type Lock = Record<string, Locked>

export const readLock = (folder = root): Lock =>
  JSON.parse(readFileSync(`${folder}/package-lock.json`, 'utf8')).packages

/**
 * `npm sbom --omit dev` of npm 11 leaves out what is also a development dependency's, such as
 * ethers, so the packages are found here.
 *
 * @returns The packages that are installed with this one, by path and sorted.
 */
export function installedWith({ dependencies }: Pick<Manifest, 'dependencies'>, lock: Lock): Lock {
  const found: Lock = {}
  const visit = (from: string, { peerDependenciesMeta, ...one }: Partial<Locked>): void => {
    const peers = Object.keys(one.peerDependencies ?? {}).filter(
      (name) => !peerDependenciesMeta?.[name]?.optional,
    )
    const own = Object.keys({ ...one.dependencies, ...one.optionalDependencies })
    for (const name of [...own, ...peers]) {
      const path = resolve(from, name, lock)
      const locked = path === undefined ? undefined : lock[path]
      if (path === undefined || locked === undefined)
        throw new Error(`package-lock.json has no ${name}, which ${from || 'the package'} needs`)
      if (found[path]) continue
      found[path] = locked
      visit(path, locked)
    }
  }
  visit('', dependencies ? { dependencies } : {})
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Looks in each `node_modules` on the way up, as Node does. */
function resolve(from: string, name: string, lock: Lock): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`
    if (lock[path]) return path
    if (at === '') return undefined
  }
}

export const nameOf = (path: string): string => path.replace(/^.*node_modules\//, '')
