import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { IssueError } from '#promise/errors.ts'
import type { Account, Readiness } from '#promise/ports.ts'
import {
  readBigQuantity,
  readBytes,
  readHash,
  readList,
  readObject,
  readQuantity,
  toQuantity,
} from '#verifier/readers/rpc-codec.ts'
import type { ChainCalls } from './chain-calls.ts'
import { readPrice } from './fees.ts'
import type { Signer } from './signer.ts'

/** The bits of an account's permissions. */
const [ISSUE, REVOKE] = [1, 2]

export type AccountOptions = {
  /** The CAIP-10 account ID of the registry. */
  registry: RegistryId
  /** The id of the registry's chain. */
  chainId: number
  issuerId: number
  signer: Signer
}

export function createAccount(calls: ChainCalls, options: AccountOptions): Account {
  const { request } = calls
  const { signer } = options
  /** Whether the account had no code when it was first read. */
  let isPlain = false

  /** @returns The number of the account's transactions up to a block. */
  const count = (block: string) =>
    request('eth_getTransactionCount', readQuantity, signer.address, block)

  return {
    async transactionWith(nonce) {
      const head = await request('eth_blockNumber', readQuantity)
      const block = await findBlockOf(nonce, head, (number) => count(toQuantity(number)))
      if (block === undefined) return undefined
      const read = (answer: unknown) => findTransaction(answer, signer.address, nonce)
      return request('eth_getBlockByNumber', read, toQuantity(block), true)
    },

    async assertReady() {
      await signer.assertReady()
      if (!isPlain) await assertNoCode(calls, signer.address)
      isPlain = true
      return readReadiness(calls, options)
    },
    nextNonce: () => count('latest'),
    pooledNonce: () => count('pending'),
  }
}

/**
 * Code that stands in for an account (EIP-7702) can use its nonces, also for others.
 *
 * @throws {IssueError} `registry_refused` when the account has code.
 */
async function assertNoCode({ request }: ChainCalls, address: string): Promise<void> {
  const code = await request('eth_getCode', readBytes, address, 'latest')
  if (code.length > 0)
    throw new IssueError('registry_refused', `${address} has code (EIP-7702); use a plain account`)
}

/** @throws {IssueError} `registry_refused` when the account cannot issue. */
async function readReadiness(
  calls: ChainCalls,
  { registry, chainId, issuerId, signer }: AccountOptions,
): Promise<Readiness> {
  const { request, view } = calls
  const [actual, account, issuer, balance] = await Promise.all([
    request('eth_chainId', readQuantity),
    view('accountOf', issuerId, signer.address),
    view('issuerOf', issuerId),
    request('eth_getBalance', readBigQuantity, signer.address, 'latest'),
  ])
  const permissions = Number(account.permissions)
  const known = `${signer.address} of issuer ${issuerId} of ${registry}`
  const problem = [
    actual !== chainId && `the node is on chain ${actual}, not ${chainId}`,
    issuer.accountCount === 0n && `${registry} has no issuer ${issuerId}`,
    account.addedBlock === 0n &&
      `${signer.address} is not an account of issuer ${issuerId} of ${registry}`,
    account.retiredBlock !== 0n && `${known} is retired`,
    (permissions & ISSUE) === 0 && `${known} may not issue`,
    balance === 0n &&
      !(await isFree(calls, signer.address)) &&
      `${signer.address} has no funds for gas`,
  ].find((one) => one !== false)
  if (problem) throw new IssueError('registry_refused', problem)
  return {
    balance,
    mayIssue: issuer.closedBlock === 0n,
    mayRevoke: (permissions & REVOKE) !== 0,
  }
}

async function isFree(calls: ChainCalls, account: string): Promise<boolean> {
  const { baseFee, tip } = await readPrice(calls, account)
  return baseFee + tip === 0n
}

/**
 * Searches back from the head in growing steps, and then by bisection.
 *
 * @param countAt Counts the account's transactions up to a block.
 * @returns The block in which the nonce was used.
 */
async function findBlockOf(
  nonce: number,
  head: number,
  countAt: (block: number) => Promise<number>,
): Promise<number | undefined> {
  let used = head
  if ((await countAt(used)) <= nonce) return undefined
  let unused = used
  for (let step = 1; unused === used; step *= 2) {
    const block = Math.max(0, used - step)
    if ((await countAt(block)) <= nonce) unused = block
    else if (block === 0) return undefined
    else used = unused = block
  }
  while (used - unused > 1) {
    const middle = Math.floor((used + unused) / 2)
    if ((await countAt(middle)) <= nonce) unused = middle
    else used = middle
  }
  return used
}

/** @returns The hash of the account's transaction with this nonce in a block. */
function findTransaction(block: unknown, address: string, nonce: number): Hex | undefined {
  const transactions = readList(readObject(block).transactions, readObject)
  const found = transactions.find(
    ({ from, nonce: used }) => isSameAddress(from, address) && readQuantity(used) === nonce,
  )
  return found && readHash(found.hash)
}

function isSameAddress(one: unknown, other: string): boolean {
  return typeof one === 'string' && one.toLowerCase() === other.toLowerCase()
}
