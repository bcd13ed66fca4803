import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { AbiCoder, getCreateAddress, Interface, Wallet } from 'ethers'
import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import { formatRegistryId, type RegistryId } from '#document/registry-id.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'

const ARTIFACT = new URL(
  '../../artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json',
  import.meta.url,
)
const DAY = 86_400

/** Permissions of an account for an issuer; combined by addition. */
export const PERMISSION = { issue: 1, revoke: 2, manage: 4, delegate: 8 }

/**
 * Deploys a registry and registers issuer 1 in it.
 *
 * @param keys The keys of funded accounts. `manager` manages the issuer, `issuer` may issue and
 * revoke.
 * @returns The CAIP-10 account ID of the registry.
 */
export async function deployRegistry(
  provider: Eip1193Provider,
  keys: { admin: Hex; manager: Hex; issuer: Hex },
  issuer: { name: string; uri: string },
): Promise<RegistryId> {
  const registry = await deploy(provider, keys.admin)
  const manager = new Wallet(keys.manager).address
  await transact(provider, registry, keys.admin, 'registerIssuer', [
    manager,
    issuer.name,
    issuer.uri,
  ])
  await transact(provider, registry, keys.manager, 'addAccount', [
    1,
    new Wallet(keys.issuer).address,
    PERMISSION.issue | PERMISSION.revoke,
  ])
  return registry
}

async function deploy(provider: Eip1193Provider, key: Hex): Promise<RegistryId> {
  const { abi, bytecode } = JSON.parse(readFileSync(ARTIFACT, 'utf8'))
  const { address: from } = new Wallet(key)
  const { nonce } = await sendTransaction(provider, key, {
    data: bytecode + new Interface(abi).encodeDeploy([from, DAY]).slice(2),
  })
  const address = getCreateAddress({ from, nonce })
  const chainId = await provider.request({ method: 'eth_chainId' })
  return formatRegistryId(Number(chainId), address)
}

/** Sends a transaction to the registry and waits until it is in a block. Rejects if it fails. */
export async function transact(
  provider: Eip1193Provider,
  registry: string,
  key: Hex,
  name: string,
  args: unknown[],
): Promise<Hex> {
  const { address } = parseRegistry(registry)
  const data = registryAbi.encodeFunctionData(name, args)
  const sent = await sendTransaction(provider, key, {
    to: address,
    data,
  }).catch((cause) => {
    throw new Error(`${name} failed`, { cause })
  })
  return sent.hash
}

/**
 * Sets an issuer's name and URI to any bytes, because ethers encodes only UTF-8.
 *
 * @param key The key of the admin.
 */
export async function setTexts(
  provider: Eip1193Provider,
  registry: string,
  key: Hex,
  issuerId: number,
  { name, uri }: { name: Uint8Array; uri: Uint8Array },
): Promise<void> {
  const { address } = parseRegistry(registry)
  const selector = registryAbi.getFunction('updateIssuer')?.selector
  const types = ['uint32', 'bytes', 'bytes']
  const args = AbiCoder.defaultAbiCoder().encode(types, [issuerId, name, uri])
  await sendTransaction(provider, key, { to: address, data: `${selector}${args.slice(2)}` })
}

/** Signs a call, sends it and waits until it is in a block. Rejects if it fails. */
export async function sendTransaction(
  provider: Eip1193Provider,
  key: Hex,
  call: { to?: Hex; data: string },
): Promise<{ hash: Hex; nonce: number }> {
  const wallet = new Wallet(key)
  const request = <T>(method: string, ...params: unknown[]) =>
    provider.request({ method, params }) as Promise<T>
  const from = wallet.address
  const [chainId, nonce, gasLimit] = await Promise.all([
    request<Hex>('eth_chainId').then(Number),
    request<Hex>('eth_getTransactionCount', from, 'latest').then(Number),
    request<Hex>('eth_estimateGas', { from, ...call }).then(BigInt),
  ])
  const raw = await wallet.signTransaction({
    type: 2,
    chainId,
    nonce,
    gasLimit,
    ...call,
    maxPriorityFeePerGas: 1_000_000_000n,
    maxFeePerGas: 10_000_000_000n,
  })
  const hash = await request<Hex>('eth_sendRawTransaction', raw)
  // A busy Anvil accepts a transaction before its block exists.
  let receipt: { status: Hex } | null = null
  while (!receipt) {
    receipt = await request('eth_getTransactionReceipt', hash)
    if (!receipt) await sleep(5)
  }
  if (receipt.status !== '0x1') throw new Error(`${hash} failed`)
  return { hash, nonce }
}
