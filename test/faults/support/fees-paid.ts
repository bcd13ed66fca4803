import type { FeeCaps } from '../../../gateway/issue/spending.ts'
import { larger } from '../../../gateway/wei.ts'
import type { Chain } from './world.ts'

type Block = { transactions: { from: string; gas: string; maxFeePerGas: string }[] }
type Receipt = { from: string; gasUsed: string; effectiveGasPrice: string }

/**
 * Wei that transactions of these accounts offered above the cap of a transaction, and that all of
 * an account's together cost above the cap of the hour, by the chain alone.
 *
 * @param seconds How long they were sent for.
 */
export async function weiAboveCaps(
  { request }: Pick<Chain, 'request'>,
  accounts: readonly string[],
  caps: FeeCaps,
  seconds: number,
): Promise<bigint> {
  const own = new Set(accounts.map((one) => one.toLowerCase()))
  const paid = new Map<string, bigint>()
  let above = 0n
  const head = Number(await request<string>('eth_blockNumber'))
  for (let number = 0; number <= head; number++) {
    const tag = `0x${number.toString(16)}`
    const { transactions } = await request<Block>('eth_getBlockByNumber', tag, true)
    if (transactions.length === 0) continue
    for (const { from, gas, maxFeePerGas } of transactions)
      if (own.has(from) && caps.transaction !== undefined)
        above += larger(BigInt(gas) * BigInt(maxFeePerGas) - caps.transaction, 0n)
    for (const { from, gasUsed, effectiveGasPrice } of await request<Receipt[]>(
      'eth_getBlockReceipts',
      tag,
    ))
      paid.set(from, (paid.get(from) ?? 0n) + BigInt(gasUsed) * BigInt(effectiveGasPrice))
  }
  const hours = BigInt(Math.ceil(seconds / 3600))
  for (const account of own)
    if (caps.hour !== undefined) above += larger((paid.get(account) ?? 0n) - hours * caps.hour, 0n)
  return above
}
