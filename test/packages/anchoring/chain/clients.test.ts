import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { createChainCalls } from '#chain/chain-calls.ts'
import { createKeySigner } from '#chain/signer.ts'
import { createTransactions } from '#chain/transactions.ts'
import { type Hex, toHex } from '#document/hex.ts'
import type { SignedTransaction } from '#promise/send.ts'
import { RpcResponseError } from '#verifier/errors.ts'

// Each client's errors for a refused transaction. Taken from source: Besu RpcErrorType, and
// Nethermind's names before 2026 and since (AcceptTxResult, TxPoolErrorMessages). The others were
// not compared with the source: geth (core/txpool/errors.go, internal/ethapi), Erigon (txpoolcfg
// DiscardReason), Anvil (eth/error.rs).

const ADDRESS: Hex = `0x${'ab'.repeat(20)}`
const NONCE = 7
const raw: Hex = '0x02'
const transaction: SignedTransaction = {
  nonce: NONCE,
  hash: toHex(randomBytes(32)),
  raw,
  gasLimit: 21_000n,
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
}

type Words = [client: string, code: number, message: string]

const ALREADY_KNOWN: Words[] = [
  ['geth', -32000, 'already known'],
  ['Nethermind', -32010, 'AlreadyKnown'],
  ['Nethermind since 2026', -32010, 'already known'],
  ['Besu', -32000, 'Known transaction'],
  ['Erigon', -32000, 'INTERNAL_ERROR: existing tx with same hash'],
  ['Anvil', -32003, 'transaction already imported'],
]
const NONCE_TOO_LOW: Words[] = [
  ['geth', -32000, 'nonce too low: next nonce 8, tx nonce 7'],
  ['Nethermind', -32010, 'OldNonce, Current nonce: 8, nonce of rejected tx: 7'],
  ['Nethermind since 2026', -32010, 'nonce too low'],
  ['Besu', -32001, 'Nonce too low'],
  ['Erigon', -32000, 'INTERNAL_ERROR: nonce too low'],
  ['Anvil', -32003, 'nonce too low'],
]
const UNDERPRICED: Words[] = [
  ['geth', -32000, 'replacement transaction underpriced'],
  ['Nethermind', -32010, 'ReplacementNotAllowed'],
  ['Nethermind since 2026', -32010, 'replacement transaction underpriced'],
  ['Besu', -32000, 'Replacement transaction underpriced'],
  ['Erigon', -32000, 'INTERNAL_ERROR: could not replace existing tx'],
  ['Anvil', -32003, 'replacement transaction underpriced'],
]
const REFUSED: Words[] = [
  ...(['geth', 'Erigon'] as const).map(
    (client): Words => [
      client,
      -32000,
      'tx fee (1.08 ether) exceeds the configured cap (1.00 ether)',
    ],
  ),
  ['Besu', -32000, 'Transaction fee cap exceeded'],
  ['Besu', -32005, 'Transaction gas limit exceeds block gas limit'],
  ['Besu', -32004, 'Upfront cost exceeds account balance'],
  ['Nethermind', -32010, 'InsufficientFunds, Account balance: 0'],
  ['Anvil', -32003, 'Insufficient funds for gas * price + value'],
]

/** The node's state: the transaction, and the account's nonces. */
let node: { known: boolean; latest: number; pending: number }
/** Wei per gas. */
let baseFee: bigint
let words: Words
/** The calls that the node does not answer. */
let down: string | undefined

const signer = createKeySigner(toHex(randomBytes(32)))
const provider = {
  async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
    if (method === down) throw new Error('connection refused')
    switch (method) {
      case 'eth_sendRawTransaction':
        throw new RpcResponseError(words[1], words[2], undefined)
      case 'eth_getTransactionByHash':
        return node.known && params[0] === transaction.hash
          ? { hash: transaction.hash, blockNumber: null }
          : null
      case 'eth_maxPriorityFeePerGas':
        return '0x1'
      case 'eth_getBlockByNumber':
        return { number: '0x1', baseFeePerGas: `0x${baseFee.toString(16)}` }
      case 'eth_getTransactionCount':
        return `0x${node[params[1] as 'latest' | 'pending'].toString(16)}`
    }
    throw new Error(`${method} is not asked for`)
  },
}
const { broadcast } = createTransactions(provider, createChainCalls(provider, ADDRESS), {
  chainId: 1,
  address: ADDRESS,
  issuerId: 1,
  signer,
})

beforeEach(() => {
  down = undefined
  baseFee = 1n
  node = { known: false, latest: NONCE, pending: NONCE }
})

describe('a transaction that the node has', () => {
  test.each(ALREADY_KNOWN)('counts as accepted at %s (%i %s)', async (...of) => {
    words = of
    node = { known: true, latest: NONCE, pending: NONCE + 1 }
    expect(await broadcast(transaction)).toBe('taken')
  })
})

describe('a nonce that is used', () => {
  test.each(NONCE_TOO_LOW)('counts as used at %s (%i %s)', async (...of) => {
    words = of
    node = { known: false, latest: NONCE + 1, pending: NONCE + 1 }
    expect(await broadcast(transaction)).toBe('taken')
  })
})

describe('a nonce that a pending transaction uses', () => {
  test.each(UNDERPRICED)('counts as occupied at %s (%i %s)', async (...of) => {
    words = of
    node = { known: false, latest: NONCE, pending: NONCE + 1 }
    expect(await broadcast(transaction)).toBe('occupied')
  })
})

describe('a transaction that no node has', () => {
  test.each([...REFUSED, ...ALREADY_KNOWN, ...NONCE_TOO_LOW, ...UNDERPRICED])(
    'counts as refused by %s, whatever its words (%i %s)',
    async (...of) => {
      words = of
      await expect(broadcast(transaction)).rejects.toMatchObject({
        code: 'registry_refused',
      })
    },
  )

  test('is too cheap once the base fee exceeds its maximum', async () => {
    words = ['geth', -32000, 'max fee per gas less than block base fee']
    baseFee = 2n
    await expect(broadcast(transaction)).rejects.toMatchObject({ code: 'fee_too_high' })
  })

  test.each(['eth_getTransactionByHash', 'eth_getTransactionCount', 'eth_maxPriorityFeePerGas'])(
    'does not count as refused while %s gives no answer',
    async (method) => {
      words = ['geth', -32000, 'already known']
      down = method
      await expect(broadcast(transaction)).rejects.toMatchObject({
        code: 'chain_unavailable',
      })
    },
  )
})
