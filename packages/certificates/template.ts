import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CertificateError } from './errors.ts'

/** The templates that come with the command. */
export const TEMPLATES = ['diploma', 'permit', 'letter'] as const

// In the package, this code is in a file of another folder.
const ours = fileURLToPath(new URL('../../packages/certificates/templates/', import.meta.url))
const SHARED = ['lib.typ', 'main.typ']

/**
 * @param given One of {@link TEMPLATES}, or a folder.
 * @throws {CertificateError} `bad_template`
 */
export function findTemplate(given: string): string {
  const folder = (TEMPLATES as readonly string[]).includes(given) ? join(ours, given) : given
  if (!existsSync(join(folder, 'template.typ')) || !existsSync(join(folder, 'settings.json')))
    throw new CertificateError(
      'bad_template',
      `--template must be ${TEMPLATES.join(', ')}, or a folder with template.typ and settings.json`,
    )
  filesOf(folder)
  return folder
}

/**
 * @returns The paths of all files, in order.
 * @throws {CertificateError} `bad_template` for a link, which the engine would follow out of the
 * folder, so that the template of somebody else would print files of this user.
 */
function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) return []
    if (entry.isFile()) return [path]
    throw new CertificateError(
      'bad_template',
      `${path} is a link: replace it with a copy of the file`,
    )
  })
  return paths.sort()
}

/** Copies a template for an issuer to change. @throws {CertificateError} if the folder exists. */
export function copyTemplate(given: string, folder: string): void {
  if (existsSync(folder)) throw new CertificateError('bad_template', `${folder} already exists`)
  cpSync(findTemplate(given), folder, { recursive: true })
}

/**
 * @returns A mark for the keywords of a certificate, which differs after every change of the
 * template.
 */
export function markOf(folder: string): string {
  const hash = createHash('sha256')
  for (const name of SHARED) hash.update(readFileSync(join(ours, name)))
  for (const file of filesOf(folder))
    hash.update(file.slice(folder.length)).update(readFileSync(file))
  return `docreg-template-${hash.digest('hex').slice(0, 16)}`
}
