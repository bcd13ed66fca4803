/** A fresh registry on Hardhat's own EVM, with one issuer; the same addresses in every run. */
import type { Signer } from 'ethers'
import hre from 'hardhat'

export async function freshRegistry() {
  const connection = await hre.network.create()
  const { ethers } = connection
  const [admin, issuer, other] = (await ethers.getSigners()) as unknown as [
    Signer,
    Signer,
    Signer,
  ]
  const registry = await ethers.deployContract(
    'DocumentRegistry',
    [await admin.getAddress(), 0],
    admin,
  )
  await registry.registerIssuer(
    await issuer.getAddress(),
    'An issuer',
    'https://issuer.example',
  )
  return {
    connection,
    provider: ethers.provider,
    registry,
    admin,
    issuer,
    other,
  }
}
