import { Wallet } from 'ethers'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { type AnvilNode, startAnvilNode } from './anvil.ts'
import { settingsOf } from './gateway-process.ts'
import { randomKey } from './given.ts'
import { patient } from './patient.ts'
import { deployRegistry } from './transact.ts'

/** Issuer 1 on a chain that the gateway does not run. */
export type RemoteIssuer = {
  anvil: AnvilNode
  provider: Eip1193Provider
  registry: RegistryId
  keys: { admin: Hex; manager: Hex; issuer: Hex }
  /** @returns A key with ether. */
  fundedKey(): Promise<Hex>
  /** The settings of its gateway, without `PORT`, `DATA_DIR` and `ISSUER_KEY`. */
  env: Record<string, string>
}

/** @param options, finality The same as in {@link startAnvilNode}. */
export async function startRemoteIssuer(
  folder: string,
  options: readonly string[],
  finality: number,
): Promise<RemoteIssuer> {
  const anvil = await startAnvilNode(folder, options, finality)
  const fundedKey = async () => {
    const key = randomKey()
    await anvil.request('anvil_setBalance', new Wallet(key).address, '0x56bc75e2d63100000')
    return key
  }
  const [admin, manager, key] = [await fundedKey(), await fundedKey(), await fundedKey()]
  const keys = { admin, manager, issuer: key }
  const provider = patient(createFetchProvider(anvil.url))
  const registry = await deployRegistry(provider, keys, { name: 'One', uri: '' })
  const env = settingsOf(anvil.url, registry)
  return { anvil, provider, registry, keys, fundedKey, env }
}
