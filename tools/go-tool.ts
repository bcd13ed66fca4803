// Tools that are published only as Go source. They are built once and kept outside the checkout.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
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
 * @returns The path of its binary; `undefined` on a machine that cannot build it, after printing
 * the reason.
 * @throws {Error} instead when `CI` is set, because CI must not skip tests.
 */
export async function goTool(tool: GoTool): Promise<string | undefined> {
  const folder = cacheFolder(`${tool.module.replaceAll('/', '-')}@${tool.version}`)
  const name = tool.command.split('/').at(-1) ?? tool.command
  const binary = join(folder, name)
  if (existsSync(binary)) return binary
  try {
    mkdirSync(folder, { recursive: true })
    const fresh = `${binary}.${process.pid}`
    await build(tool, fresh)
    // The binary is renamed into place, so that nobody runs a half-written one.
    renameSync(fresh, binary)
    return binary
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    const reason = `${tool.module} cannot be built: ${stderr?.trim().split('\n').at(-1) || message}`
    if (process.env.CI === 'true') throw new Error(reason, { cause: error })
    console.error(`skipped: ${reason}`)
    return undefined
  }
}

async function build({ module, version, command }: GoTool, output: string): Promise<void> {
  const { stdout } = await run('go', ['mod', 'download', '-json', `${module}@${version}`])
  console.error(`building ${module} ${version}, once; this takes minutes`)
  const { Dir } = JSON.parse(stdout)
  const args = ['build', '-mod=readonly', '-trimpath', '-o', output, command]
  await run('go', args, { cwd: Dir, maxBuffer: 64 * 1024 * 1024 })
}
