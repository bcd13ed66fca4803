import type { Log } from '#base/log.ts'
import { createGroupingReader } from '#chain/grouping-reader.ts'
import { createRegistry, type RegistryOptions, type RegistryPorts } from '#chain/registry.ts'
import { PATIENCE_MS, type RpcPool } from '#chain/rpc.ts'
import type { Signer } from '#chain/signer.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Config } from '#settings/config.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createFinalityReader } from '#verifier/readers/finality.ts'
import { createManyReader } from '#verifier/readers/many.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { createRequest } from '#verifier/readers/request.ts'
import type { AccountId } from './account-lock.ts'
import type { CredentialKeys } from './credential-keys.ts'

/** The parts of a gateway that are not in its configuration. The local stack makes these itself. */
export type Identity = {
  /** The chain, which is closed with the gateway. */
  rpc: RpcPool
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: RegistryId
  /** The issuer for which it writes, with the account of the signer. */
  issuerId: number
  signer: Signer
  /** Other accounts of the issuer, if gateways share them. */
  otherSigners?: readonly Signer[]
  /** The newest comes first and seals. Repeats of requests are recognized with any of them. */
  issuerSecrets: readonly [Hex, ...Hex[]]
  /** Absent = the gateway issues no credentials into wallets. */
  credentialKeys?: CredentialKeys
  /**
   * Fetches DID documents. On a local chain it is the platform's `fetch`; on any other it connects
   * only to public addresses.
   */
  fetchDid?: typeof fetch
}

/** The chain as issuing uses it. */
export type Chain = RegistryPorts & { accountId: AccountId }

/** @throws {IssueError} when the chain cannot be read, or the account may not issue. */
export async function openChain(
  { finality, feeCap }: Config,
  { rpc, registry, issuerId, signer, otherSigners = [] }: Identity,
  log: Log,
): Promise<Chain> {
  // Issuing has its own connections, so that reads cannot delay it.
  const ports = await firstUsable([signer, ...otherSigners], rpc.apart(PATIENCE_MS.issuing), {
    registry,
    issuerId,
    finality,
    ...(feeCap !== undefined && { feeCap }),
  })
  const { mayIssue, mayRevoke } = await ports.account.assertReady()
  if (!mayIssue)
    log.warn('issuer_closed', {
      warning: 'the issuer is closed: documents can only be revoked',
    })
  if (!mayRevoke)
    log.warn('account_may_not_revoke', {
      warning: 'the account lacks the permission REVOKE: documents can only be issued',
    })
  const genesis = await ports.blocks.blockHash(0)
  return { ...ports, accountId: { registry, address: signer.address, genesis } }
}

/**
 * Opens the registry with the first account that may issue. Another one may be out of funds or
 * retired, which must not keep the gateway from starting.
 */
async function firstUsable(
  signers: readonly Signer[],
  provider: Eip1193Provider,
  options: Omit<RegistryOptions, 'signer'>,
): Promise<RegistryPorts> {
  let failure: unknown
  for (const signer of signers) {
    try {
      return await createRegistry(provider, { ...options, signer })
    } catch (error) {
      failure ??= error
    }
  }
  throw failure
}

export type Readers = ReturnType<typeof openReaders>

/** Opens the readers of a registry, which share the connections of the pool. */
export function openReaders({ finality }: Config, { rpc, registry }: Identity) {
  const chain = createChainReader(rpc, registry, finality)
  return {
    chain,
    grouped: createGroupingReader(
      chain,
      createManyReader(rpc, registry),
      createFinalityReader(createRequest(rpc), finality),
    ),
    proving: createProvingReader(rpc, registry, finality),
  }
}
