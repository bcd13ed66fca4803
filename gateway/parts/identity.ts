import type { Log } from '#base/log.ts'
import { createPublicFetch } from '#base/public-fetch.ts'
import { createChainCalls } from '#chain/chain-calls.ts'
import { ANSWER_TTL_MS, createIdentityCache } from '#chain/identity-cache.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Config } from '#settings/config.ts'
import { readIdentity } from '#verifier/checks/identity.ts'
import { isLocalChain } from '#verifier/defaults.ts'
import {
  createDidDocument,
  type IdentityAddress,
  identityAddressOf,
  type VerificationKey,
} from '#verifier/identity.ts'
import type { Eip1193Provider, IdentitySource } from '#verifier/ports.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { createIdentitySource } from '#verifier/readers/identity-source.ts'

/** The issuer's own domain is asked again before its answer expires. */
const REFRESH_INTERVAL_MS = 0.9 * ANSWER_TTL_MS

/** The domains of issuers as a gateway sees them, its own first. */
export type Identities = {
  source: IdentitySource
  /** The issuer's own domain; absent when its URI names none. */
  own?: IdentityAddress
  /**
   * The document at `/.well-known/did.json`; absent when this service is not at the issuer's
   * domain.
   */
  didDocument?: object
  /** Asks the issuer's own domain now and regularly, and logs the result. */
  start(): void
  stop(): void
}

/**
 * Reads the issuer's name and URI from the registry, and warns about settings that differ.
 *
 * @throws {IssueError} when the chain cannot be read.
 */
export async function openIdentities(
  { baseUrl, issuerName, issuerUri }: Config,
  provider: Eip1193Provider,
  issuer: {
    registry: RegistryId
    issuerId: number
    /** The addresses of the accounts. */
    accounts: readonly string[]
    fetchDid?: typeof fetch | undefined
    /** The keys that sign credentials. */
    keys?: readonly VerificationKey[]
  },
  log: Log,
): Promise<Identities> {
  const { registry, issuerId } = issuer
  const { chainId, address } = parseRegistry(registry)
  const calls = createChainCalls(provider, address)
  const registered = await calls.view('issuerOf', issuerId)
  const name = textIn(registered, 'name')
  const uri = textIn(registered, 'uri')
  for (const [setting, wanted, found] of [
    ['ISSUER_NAME', issuerName, name],
    ['ISSUER_URI', issuerUri, uri],
  ])
    if (wanted !== undefined && wanted !== found)
      log.warn('issuer_differs', {
        setting,
        registered: found,
        warning: `${setting} differs from the registry: the admin of the registry can change it there`,
      })

  const get = issuer.fetchDid ?? (isLocalChain(chainId) ? fetch : createPublicFetch())
  const cache = createIdentityCache(createIdentitySource({ fetch: get }))
  const own = identityAddressOf(uri, chainId)
  const here = new URL(`${baseUrl}/.well-known/did.json`).href

  async function check(): Promise<void> {
    const read = (account: string) =>
      readIdentity(
        registry,
        { account: { account }, issuer: { id: issuerId, uri } },
        { identity: { read: account === issuer.accounts[0] ? cache.refresh : cache.read } },
      )
    // The first account asks the domain, and the others find its answer.
    for (const account of issuer.accounts) {
      const { check, domain } = await read(account)
      if (domain !== null) log.info('issuer_linked', { domain, account })
      else log.warn('issuer_not_linked', { code: check.code, uri, account })
    }
  }

  let timer: NodeJS.Timeout | undefined
  return {
    source: cache,
    ...(own && { own }),
    ...(own &&
      own.url === here && {
        didDocument: createDidDocument({
          did: own.did,
          registry,
          issuerId,
          keys: issuer.keys ?? [],
        }),
      }),
    start() {
      void check()
      timer = setInterval(check, REFRESH_INTERVAL_MS).unref()
    },
    stop() {
      clearInterval(timer)
      cache.stop()
    },
  }
}

/**
 * The registry's admin can set bytes that are not UTF-8. These must not keep the service from
 * starting, nor an operator from seeing who may do what.
 */
export function textIn(issuer: Record<string, string>, member: string): string {
  try {
    return issuer[member] ?? ''
  } catch {
    // ethers throws when such bytes are first read.
    return ''
  }
}
