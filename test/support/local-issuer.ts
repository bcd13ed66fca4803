import { Wallet } from 'ethers'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { startLocalChain } from '#local-chain/local-chain.ts'
import { ensureRegistry } from '#operate/local-registry.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { randomKey } from './given.ts'
import { PERMISSION, transact } from './transact.ts'

/** A local chain with issuer 1. */
export type LocalIssuer = {
  chain: { url: string; stop(): Promise<void> }
  provider: Eip1193Provider
  registry: RegistryId
  /** The key of the admin, who is also the issuer's MANAGE account. */
  adminKey: Hex
  /** The keys of the accounts, which may issue and revoke. */
  keys: [Hex, ...Hex[]]
}

/** @param dataDir The folder of the chain. @param accounts The number of accounts. */
export async function startLocalIssuer(dataDir: string, accounts = 1): Promise<LocalIssuer> {
  const adminKey = randomKey()
  const keys: [Hex, ...Hex[]] = [randomKey(), ...Array.from({ length: accounts - 1 }, randomKey)]
  const [account = '', ...others] = keys.map((key) => new Wallet(key).address)
  const chain = await startLocalChain({
    dataDir,
    port: 0,
    host: '127.0.0.1',
    log: () => {},
    fund: [new Wallet(adminKey).address, account, ...others],
  })
  const provider = createFetchProvider(chain.url)
  const registry = await ensureRegistry(provider, adminKey, {
    account,
    name: 'Registry office of Testville',
    uri: 'https://testville.example',
  })
  const may = PERMISSION.issue | PERMISSION.revoke
  for (const other of others)
    await transact(provider, registry, adminKey, 'addAccount', [1, other, may])
  return { chain, provider, registry, adminKey, keys }
}
