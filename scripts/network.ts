import { JsonRpcProvider } from 'ethers'
import hre from 'hardhat'

/**
 * @param name Of hardhat.config.ts.
 * @returns A connection that only reads, and needs no key. The caller destroys it.
 */
export async function readNetwork(name: string): Promise<JsonRpcProvider> {
  const network = hre.config.networks[name]
  if (network?.type !== 'http') throw new Error(`hardhat.config.ts has no network ${name}`)
  return new JsonRpcProvider(await network.url.getUrl())
}
