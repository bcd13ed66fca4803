import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'

// What a file can say of a folder or a process that is not true of a copy of the folder, or of a later process.

/** A process, told from a later one that has its number. */
export type ProcessIdentity = {
  pid: number
  /** When it started, in the words of the system; absent where the system does not say. */
  started?: string
}

/** @returns Device and inode of a folder: a copy has others, a renamed folder keeps its own. */
export const folderIdentity = (dir: string): string => {
  const { dev, ino } = statSync(dir, { bigint: true })
  return `${dev}:${ino}`
}

/** @returns The process that has this number now. */
export const identityOf = (pid: number): ProcessIdentity => {
  const started = existsSync('/proc/self/stat') ? inProc(pid) : inPs(pid)
  return { pid, ...(started !== undefined && { started }) }
}

/** Whether this very process lives. Where the system does not say when it started, any process with its number counts. */
export const isAlive = ({ pid, started }: ProcessIdentity): boolean =>
  exists(pid) && identityOf(pid).started === started

const exists = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** @returns `undefined` for a process that has ended, also while its parent has not taken note of that. */
const inProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name before these, in brackets, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, ticks] = [fields[0], fields[19]]
    // Ticks are counted from the start of the machine.
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')
    return state === 'Z' ? undefined : `${boot.trim()} ${ticks}`
  } catch {
    return undefined
  }
}

const inPs = (pid: number): string | undefined => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', `${pid}`], {
    encoding: 'utf8',
    env: { LC_ALL: 'C', TZ: 'UTC' },
  })
  const [, started] = /^(?!Z)\S+\s+(.+)$/.exec(stdout?.trim() ?? '') ?? []
  return started
}
