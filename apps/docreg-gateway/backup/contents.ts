import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  mkdirSync,
  readdirSync,
  readFileSync,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import * as v from 'valibot'

// A backup is a folder with the files of a data folder and a list of them.

export const DATABASE_FILE = 'gateway.db'
export const CHAIN_FOLDER = 'chain'
export const SECRETS_FOLDER = 'secrets'
export const LIST_FILE = 'backup.json'

/** Thrown when a backup cannot be made or restored. The message says what to do. */
export class BackupError extends Error {
  override name = 'BackupError'
}

const listFile = v.object({
  /** A time in ISO 8601. */
  createdAt: v.string(),
  /**
   * The number of the chain's newest block before anything was copied; `null` for a stopped
   * gateway.
   */
  block: v.nullable(v.number()),
  /** The files by path, with `/` between folders. */
  files: v.record(v.string(), v.object({ bytes: v.number(), sha256: v.string() })),
})
export type BackupList = v.InferOutput<typeof listFile>

/**
 * @returns The files of a folder, without the list itself.
 * @throws {BackupError} for a link, or anything else that is neither a file nor a folder.
 */
export async function listOf(folder: string): Promise<BackupList['files']> {
  const files: BackupList['files'] = {}
  for (const path of pathsIn(folder))
    if (path !== LIST_FILE) {
      const hash = createHash('sha256')
      await pipeline(createReadStream(join(folder, path)), hash)
      const { size } = await stat(join(folder, path))
      files[path] = { bytes: size, sha256: hash.digest('hex') }
    }
  return files
}

/**
 * @returns The list of a backup, after its files have been checked. Secrets that were left out of
 * the backup may have been put back; the list then includes them.
 * @throws {BackupError} that names every difference.
 */
export async function readBackup(folder: string): Promise<BackupList> {
  const list = parseList(folder)
  const now = await listOf(folder)
  const isSecret = (path: string) => path.startsWith(`${SECRETS_FOLDER}/`)
  const hasSecrets = Object.keys(list.files).some(isSecret)
  const paths = new Set([...Object.keys(list.files), ...Object.keys(now)])
  const problems = [...paths].flatMap((path) => {
    if (!now[path]) return [`${path} is missing`]
    if (!list.files[path]) return !hasSecrets && isSecret(path) ? [] : [`${path} is not listed`]
    const same = now[path].sha256 === list.files[path].sha256
    return same ? [] : [`${path} was changed`]
  })
  if (problems.length > 0) throw new BackupError(`${folder} was changed: ${problems.join('; ')}`)
  return { ...list, files: now }
}

function parseList(folder: string): BackupList {
  try {
    const text = readFileSync(join(folder, LIST_FILE), 'utf8')
    return v.parse(listFile, JSON.parse(text))
  } catch (cause) {
    throw new BackupError(
      `${folder} is not a backup: ${LIST_FILE} cannot be read. Name a folder that docreg-gateway backup wrote`,
      { cause },
    )
  }
}

/**
 * Copies files into an existing folder. Only this user can read the copies. A link is copied as the
 * file to which it points.
 *
 * @param paths Paths in both folders, with `/` between folders.
 */
export function copyFiles(from: string, to: string, paths: readonly string[]): void {
  for (const path of paths) {
    const copy = join(to, path)
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 })
    copyFileSync(join(from, path), copy)
    chmodSync(copy, 0o600)
  }
}

function pathsIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      if (!entry.isFile()) throw new BackupError(`${path} is not a file`)
      return relative(folder, path).split(sep).join('/')
    })
    .sort()
}
