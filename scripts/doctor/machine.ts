import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { shortFingerprint } from '../../gateway/adapters/binding.ts'
import { fingerprintsIn } from '../../gateway/adapters/sqlite/binding.ts'
import { SCHEMA_VERSION } from '../../gateway/adapters/sqlite/schema.ts'
import type { Config } from '../../gateway/config.ts'
import { fingerprintsOf } from '../../gateway/secrets.ts'
import { type Finding, fail, ok, reasonOf, warn } from './finding.ts'

const MIN_NODE = 20
const GIGABYTE = 1e9
/** Free space of the disk, in bytes. */
const [LOW_SPACE, NO_SPACE] = [5 * GIGABYTE, 0.2 * GIGABYTE]

export function checkNode(version = process.versions.node): Finding {
  const isNew = Number(version.split('.')[0]) >= MIN_NODE
  if (isNew) return ok('node', `Node ${version}`)
  return fail('node', `Node ${version} is too old`, `install Node ${MIN_NODE} or newer`)
}

/** Looks at the data folder, and changes nothing in it. */
export async function checkFolder(config: Config): Promise<Finding[]> {
  const { dataDir, erasureList } = config
  const folder = existingParent(dataDir)
  const findings: Finding[] = []
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    findings.push(
      folder === dataDir
        ? ok('folder', `${dataDir} can be written`)
        : ok('folder', `${dataDir} does not exist yet; the first start makes it`),
    )
  } catch (error) {
    findings.push(
      fail(
        'folder',
        `${folder} cannot be written: ${reasonOf(error)}`,
        'give its user the right to',
      ),
    )
  }
  if (folder === dataDir && process.platform !== 'win32' && (statSync(dataDir).mode & 0o077) !== 0)
    findings.push(
      warn('folder', `others on this machine may read ${dataDir}`, `chmod 700 ${dataDir}`),
    )
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const gigabytes = `${(free / GIGABYTE).toFixed(1)} GB are free`
  if (free < NO_SPACE) findings.push(fail('disk', gigabytes, 'make room: issuing stops without it'))
  else if (free < LOW_SPACE) findings.push(warn('disk', gigabytes, 'make room, or watch it'))
  else findings.push(ok('disk', gigabytes))
  if (`${erasureList}${sep}`.startsWith(`${dataDir}${sep}`))
    findings.push(
      warn(
        'erasures',
        'the list of erasures is inside DATA_DIR, and lost with it',
        'set ERASURE_LIST to a file elsewhere',
      ),
    )
  return [...findings, ...checkDatabase(config)]
}

function checkDatabase({ dataDir, issuerSecrets }: Config): Finding[] {
  const path = join(dataDir, 'gateway.db')
  if (!existsSync(path)) return [ok('database', 'there is none yet')]
  let sqlite: DatabaseSync | undefined
  try {
    sqlite = new DatabaseSync(path, { readOnly: true })
    const version = Number(sqlite.prepare('PRAGMA user_version').get()?.user_version)
    if (version !== SCHEMA_VERSION)
      return [
        fail(
          'database',
          `it has the format ${version}, this version's is ${SCHEMA_VERSION}`,
          'start the version that wrote it, or name another DATA_DIR',
        ),
      ]
    const known = fingerprintsIn(sqlite)
    const configured = issuerSecrets ? fingerprintsOf(issuerSecrets) : known
    const missing = known.filter((one) => !configured.includes(one))
    if (missing.length > 0)
      return [
        fail(
          'database',
          `ISSUER_SECRET lacks the secret with the fingerprint ${missing.map(shortFingerprint).join(', ')}`,
          'add it, or the documents that it sealed cannot be opened',
        ),
      ]
    return [ok('database', `format ${version}, and all of its issuer secrets are configured`)]
  } catch (error) {
    return [
      fail('database', `it cannot be read: ${reasonOf(error)}`, 'restore a backup, or run recover'),
    ]
  } finally {
    sqlite?.close()
  }
}

function existingParent(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingParent(dirname(path))
}
