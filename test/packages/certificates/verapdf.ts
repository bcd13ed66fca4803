import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '#scripts/cache-folder.ts'

const run = promisify(execFile)
const VERSION = '1.28.2'
const MAIN = 'org.verapdf.apps.GreenfieldCliWrapper'

/**
 * Finds veraPDF, the validator of PDF/A, or fetches it with Maven.
 *
 * @returns The path of its jar; `undefined` on a machine without Java or Maven, after printing the
 * reason.
 * @throws {Error} instead when `CI` is set, because CI must not skip tests.
 */
export async function findVeraPdf(): Promise<string | undefined> {
  const folder = cacheFolder('verapdf')
  const jar = join(folder, `greenfield-apps-${VERSION}.jar`)
  try {
    await run('java', ['-version'])
    if (existsSync(jar)) return jar
    mkdirSync(folder, { recursive: true })
    const artifact = `org.verapdf.apps:greenfield-apps:${VERSION}`
    await run('mvn', [
      '-q',
      '-B',
      'dependency:copy',
      `-Dartifact=${artifact}`,
      `-DoutputDirectory=${folder}`,
    ])
    return jar
  } catch (error) {
    const reason = `veraPDF needs Java and Maven: ${(error as Error).message.split('\n')[0]}`
    if (process.env.CI === 'true') throw new Error(reason, { cause: error })
    console.error(`skipped: ${reason}`)
    return undefined
  }
}

/** @returns The lines of veraPDF for files that are not PDF/A-3a. */
export async function problemsOfPdfs(jar: string, files: readonly string[]): Promise<string[]> {
  const args = ['-cp', jar, MAIN, '-f', '3a', '--format', 'text', '-v', ...files]
  const { stdout } = await run('java', args).catch((error) => error)
  const lines = String(stdout).trim().split('\n')
  const passed = lines.filter((line) => line.startsWith('PASS'))
  return passed.length === files.length ? [] : lines.filter((line) => !line.startsWith('PASS'))
}
