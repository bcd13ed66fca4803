import { readIdentity } from '#verifier/checks/identity.ts'
import { type Check, createIdentitySource, identityAddressOf } from '#verifier/index.ts'
import type { Sources } from './config.ts'
import type { PageVerdict } from './findings.ts'

/** @returns The check `identity`; `not_asked` for a verdict without a record. */
export function identityOf({ checks }: PageVerdict): Check {
  const found = checks.find(({ check }) => check === 'identity')
  return found ?? { check: 'identity', outcome: 'unknown', code: 'not_asked' }
}

/**
 * @returns Whether the domain may be checked. Without a node, the page makes no requests at all.
 */
export function mayAsk({ identity = true, rpc }: Sources): boolean {
  return identity && rpc.length > 0
}

/** @returns The domain that should vouch for the issuer; `undefined` if there is none. */
export function domainToAsk({ blockchainProof: proof }: PageVerdict): string | undefined {
  if (proof === null) return undefined
  return identityAddressOf(proof.issuer.uri, proof.chainId)?.domain
}

/**
 * Checks the issuer's domain, if it has one. The domain learns that somebody looks at a document of
 * the issuer, but not which.
 *
 * @returns The verdict with the domain's answer. It never rejects.
 */
export async function askIdentity(verdict: PageVerdict, signal: AbortSignal): Promise<PageVerdict> {
  const { blockchainProof: proof, checks } = verdict
  if (proof === null) return verdict
  const { issuer, registry } = proof
  const { check, domain } = await readIdentity(
    registry,
    { account: issuer, issuer },
    { identity: createIdentitySource(), signal },
  )
  return {
    ...verdict,
    blockchainProof: { ...proof, issuer: { ...issuer, domain } },
    checks: checks.map((one) => (one.check === 'identity' ? check : one)),
  }
}
