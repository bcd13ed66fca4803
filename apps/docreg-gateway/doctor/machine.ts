import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import type { Config } from '#settings/config.ts'
import { type Finding, fail, ok, reasonOf, warn } from './finding.ts'

const MIN_NODE = 20
const GIGABYTE = 1e9
/** The free space of the disk, in bytes, that counts as low or as none. */
const [LOW_SPACE, NO_SPACE] = [5 * GIGABYTE, 0.2 * GIGABYTE]

export function checkNode(version = process.versions.node): Finding {
  const isNew = Number(version.split('.')[0]) >= MIN_NODE
  if (isNew) return ok('node', `Node ${version}`)
  return fail('node', `Node ${version} is too old`, `install Node ${MIN_NODE} or newer`)
}

/** Checks the data folder without changing anything in it. */
export async function checkFolder(config: Config): Promise<Finding[]> {
  const { dataDir, erasureList } = config
  const folder = existingParent(dataDir)
  const findings: Finding[] = []
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    findings.push(
      folder === dataDir
        ? ok('folder', `${dataDir} can be written`)
        : ok('folder', `${dataDir} does not exist yet; the first start creates it`),
    )
  } catch (error) {
    findings.push(
      fail(
        'folder',
        `${folder} cannot be written: ${reasonOf(error)}`,
        'let the user of the gateway write to it',
      ),
    )
  }
  if (folder === dataDir && process.platform !== 'win32' && (statSync(dataDir).mode & 0o077) !== 0)
    findings.push(
      warn('folder', `other users of this machine can read ${dataDir}`, `run chmod 700 ${dataDir}`),
    )
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const gigabytes = `${(free / GIGABYTE).toFixed(1)} GB are free`
  if (free < NO_SPACE)
    findings.push(fail('disk', gigabytes, 'free some space: issuing stops when the disk is full'))
  else if (free < LOW_SPACE) findings.push(warn('disk', gigabytes, 'free some space, or watch it'))
  else findings.push(ok('disk', gigabytes))
  if (`${erasureList}${sep}`.startsWith(`${dataDir}${sep}`))
    findings.push(
      warn(
        'erasures',
        'the list of erasures is inside DATA_DIR, and would be lost with it',
        'set ERASURE_LIST to a file elsewhere',
      ),
    )
  return findings
}

function existingParent(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingParent(dirname(path))
}
