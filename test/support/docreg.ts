import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from './compile-cache.ts'

/** The output and exit code of a process. */
export type Run = { code: number | null; stdout: string; stderr: string }

type RunOptions = {
  /** The complete environment. */
  env?: Record<string, string>
  /** The working directory. */
  cwd?: string
  /** Its whole standard input. */
  stdin?: string | Uint8Array
}

/** The source file of the command. */
export const DOCREG = fileURLToPath(new URL('../../cli/docreg.ts', import.meta.url))

/** The source file of the operators' command. */
export const DOCREG_GATEWAY = fileURLToPath(
  new URL('../../operate/docreg-gateway.ts', import.meta.url),
)

/** Runs `docreg` as a process. @param options.program Replaces the source file. */
export function docreg(
  args: readonly string[],
  { program = DOCREG, ...options }: RunOptions & { program?: string } = {},
): Promise<Run> {
  return run(process.execPath, [program, ...args], options)
}

export function run(
  file: string,
  args: readonly string[],
  { env = {}, cwd, stdin = '' }: RunOptions = {},
): Promise<Run> {
  // The settings that a developer's machine may have are excluded.
  const hermetic = { ...COMPILE_CACHE, DOCREG_CONFIG: '/dev/null', ...env }
  const child = spawn(file, args, { env: hermetic, cwd, stdio: 'pipe' })
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
