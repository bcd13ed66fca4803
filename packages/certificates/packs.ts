import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CertificateError } from './errors.ts'

const run = promisify(execFile)

/**
 * The PDF engine and fonts are installed on first use, because most users never need their 75 MB.
 */
export const PACKS = ['base', 'chinese', 'chinese-traditional', 'japanese', 'korean'] as const
export type Pack = (typeof PACKS)[number]

const MODULES = 'node_modules'
const MANIFESTS = ['package.json', 'package-lock.json']
// In the package, this code is in a file of another folder.
const packs = fileURLToPath(new URL('../../packages/certificates/packs/', import.meta.url))

/**
 * Finds a pack in the cache of this user, or installs it there with npm, in the versions and with
 * the hashes of its lock file. No script of a package is run.
 *
 * @param cache The folder of the packs.
 * @param report Called before an installation, which takes seconds to a minute; absent = nothing is
 * installed.
 * @returns The folder of its packages, `node_modules`.
 * @throws {CertificateError} `no_engine`; `fonts_missing` for fonts of one script that are not
 * installed.
 */
export async function findPack(
  name: Pack,
  cache: string,
  report?: (message: string) => void,
): Promise<string> {
  const folder = folderOf(name, cache)
  const modules = join(folder, MODULES)
  if (existsSync(modules)) return modules
  if (report === undefined)
    throw name === 'base'
      ? new CertificateError('no_engine', `${nameOf(name)} are not installed in ${cache}`)
      : new CertificateError(
          'fonts_missing',
          `${nameOf(name)} are not installed: docreg-gateway certificates --all installs them`,
        )
  report(`installing ${nameOf(name)}, once, in ${cache}`)
  mkdirSync(cache, { recursive: true })
  const fresh = mkdtempSync(join(cache, '.installing-'))
  try {
    for (const file of MANIFESTS) copyFileSync(join(packs, name, file), join(fresh, file))
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: fresh,
      shell: process.platform === 'win32',
    })
    // The folder is renamed into place, so that nobody uses half a pack.
    renameSync(fresh, folder)
  } catch (cause) {
    // Another process may have been faster.
    if (existsSync(modules)) return modules
    throw new CertificateError(
      'no_engine',
      `npm cannot install ${nameOf(name)}: ${reasonOf(cause)}`,
      cause,
    )
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return modules
}

/** Whether a pack is in the cache. */
export function isInstalled(name: Pack, cache: string): boolean {
  return existsSync(join(folderOf(name, cache), MODULES))
}

function folderOf(name: Pack, cache: string): string {
  const hash = createHash('sha256')
  for (const file of MANIFESTS) hash.update(readFileSync(join(packs, name, file)))
  return join(cache, `${name}-${hash.digest('hex').slice(0, 16)}`)
}

/** @returns The folder of packs, outside of checkouts. */
export function packCache(env: NodeJS.ProcessEnv): string {
  const base = env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(base, 'document-registry', 'certificates')
}

/** What people write that the fonts of a pack cover. */
export const COVERED: Record<Pack, readonly string[]> = {
  base: [
    'Latin',
    'Greek',
    'Cyrillic',
    'Arabic',
    'Hebrew',
    'Devanagari',
    'Bengali',
    'Tamil',
    'Thai',
  ],
  chinese: ['Chinese'],
  'chinese-traditional': ['traditional Chinese'],
  japanese: ['Japanese'],
  korean: ['Korean'],
}

const nameOf = (pack: Pack) =>
  pack === 'base' ? 'the PDF engine and its fonts' : `the fonts for ${COVERED[pack]}`

function reasonOf(cause: unknown): string {
  const { stderr = '', message = '' } = cause as { stderr?: string; message?: string }
  return stderr.trim().split('\n')[0] || message
}

/**
 * @param languages The languages of the template, which decide the shapes of Han characters.
 * @param text All text of a certificate.
 * @returns The packs that its characters need, in the order in which fonts are searched.
 */
export function packsFor(languages: readonly string[], text: string): Pack[] {
  const ofLanguages = languages.flatMap((tag) => {
    const { language, script, region } = new Intl.Locale(tag)
    if (language === 'ja') return ['japanese' as const]
    if (language === 'ko') return ['korean' as const]
    if (language !== 'zh') return []
    const isTraditional = script === 'Hant' || ['TW', 'HK', 'MO'].includes(region ?? '')
    return [isTraditional ? ('chinese-traditional' as const) : ('chinese' as const)]
  })
  const ofText: Pack[] = []
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) ofText.push('japanese')
  if (/\p{Script=Hangul}/u.test(text)) ofText.push('korean')
  // This pack is the widest, with all characters of Unicode's first Han block.
  if (/\p{Script=Han}/u.test(text)) ofText.push('chinese')
  return [...new Set<Pack>(['base', ...ofLanguages, ...ofText])]
}
