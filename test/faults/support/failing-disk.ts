import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Available, type Folder, smallDisk } from './machine.ts'

const BACKING_MEGABYTES = 24
/** Larger than the backing file system, like a thinly provisioned disk. */
const DISK_BYTES = 64 * 1024 * 1024

/** An ext4 file system in a sparse file on a small file system, with its possible failures. */
export type FailingDisk = Folder & {
  /** Fills the backing: writes to new blocks are lost, and the flush fails (EIO). */
  runOut(): void
  /** Makes room in the backing. */
  refill(): void
  /** Makes the kernel find an error and remount the file system read-only (EROFS). */
  turnReadOnly(): void
  /** Mounts it again, writable. No file on it may be open. */
  remount(): void
}

/** @returns The missing right or program if this user cannot mount a file system. */
export function failingDisk(): Available<FailingDisk> {
  const backing = smallDisk(BACKING_MEGABYTES)
  if ('missing' in backing) return backing
  const { dir: folder, remove } = backing.value
  const image = join(folder, 'image')
  const dir = join(folder, 'disk')
  const ballast = join(folder, 'ballast')
  writeFileSync(image, '')
  truncateSync(image, DISK_BYTES)
  mkdirSync(dir)
  const unmount = () => run('umount', dir)
  const mount = () => run('mount', '-o', 'loop,errors=remount-ro', image, dir)
  try {
    run('mkfs.ext4', '-q', '-F', image)
    mount()
  } catch (error) {
    remove()
    return { missing: `no ext4 file system can be mounted: ${error}` }
  }
  return {
    value: {
      dir,
      runOut: () => fill(folder, ballast),
      refill: () => rmSync(ballast),
      turnReadOnly() {
        const source = run('findmnt', '-n', '-o', 'SOURCE', dir)
        const name = source.replace('/dev/', '')
        writeFileSync(`/sys/fs/ext4/${name}/trigger_fs_error`, '1')
      },
      remount() {
        unmount()
        // Repairs the file system before use, as an operator does after either failure.
        spawnSync('e2fsck', ['-p', image])
        mount()
      },
      remove() {
        unmount()
        remove()
      },
    },
  }
}

/** It writes block by block, because other processes may take space meanwhile. */
export function fill(dir: string, ballast: string): void {
  const { bsize } = statfsSync(dir)
  try {
    while (true) appendFileSync(ballast, new Uint8Array(bsize))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${program}: ${error ?? stderr.trim()}`)
  return stdout.trim()
}
