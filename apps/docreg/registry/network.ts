import { JsonRpcProvider, type Signer } from 'ethers'
import hre from 'hardhat'
import { InputError, UsageError } from '../errors.ts'

/**
 * @param name The name of a network in hardhat.config.ts.
 * @returns A connection that only reads and needs no key. The caller destroys it.
 */
export async function readNetwork(name: string): Promise<JsonRpcProvider> {
  const network = hre.config.networks[name]
  if (network?.type !== 'http') throw new UsageError(`hardhat.config.ts has no network ${name}`)
  const url = await network.url.getUrl()
  const provider = new JsonRpcProvider(url)
  try {
    // Otherwise ethers would retry forever.
    await provider._detectNetwork()
    return provider
  } catch (cause) {
    provider.destroy()
    throw new InputError('not_possible', `the node of network ${name} does not answer`, cause)
  }
}

type Connection = Awaited<ReturnType<typeof hre.network.create>>

/** @param name The name of a network in hardhat.config.ts. @returns The account of its key. */
export async function signerOf({ ethers }: Connection, name: string): Promise<Signer> {
  const signers = await ethers.getSigners().catch((cause) => {
    if (cause.name === 'HardhatError' || cause.code !== undefined) throw cause
    const problem = 'DEPLOYER_KEY must be 0x followed by 64 hexadecimal digits'
    throw new InputError('not_possible', `network ${name} has no account: ${problem}`, cause)
  })
  const [signer] = signers as unknown as [Signer | undefined]
  if (signer === undefined) throw new InputError('not_possible', `network ${name} has no account`)
  return signer
}
