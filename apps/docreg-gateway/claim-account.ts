import { createRegistry, type RegistryPorts } from '#chain/registry.ts'
import type { Signer } from '#chain/signer.ts'
import type { Hex } from '#document/hex.ts'
import { lockAccount } from '#parts/account-lock.ts'
import { lockedSigner } from '#parts/accounts.ts'
import type { Identity } from '#parts/chain.ts'
import type { Config } from '#settings/config.ts'
import type { CommandDatabase } from '#store/commands.ts'
import { patiently } from './identity.ts'

/**
 * Claims an account of the settings for a command that sends transactions. No gateway can use it
 * meanwhile, and the command signs only as long as that holds.
 *
 * @param stops Receives the function that frees the account.
 * @returns Its signer, and the registry as seen through it.
 * @throws {IssueError} `account_shared` when gateways use all accounts.
 */
export async function claimAccount(
  { rpcUrls, finality, databaseUrl }: Config,
  { rpc, registry, issuerId, signer, otherSigners = [] }: Identity,
  database: CommandDatabase,
  { stops, say }: { stops: (() => Promise<void>)[]; say: (line: string) => void },
): Promise<RegistryPorts & { signer: Signer }> {
  const signers = new Map(
    [signer, ...otherSigners].map((one) => [one.address.toLowerCase() as Hex, one]),
  )
  const { account, lock } = await database.claimAccount([...signers.keys()])
  const own = signers.get(account) ?? signer
  const claimed = lockedSigner(own, lock)
  const { ports, genesis } = await patiently(async () => {
    const ports = await createRegistry(rpc, { registry, issuerId, signer: claimed, finality })
    return { ports, genesis: await ports.blocks.blockHash(0) }
  }, say)
  // Nothing else can reach a local chain in the data folder.
  if (databaseUrl === undefined && rpcUrls.length > 0)
    stops.unshift(await lockAccount({ registry, address: own.address, genesis }))
  return { ...ports, signer: claimed }
}
