import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '#scripts/cache-folder.ts'
import type { Available } from '../../faults/support/machine.ts'

const run = promisify(execFile)

export const EXAMPLES = new URL('../../../tools/examples/', import.meta.url).pathname
const REQUIREMENTS = join(EXAMPLES, 'requirements.txt')

/** A Python with the packages that the examples import. */
export const pythonOfExamples = () => pythonWith(REQUIREMENTS)

/**
 * A Python with some packages: a virtual environment in this user's cache folder, made once for
 * each version of Python and of the file that lists them.
 */
export async function pythonWith(requirements: string): Promise<Available<string>> {
  try {
    // Fails before 3.11.
    const check = 'import sys; assert sys.version_info >= (3, 11); print(sys.version)'
    const { stdout: version } = await run('python3', ['-c', check])
    const digest = createHash('sha256')
      .update(version)
      .update(readFileSync(requirements))
      .digest('hex')
    const folder = cacheFolder(`python-${digest.slice(0, 16)}`)
    if (!existsSync(folder)) await make(folder, requirements)
    return { value: join(folder, 'bin', 'python') }
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    const reason = stderr?.trim().split('\n').at(-1) || message
    return {
      missing: `needs Python 3.11 and the packages of ${requirements}: ${reason}`,
    }
  }
}

async function make(folder: string, requirements: string): Promise<void> {
  const fresh = `${folder}.${process.pid}`
  try {
    mkdirSync(dirname(folder), { recursive: true })
    await run('python3', ['-m', 'venv', fresh])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    await run(join(fresh, 'bin', 'python'), [...pip, '-r', requirements])
    // By rename, so that nobody uses an incomplete environment.
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    // Another process was faster.
    if (!existsSync(folder)) throw error
  }
}
