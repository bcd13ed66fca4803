import { spawn } from 'node:child_process'

/** What the command wrote, and how it ended. */
export type Run = { code: number | null; stdout: string; stderr: string }

const DOCREG = new URL('../../cli/docreg.ts', import.meta.url).pathname

/**
 * Runs `docreg` as a process with an environment of its own.
 *
 * @param options.stdin What it reads, to its end.
 * @param options.program Another file than the source.
 */
export function docreg(
  args: readonly string[],
  options: {
    stdin?: string | Uint8Array
    env?: Record<string, string>
    program?: string
  } = {},
): Promise<Run> {
  const { stdin = '', env = {}, program = DOCREG } = options
  const child = spawn(process.execPath, [program, ...args], {
    env,
    stdio: 'pipe',
  })
  const run: Run = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    run.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    run.stderr += text
  })
  // It may end without having read.
  child.stdin.on('error', () => {}).end(stdin)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ ...run, code }))
  })
}
