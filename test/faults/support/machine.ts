import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the machine may lack: then tests are skipped with a reason, which in CI is a failure. */
export type Available<T> = { value: T } | { missing: string }

/**
 * @returns What is there; `undefined` when it is not, after saying so.
 * @throws {Error} in CI when it is not there.
 */
export function required<T>(what: Available<T>): T | undefined {
  if ('value' in what) return what.value
  if (process.env.CI === 'true') throw new Error(what.missing)
  process.stderr.write(`skipped: ${what.missing}\n`)
  return undefined
}

export type Folder = { dir: string; remove(): void }

export function temporaryFolder(): Folder {
  const dir = mkdtempSync(join(tmpdir(), 'document-registry-faults-'))
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

/** A file system of a few megabytes, for filling up. */
export function smallDisk(megabytes: number): Available<Folder> {
  const { dir, remove } = temporaryFolder()
  const { status, stderr } = spawnSync(
    'mount',
    ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', dir],
    { encoding: 'utf8' },
  )
  if (status !== 0) {
    remove()
    return { missing: `no small file system can be mounted: ${stderr?.trim()}` }
  }
  const unmount = () => {
    spawnSync('umount', [dir])
    remove()
  }
  return { value: { dir, remove: unmount } }
}

/** The newest geth whose modules all come from the Go module proxy. */
const GETH = 'v1.16.7'

/** Geth's binary, built once with Go, into a cache outside of the clone; that takes minutes. */
export function geth(): Available<string> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const dir = join(cache, 'document-registry', `geth-${GETH}`)
  const binary = join(dir, 'geth')
  if (spawnSync(binary, ['version']).status === 0) return { value: binary }
  if (spawnSync('go', ['version']).status !== 0)
    return { missing: 'no geth, and no Go to build it with' }
  mkdirSync(dir, { recursive: true })
  process.stderr.write(`building geth ${GETH} into ${dir} …\n`)
  const { status, stderr } = spawnSync(
    'go',
    ['install', `github.com/ethereum/go-ethereum/cmd/geth@${GETH}`],
    { env: { ...process.env, GOBIN: dir }, encoding: 'utf8' },
  )
  return status === 0
    ? { value: binary }
    : { missing: `geth cannot be built: ${stderr.slice(-500)}` }
}
