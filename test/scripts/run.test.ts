import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The pinned Node, which can become another process, and an older one that cannot. */
const outside = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find((path) => existsSync(path) && !canExecve(path))
const nodes = outside ? [process.execPath, outside] : [process.execPath]

function canExecve(node: string): boolean {
  const { stdout } = spawnSync(node, ['-p', 'typeof process.execve'], { encoding: 'utf8' })
  return stdout.trim() === 'function'
}

type Ended = { code: number | null; signal: NodeJS.Signals | null; output: string }

/**
 * Runs code, and does something once it has printed `ready`.
 *
 * @param options Of the runner's own Node.
 */
function run(
  node: string,
  code: string,
  act?: (pid: number) => void,
  options: string[] = [],
): Promise<Ended> {
  const runner = [...options, 'scripts/run.mjs']
  const child = spawn(node, [...runner, '--stack-trace-limit=7', '-e', code, '--', 'x'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
    if (output.includes('ready')) act?.(child.pid ?? Number.NaN)
  })
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, output }))
  })
}

describe.each(nodes)('by %s', (node) => {
  test('runs on the pinned Node, with its options and arguments', async () => {
    const { output, code } = await run(
      node,
      'console.log(process.version, Error.stackTraceLimit, process.argv.at(-1))',
    )
    expect(output.trim()).toBe(`${process.version} 7 x`)
    expect(code).toBe(0)
  })

  test('the exit code is that of the script', async () => {
    expect((await run(node, 'process.exit(64)')).code).toBe(64)
  })

  test('a script that a signal ends ends the runner in the same way', async () => {
    const { signal } = await run(node, 'process.kill(process.pid, "SIGKILL")')
    expect(signal).toBe('SIGKILL')
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'passes %s to the script, which decides what to do',
    async (signal) => {
      expect(await runAndSignal(node, signal)).toEqual(STOPPED)
    },
  )
})

test.runIf(outside)('passes a signal to a script that was faster than the runner', async () => {
  const ended = await runAndSignal(outside ?? '', 'SIGTERM', ['--import', SLOW_AFTER_SPAWN])
  expect(ended).toEqual(STOPPED)
})

const STOPPED: Ended = { code: 3, signal: null, output: 'ready\nstopped\n' }

/** Stops the runner's Node for a second after it has started the script, as a busy machine may. */
const SLOW_AFTER_SPAWN = `data:text/javascript,${encodeURIComponent(`
  import childProcess from 'node:child_process'
  import { syncBuiltinESMExports } from 'node:module'
  const { spawn } = childProcess
  childProcess.spawn = (...args) => {
    const child = spawn(...args)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
    return child
  }
  syncBuiltinESMExports()`)}`

/** Runs a script that stops when it gets the signal, and sends it to the runner. */
function runAndSignal(node: string, signal: NodeJS.Signals, options?: string[]): Promise<Ended> {
  const script = `
    process.on('${signal}', () => { console.log('stopped'); process.exit(3) })
    console.log('ready')
    setTimeout(() => {}, 20_000)`
  let sent = false
  const act = (pid: number) => {
    if (!sent) process.kill(pid, signal)
    sent = true
  }
  return run(node, script, act, options)
}

test('the pinned Node replaces the script, so that kill -9 leaves nothing behind', async () => {
  let pid = 0
  const { output } = await run(
    process.execPath,
    'console.log(process.pid, "ready"); setTimeout(() => {}, 20_000)',
    (started) => {
      pid = started
      process.kill(started, 'SIGKILL')
    },
  )
  expect(output.trim()).toBe(`${pid} ready`)
})
