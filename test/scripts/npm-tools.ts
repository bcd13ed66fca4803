// Programs from npm that only tests use, and that are too heavy for everybody's node_modules.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '#scripts/cache-folder.ts'
import { npm } from './npm.ts'

/** Newer versions of what the packages depend on are not installed. */
const BEFORE = '2026-11-20'

/**
 * Finds packages in the cache folder of this user, or installs them there with npm. No script of a
 * package is run.
 *
 * @param dependencies Exact versions by name.
 * @param overrides Versions that their own dependencies need, by name.
 * @returns Their `node_modules`; `undefined` where npm cannot install them, after printing the
 * reason.
 * @throws {Error} instead when `CI` is set, because CI must not skip tests.
 */
export async function npmTools(
  dependencies: Record<string, string>,
  overrides: Record<string, string> = {},
): Promise<string | undefined> {
  const manifest = JSON.stringify({ private: true, dependencies, overrides })
  const name = createHash('sha256').update(manifest).update(BEFORE).digest('hex').slice(0, 16)
  const folder = cacheFolder('npm', name)
  const modules = join(folder, 'node_modules')
  if (existsSync(modules)) return modules
  const tools = Object.entries(dependencies)
    .map((each) => each.join('@'))
    .join(', ')
  console.error(`installing ${tools}, once`)
  mkdirSync(cacheFolder('npm'), { recursive: true })
  const fresh = mkdtempSync(`${folder}-`)
  try {
    writeFileSync(join(fresh, 'package.json'), manifest)
    await npm(['install', '--ignore-scripts', '--before', BEFORE], fresh)
    // The folder is renamed into place, so that nobody uses half of it.
    renameSync(fresh, folder)
  } catch (error) {
    // Another process may have been faster.
    if (existsSync(modules)) return modules
    const reason = `npm cannot install ${tools}: ${(error as Error).message}`
    if (process.env.CI === 'true') throw new Error(reason, { cause: error })
    console.error(`skipped: ${reason}`)
    return undefined
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return modules
}
