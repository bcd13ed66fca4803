/**
 * `npm run backup -- <folder> [--without-secrets]`: copies `DATA_DIR` as it is at one moment, while the
 * service runs or while it is stopped.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openDatabase } from '../../gateway/adapters/database.ts'
import { readDataDir } from '../../gateway/config.ts'
import { tellCause } from '../identity.ts'
import { copyChain } from '../local-chain/copy.ts'
import { lock } from '../local-chain/lock.ts'
import {
  BackupError,
  CHAIN_FOLDER,
  DATABASE_FILE,
  KEYS_FILE,
  LIST_FILE,
  listOf,
  SECRETS_FOLDER,
} from './contents.ts'
import { askForBackup } from './control.ts'
import { syncAll } from './sync.ts'

const USAGE = 'npm run backup -- <folder> [--without-secrets]'
const say = (line: string) => console.log(line)

async function main(): Promise<void> {
  process.umask(0o077)
  const { to, withSecrets } = readArguments()
  const dataDir = readDataDir(process.env)
  if (!existsSync(join(dataDir, DATABASE_FILE)))
    throw new BackupError(`${dataDir} holds no documents: set DATA_DIR`)
  if (existsSync(to))
    throw new BackupError(`${to} is there already: name another folder`)
  const part = `${to}.part`
  rmSync(part, { recursive: true, force: true })
  mkdirSync(part, { recursive: true })
  try {
    const running = await askForBackup(dataDir, part)
    if (!running) await copyStopped(dataDir, part)
    const hasSecrets = copyRest(dataDir, part, withSecrets)
    const files = await listOf(part)
    const createdAt = new Date().toISOString()
    const list = { createdAt, block: running?.block ?? null, files }
    writeFileSync(join(part, LIST_FILE), `${JSON.stringify(list, null, 2)}\n`)
    syncAll(part)
    renameSync(part, to)
    syncAll(dirname(to), { recursive: false })
    const bytes = Object.values(files).reduce(
      (sum, file) => sum + file.bytes,
      0,
    )
    say(
      `${to}: ${Object.keys(files).length} files, ${bytes} bytes, ${running ? 'while the service runs' : 'of a stopped service'}`,
    )
    say(aboutSecrets(hasSecrets, withSecrets))
  } catch (error) {
    rmSync(part, { recursive: true, force: true })
    throw error
  }
}

function readArguments(): { to: string; withSecrets: boolean } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { 'without-secrets': { type: 'boolean', default: false } },
    })
    const [to, ...more] = positionals
    if (!to || more.length > 0) throw new Error(USAGE)
    return { to: resolve(to), withSecrets: !values['without-secrets'] }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(64)
  }
}

/** Under the locks of a service, so that none starts meanwhile. */
async function copyStopped(dataDir: string, to: string): Promise<void> {
  const database = openStopped(dataDir)
  try {
    const chain = join(dataDir, CHAIN_FOLDER)
    await database.copyTo(join(to, DATABASE_FILE), async () => {
      if (!existsSync(chain)) return
      const held = lock(chain)
      await copyChain(chain, join(to, CHAIN_FOLDER)).finally(held.release)
    })
  } finally {
    await database.close()
  }
}

function openStopped(dataDir: string) {
  try {
    return openDatabase(join(dataDir, DATABASE_FILE))
  } catch (error) {
    if (!/locked/.test(String(error))) throw error
    throw new BackupError(
      `a service is starting or stopping in ${dataDir}, or a batch is being issued: try again`,
    )
  }
}

/** @returns Whether the copy holds secrets. */
function copyRest(dataDir: string, to: string, withSecrets: boolean): boolean {
  const copied = [KEYS_FILE, ...(withSecrets ? [SECRETS_FOLDER] : [])].filter(
    (name) => existsSync(join(dataDir, name)),
  )
  for (const name of copied)
    cpSync(join(dataDir, name), join(to, name), { recursive: true })
  return copied.includes(SECRETS_FOLDER)
}

function aboutSecrets(hasSecrets: boolean, wanted: boolean): string {
  if (hasSecrets)
    return 'It holds the issuer secret and keys (secrets/): keep it as safe as the service, or use --without-secrets.'
  return wanted
    ? 'It holds no secrets: DATA_DIR has none. Keep those of the settings (ISSUER_SECRET, all of them) elsewhere: nothing can be restored without.'
    : 'It holds no secrets. Keep DATA_DIR/secrets and ISSUER_SECRET elsewhere: nothing can be restored without.'
}

main().catch((error) => {
  console.error(tellCause('back up', error))
  process.exit(1)
})
