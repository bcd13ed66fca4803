import { readFileSync } from 'node:fs'
import { getCreateAddress, Interface, Wallet } from 'ethers'
import type { Hex } from '../document/hex.ts'
import type { Eip1193Provider } from '../verifier/ports.ts'

const ARTIFACT = new URL(
  '../artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json',
  import.meta.url,
)
/** Seconds that a change of admin takes on the local chain. */
const ADMIN_DELAY = 86_400

/**
 * Finds or makes the registry of a local chain, with the issuer registered in it. Each step is done once, however often this
 * is called and wherever it was cut off.
 *
 * @param adminKey Key of the account that deploys and administers; its first transaction is the deployment.
 * @returns The registry, CAIP-10, lower case.
 */
export async function ensureRegistry(
  provider: Eip1193Provider,
  adminKey: Hex,
  issuer: { account: string; name: string; uri: string },
): Promise<string> {
  const { abi, bytecode } = JSON.parse(readFileSync(ARTIFACT, 'utf8'))
  const registry = new Interface(abi)
  const admin = new Wallet(adminKey)
  const address = getCreateAddress({ from: admin.address, nonce: 0 })
  const request = <T>(method: string, ...params: unknown[]) =>
    provider.request({ method, params }) as Promise<T>

  const code = await request<Hex>('eth_getCode', address, 'latest')
  if (code === '0x')
    await transact({
      data:
        bytecode + registry.encodeDeploy([admin.address, ADMIN_DELAY]).slice(2),
    })
  const account = await request<Hex>(
    'eth_call',
    {
      to: address,
      data: registry.encodeFunctionData('accountOf', [issuer.account]),
    },
    'latest',
  )
  const [known] = registry.decodeFunctionResult('accountOf', account)
  if (known.issuerId === 0n)
    await transact({
      to: address,
      data: registry.encodeFunctionData('registerIssuer', [
        issuer.account,
        issuer.name,
        issuer.uri,
      ]),
    })
  const chainId = Number(await request<Hex>('eth_chainId'))
  return `eip155:${chainId}:${address.toLowerCase()}`

  async function transact(call: { to?: string; data: string }): Promise<void> {
    const [nonce, gas, chain, head] = await Promise.all([
      request<Hex>('eth_getTransactionCount', admin.address, 'latest'),
      request<Hex>('eth_estimateGas', { from: admin.address, ...call }),
      request<Hex>('eth_chainId'),
      request<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', 'latest', false),
    ])
    const raw = await admin.signTransaction({
      type: 2,
      chainId: Number(chain),
      nonce: Number(nonce),
      ...call,
      gasLimit: BigInt(gas),
      maxPriorityFeePerGas: 1n,
      maxFeePerGas: 2n * BigInt(head.baseFeePerGas) + 1n,
    })
    const hash = await request<Hex>('eth_sendRawTransaction', raw)
    // The local chain mines before it answers.
    const receipt = await request<{ status: Hex } | null>(
      'eth_getTransactionReceipt',
      hash,
    )
    if (receipt?.status !== '0x1')
      throw new Error(`transaction ${hash} did not succeed`)
  }
}
