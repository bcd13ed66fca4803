import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Programs and rights that a machine may lack. Tests are then skipped with a reason, or fail in CI.
 */
export type Available<T> = { value: T } | { missing: string }

/**
 * @returns The value; `undefined` when it is missing, after printing the reason.
 * @throws {Error} in CI when it is missing.
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
    spawnSync('umount', ['-l', dir])
    remove()
  }
  return { value: { dir, remove: unmount } }
}
