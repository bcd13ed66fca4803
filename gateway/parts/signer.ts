import { readFile } from 'node:fs/promises'
import { createRemoteSigner } from '#chain/remote-signer.ts'
import type { Signer } from '#chain/signer.ts'
import { createKeySigner } from '#chain/signer.ts'
import type { Hex } from '#document/hex.ts'
import { ConfigError } from '#settings/config.ts'
import type { SignerSetting } from '#settings/signer.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { type CredentialKeys, readCredentialKeys } from './credential-keys.ts'

/**
 * @param timeout The milliseconds that a remote signer may take.
 * @throws {ConfigError} when the keystore cannot be opened.
 */
export async function openSigner(setting: SignerSetting, timeout: number): Promise<Signer> {
  switch (setting.kind) {
    case 'key':
      return createKeySigner(setting.key)
    case 'keystore':
      return createKeySigner(await openKeystore(setting))
    case 'remote':
      return createRemoteSigner(createFetchProvider(setting.url, timeout), setting.address)
  }
}

/**
 * Opens an encrypted key as written by geth, Clef and ethers (Web3 Secret Storage, version 3). The
 * password is the first line of its file.
 */
async function openKeystore({
  path,
  passwordFile,
}: Extract<SignerSetting, { kind: 'keystore' }>): Promise<Hex> {
  const json = await read('ISSUER_KEYSTORE', path)
  const password = await read('ISSUER_KEYSTORE_PASSWORD_FILE', passwordFile)
  const { decryptKeystoreJson } = await import('ethers/wallet')
  try {
    const [line = ''] = password.split(/\r?\n/)
    return (await decryptKeystoreJson(json, line)).privateKey as Hex
  } catch {
    // The cause is omitted, because what failed to decrypt must not be quoted.
    throw new ConfigError([
      'ISSUER_KEYSTORE is not a keystore, or ISSUER_KEYSTORE_PASSWORD_FILE has the wrong password',
    ])
  }
}

async function read(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError([`${name} cannot be read: ${code}`])
  }
}

/** @throws {ConfigError} when the file cannot be read, or has no keys as they must be. */
export async function openCredentialKeys(path: string): Promise<CredentialKeys> {
  const text = await read('CREDENTIAL_KEY_FILE', path)
  return readCredentialKeys(text).catch(({ code, message }: NodeJS.ErrnoException) => {
    throw new ConfigError([
      `CREDENTIAL_KEY_FILE ${code === undefined ? message : `cannot be read: ${code}`}`,
    ])
  })
}
