import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '#scripts/cache-folder.ts'

/** A version of an npm package. */
export type Published = {
  name: string
  version: string
  /** The archive's hash, from `npm view <name>@<version> dist.integrity`: `sha512-` and base64. */
  integrity: string
}

export const OPEN_ATTESTATION: Published = {
  name: '@govtechsg/document-store',
  version: '3.0.0',
  integrity:
    'sha512-RW13l0pCaxfWWuBjKR3he7ddMzz21I6Oh4R9uBN63/IrPq9yummFaEOKQw42izh01ybnoFng88D9uePwarLyhg==',
}

export const EAS: Published = {
  name: '@ethereum-attestation-service/eas-contracts',
  version: '1.9.0',
  integrity:
    'sha512-L60y1fgKlY3a45xxnPlgRbiGQY8RF/lF+AzF1iVoR7/aEzitS0Nuyyjq8+IXs1sSSU0dl2+yGSmELxVeB6FelA==',
}

/** How other projects anchor documents: one or several per transaction. */
export const PEERS = {
  issue: { of: OPEN_ATTESTATION, size: 1 },
  bulkIssue: { of: OPEN_ATTESTATION, size: 200 },
  timestamp: { of: EAS, size: 1 },
  multiTimestamp: { of: EAS, size: 200 },
  attest: { of: EAS, size: 1 },
  // The cap on a transaction's gas (EIP-7825) allows no more.
  multiAttest: { of: EAS, size: 100 },
} as const

export type PeerName = keyof typeof PEERS

// Packages whose contracts are measured. They are downloaded but not installed, because their
// dependencies (Hardhat, old OpenZeppelin contracts) are only for building them, and would bring
// deprecated packages into this project.
const run = promisify(execFile)

/**
 * Fetches a package's archive with npm, once for each user.
 *
 * @returns The folder with its files.
 * @throws {Error} when the registry cannot be reached or gives another archive.
 */
export async function fetchPublished({ name, version, integrity }: Published): Promise<string> {
  const folder = cacheFolder(`${name.replaceAll('/', '-')}@${version}`)
  const files = join(folder, 'package')
  if (existsSync(files)) return files
  const fresh = `${folder}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  try {
    const { stdout } = await run('npm', ['pack', '--silent', `${name}@${version}`], { cwd: fresh })
    const archive = join(fresh, stdout.trim())
    const digest = createHash('sha512').update(readFileSync(archive))
    if (`sha512-${digest.digest('base64')}` !== integrity)
      throw new Error('the archive changed while it was read')
    await run('tar', ['-xzf', archive, '-C', fresh, 'package'])
    rmSync(archive)
    // The folder is renamed into place, so that nobody reads an incomplete archive.
    renameSync(fresh, folder)
    return files
  } catch (cause) {
    throw new Error(
      `${name}@${version} cannot be fetched: ${cause instanceof Error ? cause.message.trim().split('\n').at(-1) : cause}`,
      { cause },
    )
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
