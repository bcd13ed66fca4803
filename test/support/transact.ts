import { Interface, Wallet } from 'ethers'
import type { Hex } from '../../document/hex.ts'
import type { Eip1193Provider } from '../../verifier/ports.ts'
import { parseRegistry } from '../../verifier/readers/chain.ts'
import { registryAbi } from '../../verifier/readers/registry-abi.ts'

const abi = new Interface(registryAbi)

/** Sends one transaction to the registry and waits until it is in a block. Rejects when it does not succeed. */
export async function transact(
  provider: Eip1193Provider,
  registry: string,
  key: Hex,
  name: string,
  args: unknown[],
): Promise<Hex> {
  const { chainId, address } = parseRegistry(registry)
  const wallet = new Wallet(key)
  const request = <T>(method: string, ...params: unknown[]) =>
    provider.request({ method, params }) as Promise<T>
  const data = abi.encodeFunctionData(name, args)
  const raw = await wallet.signTransaction({
    type: 2,
    chainId,
    nonce: Number(
      await request<Hex>('eth_getTransactionCount', wallet.address, 'latest'),
    ),
    to: address,
    data,
    gasLimit: BigInt(
      await request<Hex>('eth_estimateGas', {
        from: wallet.address,
        to: address,
        data,
      }),
    ),
    maxPriorityFeePerGas: 1_000_000_000n,
    maxFeePerGas: 10_000_000_000n,
  })
  const hash = await request<Hex>('eth_sendRawTransaction', raw)
  const receipt = await request<{ status: Hex } | null>(
    'eth_getTransactionReceipt',
    hash,
  )
  if (receipt?.status !== '0x1') throw new Error(`${name} did not succeed`)
  return hash
}
