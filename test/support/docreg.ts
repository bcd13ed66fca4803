import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What a process wrote, and how it ended. */
export type Run = { code: number | null; stdout: string; stderr: string }

type RunOptions = {
  /** All of its environment. */
  env?: Record<string, string>
  /** Where it runs. */
  cwd?: string
  /** What it reads, to its end. */
  stdin?: string | Uint8Array
}

/** The command's source. */
export const DOCREG = fileURLToPath(new URL('../../cli/docreg.ts', import.meta.url))

/** Runs `docreg` as a process. @param options.program Another file than the source. */
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
  const child = spawn(file, args, { env, cwd, stdio: 'pipe' })
  const result: Run = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    result.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    result.stderr += text
  })
  // It may end without having read.
  child.stdin.on('error', () => {}).end(stdin)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ ...result, code }))
  })
}
