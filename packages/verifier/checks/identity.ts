import { FormatError } from '../../document/errors.ts'
import {
  formatAccount,
  formatChain,
  parseRegistryId,
  type RegistryId,
} from '../../document/registry-id.ts'
import {
  type IdentityAddress,
  type IdentityStatement,
  type IssuerKey,
  identityAddressOf,
  parseDomain,
  readDidDocument,
} from '../identity.ts'
import type { IdentityRead, IdentitySource } from '../ports.ts'
import type { Check } from '../verdict.ts'

type IdentityOptions = {
  /** Absent = the domain is not checked. */
  identity?: IdentitySource | undefined
  /** If set, the check fails for a link to another domain. */
  issuerDomain?: string | undefined
  signal?: AbortSignal | undefined
}

/** The issuer of a document in the registry. */
type Issuing = {
  account: { account: string }
  issuer: { id: number; uri: string }
}

/** The answer of the issuer's domain. */
export type Identity = {
  check: Check
  /** The domain, when it vouches for the issuer; otherwise `null`. */
  domain: string | null
  /** The keys of that domain, for credentials. */
  keys: readonly IssuerKey[]
}

/**
 * Checks whether the domain in the registry vouches for the issuer. Never rejects.
 *
 * @param registry A CAIP-10 account ID.
 */
export async function readIdentity(
  registry: RegistryId,
  { account, issuer }: Issuing,
  { identity, issuerDomain, signal }: IdentityOptions,
): Promise<Identity> {
  const end = (
    outcome: Check['outcome'],
    code: string,
    linked: Pick<Identity, 'domain' | 'keys'> = { domain: null, keys: [] },
  ): Identity => ({ check: { check: 'identity', outcome, code }, ...linked })
  if (!identity) return end('unknown', 'not_asked')
  const { chainId } = parseRegistryId(registry)
  const address = identityAddressOf(issuer.uri, chainId)
  if (!address) return end('unknown', 'no_domain')
  const read = await identity
    .read(address, { signal })
    .catch(() => ({ status: 'unreachable' }) as const)
  if (read.status === 'not_asked' || read.status === 'unreachable')
    return end('unknown', read.status)
  const statement = statementOf(read, address)
  if (!statement) return end('unknown', 'malformed')
  const code = objectionTo(statement, registry, issuer.id, account.account)
  if (code) return end('fail', code)
  const { domain } = address
  const { keys } = statement
  const isOther = issuerDomain !== undefined && parseDomain(issuerDomain, chainId) !== domain
  return isOther
    ? end('fail', 'other_domain', { domain, keys })
    : end('pass', 'linked', { domain, keys })
}

function statementOf(read: IdentityRead, { did }: IdentityAddress): IdentityStatement | undefined {
  if (read.status !== 'found') return undefined
  if (read.statement) return read.statement
  try {
    return readDidDocument(read.bytes, did)
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}

/**
 * @returns Why a statement does not link an account of an issuer, or `undefined`.
 * @param registry A CAIP-10 account ID.
 */
export function objectionTo(
  { registries, accounts }: IdentityStatement,
  registry: RegistryId,
  issuerId: number,
  account: string,
): string | undefined {
  const isNamed = registries.some(
    (one) => one.registry.toLowerCase() === registry && one.issuerId === issuerId,
  )
  if (!isNamed) return 'denied'
  const { chainId } = parseRegistryId(registry)
  const chain = `${formatChain(chainId)}:`
  const ofChain = accounts.map((one) => one.toLowerCase()).filter((one) => one.startsWith(chain))
  const isListed =
    ofChain.length === 0 || ofChain.includes(formatAccount(chainId, account.toLowerCase()))
  return isListed ? undefined : 'account_not_listed'
}
