import { type ChildProcess, fork, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from './compile-cache.ts'

/** The output and exit code of a process. */
export type Run = { code: number | null; stdout: string; stderr: string }

/** What a host is told; it has the program already. */
export type Call = { args: readonly string[] } & Required<RunOptions>

/** `isLast`: the command has ended its host. */
export type Answer = { run: Run; isLast: boolean }

type RunOptions = {
  /** The complete environment. */
  env?: Record<string, string>
  /** The working directory. */
  cwd?: string
  /** Its whole standard input. */
  stdin?: string | Uint8Array
}

/** The source file of the command. */
export const DOCREG = fileURLToPath(new URL('../../apps/docreg/docreg.ts', import.meta.url))

/** The source file of the operators' command. */
export const DOCREG_GATEWAY = fileURLToPath(
  new URL('../../apps/docreg-gateway/docreg-gateway.ts', import.meta.url),
)

/** Runs `docreg` as a process of its own. */
export function docregProcess(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  return run(process.execPath, [DOCREG, ...args], options)
}

type Host = { child: ChildProcess; isBusy: boolean }
/** By what `keyOf` says. They end with the process of the test. */
const hosts = new Map<string, Host>()
const HOST = fileURLToPath(new URL('./docreg-host.ts', import.meta.url))

/** Runs `docreg`. */
export const docreg = (args: readonly string[], options?: RunOptions) =>
  runHosted(DOCREG, args, options)

/** Runs `docreg-gateway`. */
export const docregGateway = (args: readonly string[], options?: RunOptions) =>
  runHosted(DOCREG_GATEWAY, args, options)

/** Runs a program in a process that has run it before, if there is one and nothing runs in it. */
async function runHosted(
  program: string,
  args: readonly string[],
  { env = {}, cwd = process.cwd(), stdin = '' }: RunOptions = {},
): Promise<Run> {
  const key = keyOf(program, args, env)
  const host = hosts.get(key) ?? startHost(key, program, env)
  if (host.isBusy) return run(process.execPath, [program, ...args], { env, cwd, stdin })
  host.isBusy = true
  const { child } = host
  try {
    const { run, isLast } = await new Promise<Answer>((resolve, reject) => {
      child.once('message', resolve)
      child.once('error', reject)
      child.once('exit', (code) => reject(new Error(`${program} ended with ${code} and no answer`)))
      child.send({ args, stdin, cwd, env: hermetic(env) } satisfies Call)
    })
    if (isLast) hosts.delete(key)
    return run
  } catch (error) {
    hosts.delete(key)
    throw error
  } finally {
    child.removeAllListeners()
    host.isBusy = false
  }
}

/** Hardhat and Node read their settings once. */
function keyOf(program: string, [command]: readonly string[], env: Record<string, string>): string {
  const isReadOnce = command === 'registry' || env.NODE_OPTIONS !== undefined
  return isReadOnce ? JSON.stringify([program, env]) : program
}

function startHost(key: string, program: string, env: Record<string, string>): Host {
  const child = fork(HOST, [program === DOCREG ? 'docreg' : 'docreg-gateway'], {
    env: hermetic(env),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
    serialization: 'advanced',
  })
  child.unref()
  child.channel?.unref()
  const host = { child, isBusy: false }
  hosts.set(key, host)
  return host
}

/** The settings that a developer's machine may have are excluded. */
const hermetic = (env: Record<string, string>) => ({
  ...COMPILE_CACHE,
  DOCREG_CONFIG: '/dev/null',
  ...env,
})

export function run(
  file: string,
  args: readonly string[],
  { env = {}, cwd, stdin = '' }: RunOptions = {},
): Promise<Run> {
  const child = spawn(file, args, { env: hermetic(env), cwd, stdio: 'pipe' })
  const result: Run = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    result.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    result.stderr += text
  })
  // The process may end before it reads its input.
  child.stdin.on('error', () => {}).end(stdin)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ ...result, code }))
  })
}
