import { readFile } from 'node:fs/promises'
import { type CredentialKeys, readCredentialKeys } from '#credentials/keys.ts'
import { ConfigError } from '#settings/config.ts'

/** @throws {ConfigError} when the file cannot be read, or has no keys as they must be. */
export async function openCredentialKeys(path: string): Promise<CredentialKeys> {
  try {
    return await readCredentialKeys(await readFile(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConfigError([
      `CREDENTIAL_KEY_FILE ${code === undefined ? message : `cannot be read: ${code}`}`,
    ])
  }
}
