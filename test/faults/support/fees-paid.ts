import { larger } from '#base/wei.ts'
import type { FeeCaps } from '#engine/spending.ts'
import type { Chain } from './world.ts'

type Block = { transactions: { from: string; gas: string; maxFeePerGas: string }[] }
type Receipt = { from: string; gasUsed: string; effectiveGasPrice: string }

/**
 * Wei by which transactions of these accounts exceeded the cap of a transaction, and by which an
 * account's costs exceeded the cap of the hour; read from the chain only.
 *
 * @param seconds The duration of the run, for the number of hourly caps.
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
    const block = await request<Block | null>('eth_getBlockByNumber', tag, true)
    if (block === null) throw new Error(`the node has no block ${number} of ${head}`)
    const { transactions } = block
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
