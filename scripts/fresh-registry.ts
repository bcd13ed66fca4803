/** Deploys a fresh registry with one issuer, at the same addresses in every run. */
import { type ContractTransactionResponse, HDNodeWallet, type Signer } from 'ethers'
import hre from 'hardhat'

export const ISSUE = 1
export const REVOKE = 2
export const MANAGE = 4
export const DELEGATE = 8

/** Hardhat's own. */
const ACCOUNTS = {
  mnemonic: 'test test test test test test test test test test test junk',
  path: "m/44'/60'/0'/0",
  initialIndex: 0,
  count: 5,
  passphrase: '',
}

/**
 * Issuer 1 has the accounts `manager` (index 0: MANAGE) and `issuer` (index 1).
 *
 * @param permissions The permissions of `issuer`.
 * @param url A node on which Hardhat's default accounts are funded; absent = Hardhat's own EVM.
 */
export async function freshRegistry(permissions = ISSUE | REVOKE, url?: string) {
  const connection = await hre.network.create(url === undefined ? undefined : nodeAt(url))
  const { ethers } = connection
  const [admin, manager, issuer, other, thief] = (await ethers.getSigners()) as unknown as [
    Signer,
    Signer,
    Signer,
    Signer,
    Signer,
  ]
  const registry = await ethers.deployContract(
    'DocumentRegistry',
    [await admin.getAddress(), 86_400],
    admin,
  )
  await registry.waitForDeployment()
  await mined(
    registry.registerIssuer(await manager.getAddress(), 'An issuer', 'https://issuer.example'),
  )
  await mined(registry.connect(manager).addAccount(1, await issuer.getAddress(), permissions))
  return {
    connection,
    provider: ethers.provider,
    registry,
    admin,
    manager,
    issuer,
    other,
    thief,
  }
}

/** Waits for the block of a transaction, because geth answers before it has made that. */
export async function mined(sent: Promise<ContractTransactionResponse>) {
  return (await sent).wait()
}

const nodeAt = (url: string) => ({ network: 'custom', override: { url, accounts: ACCOUNTS } })

/** @returns The addresses of the accounts that `freshRegistry` uses. */
export function payers(): string[] {
  const { mnemonic, path, count } = ACCOUNTS
  return Array.from(
    { length: count },
    (_, i) => HDNodeWallet.fromPhrase(mnemonic, '', `${path}/${i}`).address,
  )
}
