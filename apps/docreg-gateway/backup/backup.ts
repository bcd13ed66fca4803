// Copies DATA_DIR as of one moment, whether the service runs or not.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Hex } from '#document/hex.ts'
import { copyChain } from '#local-chain/journal.ts'
import { readConfig, readDataDir } from '#settings/config.ts'
import { fingerprintsOf } from '#settings/secrets.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { KEYS_FILE } from '#store/drivers/sqlite/keys-file.ts'
import { fingerprintsIn } from '#store/drivers/sqlite/sqlite.ts'
import {
  BackupError,
  CHAIN_FOLDER,
  copyFiles,
  DATABASE_FILE,
  LIST_FILE,
  listOf,
  SECRETS_FOLDER,
} from './contents.ts'
import { askForBackup } from './control.ts'
import { dumpLines, newestBlock } from './dump-commands.ts'
import { syncAll } from './sync.ts'

/** The secrets that a backup contains; `left_out` = it was made without secrets. */
type Secrets = 'left_out' | 'none' | 'some' | 'all'

/** @throws {BackupError} when no backup can be made; nothing is left behind then. */
export async function backUp(to: string, withSecrets: boolean) {
  const dataDir = readDataDir(process.env)
  if (!existsSync(join(dataDir, DATABASE_FILE)))
    throw new BackupError(`there is no database in ${dataDir}: set DATA_DIR to that of the gateway`)
  if (existsSync(to)) throw new BackupError(`${to} already exists: name another folder`)
  const part = `${to}.part`
  rmSync(part, { recursive: true, force: true })
  mkdirSync(part, { recursive: true })
  try {
    const running = await askForBackup(dataDir, part)
    if (!running) await copyStopped(dataDir, part)
    await copyKeys(dataDir, part)
    if (withSecrets) copySecrets(dataDir, part)
    const files = await listOf(part)
    if (!files[DATABASE_FILE]) throw new BackupError(`the service did not copy ${DATABASE_FILE}`)
    const createdAt = new Date().toISOString()
    const list = { createdAt, block: running?.block ?? null, files }
    writeFileSync(join(part, LIST_FILE), `${JSON.stringify(list, null, 2)}\n`)
    syncAll(part)
    renameSync(part, to)
    syncAll(dirname(to), { recursive: false })
    const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0)
    return {
      folder: to,
      files: Object.keys(files).length,
      bytes,
      wasRunning: running !== undefined,
      secrets: secretsIn(to, withSecrets),
    }
  } catch (error) {
    rmSync(part, { recursive: true, force: true })
    throw error
  }
}

/** @returns Lines that explain how to back up PostgreSQL. */
export async function dumpCommands(): Promise<string[]> {
  const config = readConfig(process.env)
  return dumpLines(config.databaseUrl ?? '', config.erasureList, await newestBlock(config))
}

/** Holds the locks of a gateway, so that none starts during the copy. */
async function copyStopped(dataDir: string, to: string): Promise<void> {
  const database = openStopped(dataDir)
  try {
    const chain = join(dataDir, CHAIN_FOLDER)
    await database.copyTo(join(to, DATABASE_FILE), async () => {
      if (existsSync(chain)) await copyChain(chain, join(to, CHAIN_FOLDER))
    })
  } finally {
    await database.close()
  }
}

function openStopped(dataDir: string) {
  try {
    return openSqlite(join(dataDir, DATABASE_FILE))
  } catch (error) {
    if (!/locked/.test(String(error))) throw error
    throw new BackupError(
      `the gateway in ${dataDir} does not answer, or is issuing a batch: try again, or stop it`,
    )
  }
}

/** Any process may read the keys, also while the gateway runs. */
async function copyKeys(dataDir: string, to: string): Promise<void> {
  const path = join(dataDir, KEYS_FILE)
  if (!existsSync(path)) return
  const keys = new DatabaseSync(path)
  try {
    await backup(keys, join(to, KEYS_FILE))
  } finally {
    keys.close()
  }
}

function copySecrets(dataDir: string, to: string): void {
  const secrets = join(dataDir, SECRETS_FOLDER)
  if (!existsSync(secrets)) return
  const entries = readdirSync(secrets, { recursive: true, withFileTypes: true })
  const paths = entries.map(({ parentPath, name }) => relative(dataDir, join(parentPath, name)))
  copyFiles(
    dataDir,
    to,
    paths.filter((path) => statSync(join(dataDir, path)).isFile()),
  )
}

function secretsIn(backup: string, wanted: boolean): Secrets {
  if (!wanted) return 'left_out'
  if (!existsSync(join(backup, SECRETS_FOLDER))) return 'none'
  return holdsIssuerSecrets(backup) ? 'all' : 'some'
}

/** @returns Whether a backup contains every issuer secret with which its database was used. */
function holdsIssuerSecrets(backup: string): boolean {
  const path = join(backup, SECRETS_FOLDER, 'issuer.secret')
  if (!existsSync(path)) return false
  const lines = readFileSync(path, 'utf8').split(/\s+/)
  const held = fingerprintsOf(lines.filter((line): line is Hex => /^0x[0-9a-f]{64}$/.test(line)))
  // `immutable` keeps SQLite from creating files next to the database.
  const url = pathToFileURL(join(backup, DATABASE_FILE))
  url.searchParams.set('immutable', '1')
  const database = new DatabaseSync(url, { readOnly: true })
  try {
    return fingerprintsIn(database).every((known) => held.includes(known))
  } finally {
    database.close()
  }
}
