/** The licences of what a package brings to its user. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Lock, nameOf, readLock, root } from './dependencies.ts'

/** Licences that ask for no more than their text. */
const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
  // Fonts; it does not reach the documents that are set in them.
  'OFL-1.1',
])

/** @returns A sentence for each package whose licence is not permissive, or unknown. */
export function refusedLicences(packages: Lock): string[] {
  return Object.entries(packages)
    .filter(([, { license }]) => license === undefined || !isPermissive(license))
    .map(
      ([path, { version, license }]) =>
        `${nameOf(path)} ${version} has the licence ${license || '(none)'}, which scripts/release/licences.ts does not allow`,
    )
}

/** @param expression In the form of SPDX; AND binds closer than OR. */
function isPermissive(expression: string): boolean {
  return expression
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((id) => PERMISSIVE.has(id)))
}

/**
 * @param what Whose packages these are.
 * @returns A list of the packages with their licences, and the texts that come with them.
 */
export function formatLicences(what: string, packages: Lock): string {
  const entries = Object.entries(packages)
  const list = entries.map(([path, one]) => `${nameOf(path)} ${one.version}: ${one.license}`)
  const byText = new Map<string, string[]>()
  for (const [path, { version }] of entries)
    for (const text of textsIn(join(root, path)))
      byText.set(text, [...(byText.get(text) ?? []), `${nameOf(path)} ${version}`])
  const texts = [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text}`)
  return [`${what}\n\n${list.join('\n')}\n`, ...texts].join(`\n${'-'.repeat(72)}\n\n`)
}

/** A package of another platform is in the lock file, and not installed. */
function textsIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    .sort()
    .map((name) => `${readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim()}\n`)
}

/** @returns Engine and fonts of certificates, which `docreg certificate` installs on first use. */
export function packsOfCertificates(): Lock {
  const folder = join(root, 'packages', 'certificates', 'packs')
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .flatMap((pack) => Object.entries(readLock(join(folder, pack))))
      .filter(([path]) => path !== ''),
  )
}
