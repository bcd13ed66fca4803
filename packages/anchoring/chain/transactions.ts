import { keccak_256 } from '@noble/hashes/sha3.js'
import { ZeroHash } from 'ethers/constants'
import { registryAbi } from '#base/registry-abi.ts'
import { smaller } from '#base/wei.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { type Action, reasonOf } from '#promise/action.ts'
import { IssueError } from '#promise/errors.ts'
import type { Quotes, Transactions } from '#promise/ports.ts'
import { isWholeBatch } from '#promise/record.ts'
import type { SignedTransaction } from '#promise/send.ts'
import { RpcResponseError } from '#verifier/errors.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { readBigQuantity, readObject, readQuantity } from '#verifier/readers/rpc-codec.ts'
import { SUSPENDED } from '#verifier/reasons.ts'
import { asIssueError, type ChainCalls } from './chain-calls.ts'
import { createFees, type Fees, feeTooHigh, type Offer } from './fees.ts'
import { createEstimates, MAX_GAS, withMargin } from './gas-estimates.ts'
import { encodeIssueMany, encodeReleaseMany, encodeRevokeMany } from './registry-codec.ts'
import type { Signer } from './signer.ts'

/** The maximum number of bytes of calldata. Nodes accept transactions up to 128 KiB. */
const MAX_CALLDATA = 120 * 1024
/** The EIP-1474 error for an exceeded limit. Its cause is the endpoint, not the request. */
const LIMIT_EXCEEDED = -32005

export type TransactionsOptions = {
  chainId: number
  /** The address of the registry. */
  address: Hex
  issuerId: number
  signer: Signer
  /** The maximum wei per gas; absent = any price. */
  feeCap?: bigint
}

export function createTransactions(
  provider: Eip1193Provider,
  calls: ChainCalls,
  { chainId, address, issuerId, signer, feeCap }: TransactionsOptions,
): Transactions & Quotes {
  const fees = createFees(calls, signer.address, feeCap)
  const estimateGas = (to: Hex, data: Hex) =>
    calls
      .request('eth_estimateGas', readBigQuantity, { from: signer.address, to, data })
      .catch((error) => {
        throw asRefusal(error)
      })
  const gas = createEstimates((data) => estimateGas(address, data))

  /** @param planned Whether its nonce has to be used. */
  function estimate(actions: readonly Action[], data: Hex, planned: boolean): Promise<bigint> {
    if (actions.length === 0) return estimateGas(signer.address as Hex, data)
    return planned ? gas.refresh(actions, data) : gas.of(actions, data)
  }

  return {
    async prepare(actions, { nonce, maxFee, replaced, planned }) {
      const isEmpty = actions.length === 0
      const to = isEmpty ? (signer.address as Hex) : address
      const data = isEmpty ? '0x' : calldataOf(issuerId, actions)
      const estimating = estimate(actions, data, planned !== undefined)
      const [gasLimit, offer] = await Promise.all([
        estimating.then(withMargin).catch((error) => {
          if (planned && actions.every(isWholeBatch) && isRefusal(error)) return planned.gasLimit
          throw error
        }),
        fees.offer(replaced),
      ])
      if (gasLimit > MAX_GAS || data.length / 2 > MAX_CALLDATA)
        throw new IssueError(
          'too_large',
          `${actions.length} documents or changes need ${gasLimit} gas and ${data.length / 2} bytes`,
        )
      const fee = within(offer, gasLimit, maxFee, actions.length)
      const transaction = { nonce, gasLimit, ...fee }
      const raw = await signer.sign({
        type: 2,
        chainId,
        to,
        data,
        ...transaction,
      })
      return { ...transaction, hash: hashOf(raw), raw }
    },

    async quote(actions) {
      const data = calldataOf(issuerId, actions)
      const [estimate, offer] = await Promise.all([gas.refresh(actions, data), fees.offer()])
      const gasLimit = withMargin(estimate)
      const { minFeePerGas, maxFeePerGas } = offer
      return { gas: estimate, fee: estimate * minFeePerGas, maxFee: gasLimit * maxFeePerGas }
    },

    meetsCurrentFee: fees.meetsCurrent,
    assertAffordable: (maxFee) => fees.assertAffordable(gas.ofOne(), maxFee),
    broadcast: createBroadcast(provider, calls, signer.address, fees),
  }
}

