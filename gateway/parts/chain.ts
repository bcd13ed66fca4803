import { shareRead } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import { createGroupingReader } from '#chain/grouping-reader.ts'
import { createRegistry, type RegistryOptions, type RegistryPorts } from '#chain/registry.ts'
import type { RpcPool } from '#chain/rpc.ts'
import type { Signer } from '#chain/signer.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { type Counts, readCounts, waitForForeign } from '#engine/foreign.ts'
import type { Plans, Readiness } from '#promise/ports.ts'
import type { Config } from '#settings/config.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createFinalityReader } from '#verifier/readers/finality.ts'
import { createManyReader } from '#verifier/readers/many.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { createRequest } from '#verifier/readers/request.ts'
import { type AccountId, lockAccount } from './account-lock.ts'

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
  /**
   * Fetches DID documents. On a local chain it is the platform's `fetch`; on any other it connects
   * only to public addresses.
   */
  fetchDid?: typeof fetch
}

/** The chain as issuing needs it. */
export type Chain = RegistryPorts & {
  readiness: () => Promise<Readiness>
  accountId: AccountId
  /** The counts of the account at the start. */
  firstLook: Counts
}

/** How long a reading of the account is reused for reports. */
export const READINESS_TTL_MS = 1_000

/** @throws {IssueError} when the chain cannot be read, or the account may not issue. */
export async function openChain(
  { finality, feeCap }: Config,
  { rpc, registry, issuerId, signer, otherSigners = [] }: Identity,
  log: Log,
): Promise<Chain> {
  // Issuing has its own connections, so that reads cannot delay it.
  const ports = await firstUsable([signer, ...otherSigners], rpc.apart(), {
    registry,
    issuerId,
    finality,
    ...(feeCap !== undefined && { feeCap }),
  })
  // The readiness is shared because the route is public.
  const readiness = shareRead(ports.account.assertReady, READINESS_TTL_MS)
  const { mayIssue, mayRevoke } = await readiness()
  if (!mayIssue)
    log.warn('issuer_closed', {
      warning: 'the issuer is closed: documents can only be revoked',
    })
  if (!mayRevoke)
    log.warn('account_may_not_revoke', {
      warning: 'the account lacks the permission REVOKE: documents can only be issued',
    })
  const [genesis, firstLook] = await Promise.all([
    ports.blocks.blockHash(0),
    readCounts(ports.account),
  ])
  const accountId = { registry, address: signer.address, genesis }
  return { ...ports, readiness, accountId, firstLook }
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

/**
 * Makes sure that nothing else writes with the account.
 *
 * @returns The nonce after the foreign transactions, and a function that frees the account.
 * @throws {IssueError} `account_shared`.
 */
export async function claimAccount(
  { rpcUrls }: Config,
  { account, accountId, firstLook }: Chain,
  outbox: Plans,
  log: Log,
): Promise<{ firstNonce: number; leave: () => Promise<void> }> {
  // Nothing else can reach a local chain in the data folder.
  const isLocal = rpcUrls.length === 0
  const leave = isLocal ? async () => {} : await lockAccount(accountId)
  try {
    const own = new Set((await outbox.plans()).map(({ nonce }) => nonce))
    const firstNonce = await waitForForeign({ account, first: firstLook, own, log })
    return { firstNonce, leave }
  } catch (error) {
    // The start may be repeated in this process, which must not find its own lock on the account.
    await leave()
    throw error
  }
}
