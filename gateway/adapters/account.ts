import { readBigQuantity, readQuantity } from '../../verifier/readers/rpc-codec.ts'
import { IssueError } from '../issue/errors.ts'
import type { Account, Readiness } from '../issue/ports.ts'
import type { ChainCalls } from './chain-calls.ts'
import type { Signer } from './signer.ts'

/** Bits of an account's permissions. */
const [ISSUE, REVOKE] = [1, 2]

/** @param registry CAIP-10, and what of it is the chain id. */
export function createAccount(
  { request, view }: ChainCalls,
  {
    registry,
    chainId,
    issuerId,
    signer,
  }: {
    registry: string
    chainId: number
    issuerId: number
    signer: Signer
  },
): Account {
  async function readAccount(): Promise<Readiness> {
    const [actual, account, issuer, balance] = await Promise.all([
      request('eth_chainId', readQuantity),
      view('accountOf', issuerId, signer.address),
      view('issuerOf', issuerId),
      request('eth_getBalance', readBigQuantity, signer.address, 'latest'),
    ])
    const permissions = Number(account.permissions)
    const known = `${signer.address} of issuer ${issuerId} of ${registry}`
    const problem = [
      actual !== chainId && `the node is of chain ${actual}, not ${chainId}`,
      issuer.accountCount === 0n && `${registry} has no issuer ${issuerId}`,
      account.addedBlock === 0n &&
        `${signer.address} is not an account of issuer ${issuerId} of ${registry}`,
      account.retiredBlock !== 0n && `${known} is retired`,
      (permissions & ISSUE) === 0 && `${known} may not issue`,
      balance === 0n && `${signer.address} has no funds for gas`,
    ].find((one) => one !== false)
    if (problem) throw new IssueError('registry_refused', problem)
    return {
      balance,
      mayIssue: issuer.closedBlock === 0n,
      mayRevoke: (permissions & REVOKE) !== 0,
    }
  }

  const count = (block: 'latest' | 'pending') =>
    request('eth_getTransactionCount', readQuantity, signer.address, block)

  return {
    async assertReady() {
      await signer.assertReady()
      return readAccount()
    },
    nextNonce: () => count('latest'),
    pooledNonce: () => count('pending'),
  }
}
