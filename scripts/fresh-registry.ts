/**
 * Deploys a fresh registry with one issuer on Hardhat's own EVM, at the same addresses in every
 * run.
 */
import type { Signer } from 'ethers'
import hre from 'hardhat'

export const ISSUE = 1
export const REVOKE = 2
export const MANAGE = 4
export const DELEGATE = 8

/**
 * Issuer 1 has the accounts `manager` (index 0: MANAGE) and `issuer` (index 1).
 *
 * @param permissions The permissions of `issuer`.
 */
export async function freshRegistry(permissions = ISSUE | REVOKE) {
  const connection = await hre.network.create()
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
  await registry.registerIssuer(await manager.getAddress(), 'An issuer', 'https://issuer.example')
  await registry.connect(manager).addAccount(1, await issuer.getAddress(), permissions)
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
