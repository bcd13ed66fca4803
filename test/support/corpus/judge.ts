import { FormatError } from '#document/errors.ts'
import { verifyCredential } from '#verifier/credential.ts'
import { verifyPresentation } from '#verifier/presentation.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIdentitySource } from '#verifier/readers/identity-source.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import type { Check, PresentationVerdict, Verdict } from '#verifier/verdict.ts'
import { type VerifyOptions, verify } from '#verifier/verify.ts'
import type { CorpusCase } from './world.ts'

/** The parts of a verdict that must be equal at every door (library, command, page, REST). */
export type Told =
  | {
      status: string
      notPassed: string[]
      document: boolean
      /** The disclosed fields of a presentation. */
      disclosed: object | null
      setAside: boolean
      issuerClosed: boolean
    }
  | { error: string }

export function expectedOf({ expected }: CorpusCase): Told {
  if ('error' in expected) return expected
  const { status, notPassed, document, setAside = false, issuerClosed = false } = expected
  return {
    status,
    notPassed: notPassed.toSorted(),
    document,
    disclosed: expected.disclosed ?? null,
    setAside,
    issuerClosed,
  }
}

export const notPassed = (checks: readonly Check[]) =>
  checks
    .filter(({ check, outcome }) => outcome !== 'pass' && check !== 'identity')
    .map(({ check, outcome, code }) => `${check} ${outcome} ${code}`)
    .toSorted()

export const told = (verdict: {
  status: string
  checks: Check[]
  document?: object | null
  disclosed?: object | null
  blockchainProof: { setAside: boolean; issuer: { closedBlock: number | null } } | null
}): Told => ({
  status: verdict.status,
  notPassed: notPassed(verdict.checks),
  document: (verdict.document ?? verdict.disclosed ?? null) !== null,
  disclosed: verdict.disclosed ?? null,
  setAside: verdict.blockchainProof?.setAside ?? false,
  issuerClosed: (verdict.blockchainProof?.issuer.closedBlock ?? null) !== null,
})

export const publicIdOf = ({ given }: Pick<CorpusCase, 'given'>) =>
  given.match(/#publicId=([^&]*)/)?.[1] ?? given

/** Verifies the input of a case's reader. */
export function verifyGiven(
  one: Pick<CorpusCase, 'given' | 'presentation' | 'credential'>,
  options: VerifyOptions,
): Promise<Verdict | PresentationVerdict> {
  if (one.credential) return verifyCredential(one.given, options)
  return one.presentation
    ? verifyPresentation(one.given, options)
    : verify(publicIdOf(one), options)
}

/** @returns `<outcome> <code>` of the check `identity`. */
export function identityTold(checks: readonly Check[]): string | undefined {
  const found = checks.find(({ check }) => check === 'identity')
  return found && `${found.outcome} ${found.code}`
}

/** @returns A `fetch` that redirects the case's domain to the test server, and refuses others. */
export function didFetchOf({ domain }: CorpusCase): typeof fetch {
  return async (address, init) => {
    if (domain?.address !== address) throw new Error('no such domain')
    return fetch(domain.served, init)
  }
}

/** @returns The library's verdict on a case, through its nodes and sources. */
export async function libraryTells(one: CorpusCase): Promise<Told> {
  return libraryVerdict(one).then(told, (error) => {
    if (!(error instanceof FormatError)) throw error
    return { error: error.code }
  })
}

export function libraryVerdict(one: CorpusCase): Promise<Verdict | PresentationVerdict> {
  const timeout = one.timeout * 1000
  const readers = one.rpc.map((url) =>
    createChainReader(createFetchProvider(url, timeout), one.registry),
  )
  return verifyGiven(one, {
    chain: createQuorumReader(readers, one.quorum ?? 1),
    blocks: one.ipfs.map((url) => createIpfsGatewaySource(url, timeout)),
    maxHeadAge: one.maxHeadAge,
    ...(one.asOf !== null && { asOf: one.asOf }),
    ...(one.domain && {
      identity: createIdentitySource({ fetch: didFetchOf(one), timeout }),
    }),
    ...(one.issuerDomain && { issuerDomain: one.issuerDomain }),
  })
}
