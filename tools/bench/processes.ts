import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Processor time in seconds and maximum memory in bytes; `undefined` without /proc. */
export type Usage = { cpu: number; peak: number }

/** Linux reports processor time in these units, whatever the kernel's clock. */
export const TICKS_A_SECOND = 100

export function usageOf(pid: number | undefined): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The fields after the name, which is in parentheses and may contain spaces: state is field 3,
    // utime 14, stime 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const cpu = (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
    return { cpu, peak }
  } catch {
    return undefined
  }
}

/** A Node process that runs one of this project's scripts. */
type Running = {
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

const ROOT = new URL('../..', import.meta.url).pathname
const pathOf = (script: string) => resolve(ROOT, script)

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('close', () => resolve())
  })
}
