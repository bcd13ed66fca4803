// Packages whose contracts are measured. They are downloaded but not installed, because their
// dependencies (Hardhat, old OpenZeppelin contracts) are only for building them, and would bring
// deprecated packages into this project.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '#scripts/cache-folder.ts'
import type { Published } from './peers.ts'

const run = promisify(execFile)

/**
 * Fetches a package's archive with npm, once for each user.
 *
 * @returns The folder with its files.
 * @throws {Error} when the registry cannot be reached or gives another archive.
 */
export async function fetchPublished({ name, version, integrity }: Published): Promise<string> {
  const folder = cacheFolder(`${name.replaceAll('/', '-')}@${version}`)
  const files = join(folder, 'package')
  if (existsSync(files)) return files
  const fresh = `${folder}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  try {
    const { stdout } = await run('npm', ['pack', '--silent', `${name}@${version}`], { cwd: fresh })
    const archive = join(fresh, stdout.trim())
    const digest = createHash('sha512').update(readFileSync(archive))
    if (`sha512-${digest.digest('base64')}` !== integrity)
      throw new Error('the archive changed while it was read')
    await run('tar', ['-xzf', archive, '-C', fresh, 'package'])
    rmSync(archive)
    // The folder is renamed into place, so that nobody reads an incomplete archive.
    renameSync(fresh, folder)
    return files
  } catch (cause) {
    throw new Error(
      `${name}@${version} cannot be fetched: ${cause instanceof Error ? cause.message.trim().split('\n').at(-1) : cause}`,
      { cause },
    )
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
