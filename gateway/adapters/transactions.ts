import { keccak_256 } from '@noble/hashes/sha3.js'
import { type Hex, toHex } from '../../document/hex.ts'
import { RpcResponseError } from '../../verifier/errors.ts'
import type { Eip1193Provider } from '../../verifier/ports.ts'
import { readBigQuantity } from '../../verifier/readers/rpc-codec.ts'
import { SUSPENDED } from '../../verifier/reasons.ts'
import { IssueError } from '../issue/errors.ts'
import type { Intent, Transactions } from '../issue/ports.ts'
import { asIssueError, type ChainCalls } from './chain-calls.ts'
import { createFees } from './fees.ts'
import { createEstimates } from './gas-estimates.ts'
import {
  encodeIssueMany,
  encodeReleaseMany,
  encodeRevokeMany,
} from './registry-codec.ts'
import type { Signer } from './signer.ts'

/** Four fifths of the cap of EIP-7825 on a transaction's gas; the rest is for what the estimate did not foresee. */
const MAX_GAS = (16_777_216n * 4n) / 5n
/** Maximum bytes of calldata: nodes take transactions up to 128 KiB. */
const MAX_CALLDATA = 120 * 1024
/** Over the estimate, since the chain's state moves on between estimate and inclusion; per cent. */
const GAS_MARGIN = 10n

export type TransactionsOptions = {
  chainId: number
  /** The registry's address. */
  address: Hex
  issuerId: number
  signer: Signer
  /** Maximum wei for a unit of gas; absent = any price. */
  feeCap?: bigint
}

export function createTransactions(
  provider: Eip1193Provider,
  calls: ChainCalls,
  { chainId, address, issuerId, signer, feeCap }: TransactionsOptions,
): Transactions {
  const fees = createFees(calls, feeCap)
  const gas = createEstimates((data) =>
    calls.request('eth_estimateGas', readBigQuantity, {
      from: signer.address,
      to: address,
      data,
    }),
  )

  return {
    async prepare(intents, nonce, replaced) {
      const data = calldataOf(issuerId, intents)
      const [estimate, fee] = await Promise.all([
        replaced ? gas.anew(intents, data) : gas.of(intents, data),
        fees.offer(replaced),
      ])
      const gasLimit = (estimate * (100n + GAS_MARGIN)) / 100n
      if (gasLimit > MAX_GAS || data.length / 2 > MAX_CALLDATA)
        throw new IssueError(
          'too_large',
          `${intents.length} need ${gasLimit} gas and ${data.length / 2} bytes`,
        )
      const raw = await signer.sign({
        type: 2,
        chainId,
        nonce,
        to: address,
        data,
        gasLimit,
        ...fee,
      })
      return { nonce, hash: hashOf(raw), raw, ...fee }
    },

    meetsCurrentFee: fees.meetsCurrent,

    async broadcast({ raw }) {
      try {
        await provider.request({
          method: 'eth_sendRawTransaction',
          params: [raw],
        })
      } catch (error) {
        // The node has it, or the nonce is used: by these bytes or others, the records will tell.
        if (/already known|already imported|nonce too low/i.test(String(error)))
          return
        const issueError = asIssueError('eth_sendRawTransaction', error)
        // The node answered, and will say the same of the same bytes.
        if (error instanceof RpcResponseError)
          throw new IssueError('registry_refused', issueError.message, error)
        throw issueError
      }
    },
  }
}

/** Lists also for one: they never revert on what is done already, so that a repeat cannot fail. */
function calldataOf(issuerId: number, intents: readonly Intent[]): Hex {
  const hashes = intents.map(({ documentHash }) => documentHash)
  const [first] = intents
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
        intents.map((intent) =>
          intent.kind === 'issue' ? intent.validUntil : 0,
        ),
      )
  }
}

/** @returns The hash of a signed transaction. */
const hashOf = (raw: Hex) => toHex(keccak_256(Buffer.from(raw.slice(2), 'hex')))
