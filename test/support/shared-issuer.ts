import { Wallet } from 'ethers'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { startLocalChain } from '#local-chain/local-chain.ts'
import { ensureRegistry } from '#operate/local-registry.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { randomKey } from './stack.ts'
import { PERMISSION, transact } from './transact.ts'

/** A local chain with an issuer that has several accounts. */
export type SharedIssuer = {
  chain: { url: string; stop(): Promise<void> }
  provider: Eip1193Provider
  registry: RegistryId
  adminKey: Hex
  /** The keys of the accounts, which may issue and revoke. */
  keys: Hex[]
}

/** @param dataDir The folder of the chain. @param accounts The number of accounts. */
export async function startSharedIssuer(dataDir: string, accounts: number): Promise<SharedIssuer> {
  const adminKey = randomKey()
  const keys = Array.from({ length: accounts }, randomKey)
  const [first = '', ...others] = keys.map((key) => new Wallet(key).address)
  const chain = await startLocalChain({
    ...{ dataDir, port: 0, host: '127.0.0.1', log: () => {} },
    fund: [new Wallet(adminKey).address, first, ...others],
  })
  const provider = createFetchProvider(chain.url)
  const registry = await ensureRegistry(provider, adminKey, {
    ...{ account: first, name: 'Shared gateways', uri: 'https://shared.example' },
  })
  for (const account of others)
    await transact(provider, registry, adminKey, 'addAccount', [
      ...[1, account, PERMISSION.issue | PERMISSION.revoke],
    ])
  return { chain, provider, registry, adminKey, keys }
}
