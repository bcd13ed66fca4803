import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The limits of a case: it ends at this number of documents or seconds, whichever comes first. */
export type Limits = { documents: number; seconds: number }

/** Processor time in seconds, and resident memory in bytes: now, and at most. */
export type Usage = { cpu: number; resident: number; peak: number }

/** Linux reports processor time in these units, whatever the kernel's clock. */
export const TICKS_A_SECOND = 100

/** @returns `undefined` without /proc, or when the process has ended. */
export function usageOf(pid: number | undefined): Usage | undefined {
  try {
    const [ticks = 0, systemTicks = 0] = statOf(pid, ['utime', 'stime'])
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const bytes = (field: string) =>
      1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1])
    return {
      cpu: (ticks + systemTicks) / TICKS_A_SECOND,
      resident: bytes('VmRSS'),
      peak: bytes('VmHWM'),
    }
  } catch {
    return undefined
  }
}

/** Where fields are in /proc/<pid>/stat, counted from the one after the name. */
const FIELDS = { ppid: 1, utime: 11, stime: 12, cutime: 13, cstime: 14 } as const

/** @throws {Error} when there is no such process. */
export function statOf(pid: number | undefined, fields: readonly (keyof typeof FIELDS)[]) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name is in parentheses, and may contain spaces.
  const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.map((field) => Number(values[FIELDS[field]]))
}

/** What some work took: wall-clock and processor seconds; of processes without /proc NaN. */
export type Metered<N extends string, T> = { result: T; seconds: number; cpu: Record<N, number> }

/** Runs work. @param pids The processes whose processor time is measured meanwhile, by name. */
export async function metered<N extends string, T>(
  pids: Record<N, number | undefined>,
  work: () => Promise<T>,
): Promise<Metered<N, T>> {
  const names = Object.keys(pids) as N[]
  const read = () => names.map((name) => usageOf(pids[name])?.cpu ?? Number.NaN)
  const before = read()
  const begun = performance.now()
  const result = await work()
  const seconds = (performance.now() - begun) / 1000
  const cpu = read().map((after, i) => [names[i], after - (before[i] ?? 0)])
  return { result, seconds, cpu: Object.fromEntries(cpu) }
}

/** A Node process that runs one of this project's scripts. */
export type Running = {
  pid: number
  /** Stops it with a signal and waits. */
  stop(): Promise<void>
}

/**
 * @param script A path from the root of this checkout, or the whole path in another one.
 * @param errors A file descriptor for its standard error; absent = that of this process.
 */
export function startScript(
  script: string,
  args: readonly string[],
  env: Record<string, string>,
  flags: readonly string[] = [],
  errors: number | 'inherit' = 'inherit',
): Running {
  const child = spawn(process.execPath, [...flags, pathOf(script), ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', errors],
  })
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      await ended(child)
    },
  }
}

/** Runs one of the benchmark's scripts to its end. @returns The JSON that it printed. */
export async function runScript<T>(script: string, argument: object): Promise<T> {
  const child = spawn(process.execPath, [pathOf(script), JSON.stringify(argument)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })
  await ended(child)
  if (child.exitCode !== 0) throw new Error(`${script} failed`)
  return JSON.parse(output)
}

/** @returns What a process with the preload of `probe.ts` measured since the last call. */
export async function probe<T>(pid: number, file: string): Promise<T> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(file)) await sleep(20)
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Waits until a GET of this address answers 200. */
export async function untilReady(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (ok) return
    if (tries === 3_000) throw new Error(`${url} did not become ready`)
    await sleep(20)
  }
}

export const ROOT = new URL('../..', import.meta.url).pathname
const pathOf = (script: string) => resolve(ROOT, script)

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('close', () => resolve())
  })
}
