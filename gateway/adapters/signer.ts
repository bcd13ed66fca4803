import { readFile } from 'node:fs/promises'
import { computeAddress, decryptKeystoreJson, SigningKey, type TransactionLike } from 'ethers'
import type { Hex } from '../../document/hex.ts'
import { createFetchProvider } from '../../verifier/readers/json-rpc.ts'
import { ConfigError, type SignerSetting } from '../config.ts'
import { signEip1559 } from './eip1559.ts'
import { createRemoteSigner } from './remote-signer.ts'

/** An EIP-1559 transaction without a signature, every field given, so that whatever signs it fills in nothing. */
export type UnsignedTransaction = {
  type: 2
  chainId: number
  nonce: number
  to: Hex
  data: Hex
  gasLimit: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
} & TransactionLike

/** Signs for one account. */
export type Signer = {
  /** The account's address, with its checksum. */
  readonly address: string
  /** Rejects with an `IssueError` `signer_unavailable` when it is known that it could not sign. */
  assertReady(): Promise<void>
  /** @returns The signed bytes of exactly this transaction. Rejects with an `IssueError` `signer_unavailable`. */
  sign(transaction: UnsignedTransaction): Promise<Hex>
}

/** @param key The account's private key, 32 bytes. */
export function createKeySigner(key: Hex): Signer {
  const signingKey = new SigningKey(key)
  return {
    address: computeAddress(signingKey),
    assertReady: async () => {},
    sign: async (transaction) => signEip1559(signingKey, transaction),
  }
}

/**
 * @param timeout Milliseconds a remote signer may take.
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

/** An encrypted key as geth, Clef and ethers write it (Web3 Secret Storage, version 3). The password is the file's first line. */
async function openKeystore({
  path,
  passwordFile,
}: Extract<SignerSetting, { kind: 'keystore' }>): Promise<Hex> {
  const json = await read('ISSUER_KEYSTORE', path)
  const password = await read('ISSUER_KEYSTORE_PASSWORD_FILE', passwordFile)
  try {
    const [line = ''] = password.split(/\r?\n/)
    return (await decryptKeystoreJson(json, line)).privateKey as Hex
  } catch {
    // Without the cause: what failed to decrypt must not be quoted.
    throw new ConfigError([
      'ISSUER_KEYSTORE is no keystore, or ISSUER_KEYSTORE_PASSWORD_FILE does not open it',
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
