// Tools that are published only as Go source. They are built once and kept outside the checkout.
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '#scripts/cache-folder.ts'

const run = promisify(execFile)

type GoTool = {
  module: string
  version: string
  /** The command's folder in the module; its last part is the name of the binary. */
  command: string
}

/**
 * Finds a tool in the cache folder of this user, or builds it there from the Go module proxy, with
 * the dependencies that its authors pinned.
 *
 * @returns As {@link findOrBuild}.
 */
export function goTool({ module, version, command }: GoTool): Promise<string | undefined> {
  const release = `${module.replaceAll('/', '-')}@${version}`
  return findOrBuild(release, command.split('/').at(-1) ?? command, async (output) => {
    const { stdout } = await run('go', ['mod', 'download', '-json', `${module}@${version}`])
    const { Dir } = JSON.parse(stdout)
    await build(output, Dir, command)
  })
}

/**
 * Finds a program of this repository in the cache folder, or builds it there.
 *
 * @param folder Has a `go.mod` and nothing but files.
 * @returns As {@link findOrBuild}.
 */
export function goProgram(folder: string): Promise<string | undefined> {
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
  const name = basename(folder)
  const release = `${name}@${hash('sha256', files.join('\0')).slice(0, 16)}`
  return findOrBuild(release, name, (output) => build(output, folder, '.'))
}

/**
 * @param release The name of the folder that the binary is kept in.
 * @param make Builds the binary at a path.
 * @returns The path of the binary; `undefined` on a machine that cannot build it, after printing
 * the reason.
 * @throws {Error} instead when `CI` is set, because CI must not skip tests.
 */
async function findOrBuild(
  release: string,
  name: string,
  make: (output: string) => Promise<void>,
): Promise<string | undefined> {
  const folder = cacheFolder(release)
  const binary = join(folder, name)
  if (existsSync(binary)) return binary
  try {
    mkdirSync(folder, { recursive: true })
    const fresh = `${binary}.${process.pid}`
    console.error(`building ${release}, once; this takes minutes`)
    await make(fresh)
    // The binary is renamed into place, so that nobody runs a half-written one.
    renameSync(fresh, binary)
    return binary
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    const reason = `${release} cannot be built: ${stderr?.trim().split('\n').at(-1) || message}`
    if (process.env.CI === 'true') throw new Error(reason, { cause: error })
    console.error(`skipped: ${reason}`)
    return undefined
  }
}

async function build(output: string, cwd: string, command: string): Promise<void> {
  const args = ['build', '-mod=readonly', '-trimpath', '-o', output, command]
  await run('go', args, { cwd, maxBuffer: 64 * 1024 * 1024 })
}
