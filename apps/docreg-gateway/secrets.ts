import { generateKeyPairSync, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Hex, toHex } from '#document/hex.ts'
import { ConfigError } from '#settings/config.ts'

/**
 * @param name The name of the file in `<dataDir>/secrets`.
 * @returns The 32 random bytes in the file. A missing file is created with mode 0600.
 */
export function ensureSecret(dataDir: string, name: string): Hex {
  const path = ensureFile(dataDir, name, () => `${toHex(randomBytes(32))}\n`)
  return readFileSync(path, 'utf8').trim() as Hex
}

/**
 * @returns The path of the file with the key that signs credentials. It is created if there is
 * none.
 */
export function ensureCredentialKey(dataDir: string): string {
  return ensureFile(dataDir, 'credential.pem', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  })
}

function ensureFile(dataDir: string, name: string, textOf: () => string): string {
  const folder = join(dataDir, 'secrets')
  const path = join(folder, name)
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeDurably(path, textOf())
  }
  return path
}

/**
 * @returns The issuer secrets of the data folder (one per line), the newest first. The first one is
 * created if there is none.
 * @throws {ConfigError} for a line that is not a secret.
 */
export function ensureIssuerSecrets(dataDir: string): [Hex, ...Hex[]] {
  const [newest, ...older] = ensureSecret(dataDir, 'issuer.secret').split(/\s+/)
  const secrets = [newest, ...older] as [Hex, ...Hex[]]
  if (secrets.every((secret) => /^0x[0-9a-f]{64}$/.test(secret))) return secrets
  throw new ConfigError([
    `${join(dataDir, 'secrets', 'issuer.secret')} must contain one secret per line, each 0x followed by 64 hexadecimal digits`,
  ])
}

/**
 * Writes a file that only its owner can read. It is renamed into place, so that a kill leaves a
 * whole file or none, and flushed, because without a secret nothing sealed can be opened.
 */
export function writeDurably(path: string, text: string): void {
  const next = `${path}.tmp`
  // A file that a kill left behind may be readable by others.
  rmSync(next, { force: true })
  const file = openSync(next, 'wx', 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  renameSync(next, path)
}
