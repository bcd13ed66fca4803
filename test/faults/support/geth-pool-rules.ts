import { Transaction } from 'ethers'
import type { Hex } from '#document/hex.ts'
import type { Fault, FaultProxy, RpcCall } from '../../support/fault-proxy.ts'

/** The minimum fee increase of a replacement in per cent: geth's `--txpool.pricebump`. */
const PRICE_BUMP = 10n

/**
 * Geth's rules and messages for its transaction pool, in front of a node with other rules. (Anvil
 * accepts a replacement for one wei more.)
 *
 * @returns A function for a proxy's `fault`.
 */
export function gethPoolRules(direct: FaultProxy['direct']): FaultProxy['fault'] {
  /** The newest forwarded transaction, by sender and nonce. */
  const pool = new Map<string, Transaction>()

  const refusal = (message: string): Fault => ({
    kind: 'refusal',
    error: { code: -32000, message },
  })

  return async ({ method, params }: RpcCall) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const transaction = Transaction.from(String(params[0]))
    const { from, nonce, hash } = transaction
    const next = Number(await direct<Hex>('eth_getTransactionCount', from, 'latest'))
    if (nonce < next) return refusal(`nonce too low: next nonce ${next}, tx nonce ${nonce}`)
    const place = `${from}:${nonce}`
    const rival = pool.get(place)
    if (rival?.hash === hash && (await isPooled(direct, hash))) return refusal('already known')
    if (
      rival &&
      rival.hash !== hash &&
      (await isPooled(direct, rival.hash)) &&
      !outbids(transaction, rival)
    )
      return refusal('replacement transaction underpriced')
    pool.set(place, transaction)
    return undefined
  }
}

async function isPooled(direct: FaultProxy['direct'], hash: string | null): Promise<boolean> {
  const found = await direct<{ blockNumber: Hex | null } | null>('eth_getTransactionByHash', hash)
  return found !== null && found.blockNumber === null
}

/** Geth requires a higher tip and a higher fee cap. */
function outbids(transaction: Transaction, rival: Transaction): boolean {
  const raised = (mine: bigint | null, theirs: bigint | null) =>
    (mine ?? 0n) * 100n >= (theirs ?? 0n) * (100n + PRICE_BUMP)
  return (
    raised(transaction.maxFeePerGas, rival.maxFeePerGas) &&
    raised(transaction.maxPriorityFeePerGas, rival.maxPriorityFeePerGas)
  )
}
