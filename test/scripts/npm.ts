import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs the npm of this machine in a folder. @returns Its standard output. */
export async function npm(args: readonly string[], cwd: string): Promise<string> {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const { stdout } = await run('npm', [...args, ...quiet], { cwd })
  return stdout
}