function createBroadcast(
  provider: Eip1193Provider,
  calls: ChainCalls,
  account: string,
  fees: Pick<Fees, 'meetsCurrent'>,
): Transactions['broadcast'] {
  /**
   * Each client has its own error messages for a transaction that it rejects, but all of them
   * report in the same way which transactions they have.
   *
   * @returns `undefined` when no node has the transaction and its nonce is free.
   */
  async function placeOf({ hash, nonce }: SignedTransaction) {
    const count = (block: 'latest' | 'pending') =>
      calls.request('eth_getTransactionCount', readQuantity, account, block)
    const [known, used, pooled] = await Promise.all([
      calls.request('eth_getTransactionByHash', isFound, hash),
      count('latest'),
      count('pending'),
    ])
    // The nonce was used by this transaction or another one; the records show by which.
    if (known || used > nonce) return 'taken'
    return pooled > nonce ? 'occupied' : undefined
  }

  return async (transaction) => {
    const method = 'eth_sendRawTransaction'
    try {
      await provider.request({ method, params: [transaction.raw] })
      return 'taken'
    } catch (error) {
      const { message, code } = asIssueError(method, error)
      if (!(error instanceof RpcResponseError)) throw new IssueError(code, message, error)
      const place = await placeOf(transaction)
      if (place !== undefined) return place
      if (!(await fees.meetsCurrent(transaction)))
        throw new IssueError(
          'fee_too_high',
          'the fee has risen above the maximum of the transaction',
          error,
        )
      // The nodes would reject the same bytes again.
      throw new IssueError('registry_refused', message, error)
    }
  }
}

const isFound = (answer: unknown): boolean => answer !== null && readObject(answer) !== undefined

/**
 * A node that answered with any error might accept fewer actions, because the error may be about
 * the content of the transaction. If it is not, the account is checked before anything is given up.
 */
function asRefusal(error: IssueError): IssueError {
  const { cause, message } = error
  const answered = cause instanceof RpcResponseError && cause.code !== LIMIT_EXCEEDED
  return answered ? new IssueError('registry_refused', message, cause) : error
}

/**
 * Fewer actions cost less, so that several keep the reserve of the offer for a rising base fee. A
 * single action does without the reserve.
 *
 * @throws {IssueError} `too_large`, `fee_too_high`.
 */
function within(
  offer: Offer & { minFeePerGas: bigint },
  gasLimit: bigint,
  maxFee: bigint | undefined,
  actions: number,
): Offer {
  const { minFeePerGas, ...whole } = offer
  const fee = gasLimit * whole.maxFeePerGas
  if (maxFee === undefined || fee <= maxFee) return whole
  if (actions > 1)
    throw new IssueError(
      'too_large',
      `${actions} documents or changes would cost up to ${fee} wei, which is more than the cap of ${maxFee}`,
    )
  const maxFeePerGas = maxFee / gasLimit
  if (maxFeePerGas < minFeePerGas) throw feeTooHigh(gasLimit * minFeePerGas, maxFee)
  const { maxPriorityFeePerGas: tip } = whole
  return {
    maxFeePerGas,
    maxPriorityFeePerGas: smaller(tip, maxFeePerGas),
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof IssueError && error.code === 'registry_refused'
}

/**
 * Uses the functions for lists even for one action, because they never revert for completed
 * actions, so that a repeat cannot fail. There is no such function for batches.
 */
function calldataOf(issuerId: number, actions: readonly Action[]): Hex {
  const hashes = actions.map(({ documentHash }) => documentHash)
  const [first] = actions
  if (first && isWholeBatch(first)) return callOfBatch(issuerId, first)
  if (first?.root !== undefined) return callInBatch(issuerId, first.root, first, hashes)
  switch (first?.kind) {
    case 'revoke':
      return encodeRevokeMany(issuerId, hashes, first.reason)
    case 'suspend':
      return encodeRevokeMany(issuerId, hashes, SUSPENDED)
    case 'release':
      return encodeReleaseMany(issuerId, hashes)
    default:
      return encodeIssueMany(
        issuerId,
        hashes,
        actions.map((action) => (action.kind === 'issue' ? action.validUntil : 0)),
      )
  }
}

function callOfBatch(issuerId: number, action: Action): Hex {
  const { kind, documentHash: root } = action
  if (kind === 'issue')
    return encode('issueBatch', issuerId, root, action.validUntil, action.manifest ?? ZeroHash)
  if (kind === 'release') return encode('releaseBatch', issuerId, root)
  return encode('revokeBatch', issuerId, root, reasonOf(action))
}

/** This is also a function for a list. */
function callInBatch(issuerId: number, root: Hex, first: Action, hashes: readonly Hex[]): Hex {
  if (first.kind === 'issue') throw new TypeError('a document in a batch cannot be issued alone')
  if (first.kind === 'release') return encode('releaseInBatch', issuerId, root, hashes)
  return encode('revokeInBatch', issuerId, root, hashes, reasonOf(first))
}

const encode = (name: string, ...args: unknown[]) =>
  registryAbi.encodeFunctionData(name, args) as Hex

/** @returns The hash of a signed transaction. */
const hashOf = (raw: Hex) => toHex(keccak_256(Buffer.from(raw.slice(2), 'hex')))
