import { counted } from '../printable.ts'
import type { Quote } from './batch.ts'

/** Gas of a document by itself, and of one among hundreds in a transaction; docs/contract.md. */
const GAS_ALONE = 54_832n
const GAS_AMONG_MANY = 25_441n
const WEI_PER_GWEI = 10n ** 9n
const WEI_PER_ETHER = 10n ** 18n

/**
 * What issuing costs at the present price, in the chain's coin. The gateway estimates a batch. One
 * by one depends on how many documents meet in a transaction, so it is a range.
 */
export function costLines({ size, gas, fee, maxFee }: Quote): string[] {
  const price = BigInt(gas) === 0n ? 0n : BigInt(fee) / BigInt(gas)
  const times = (each: bigint) => ether(BigInt(size) * each * price)
  return [
    `Cost of ${counted(size, 'document')}, at ${decimals(price, WEI_PER_GWEI)} gwei:`,
    `  one by one  about ${times(GAS_AMONG_MANY)} to ${times(GAS_ALONE)} ether`,
    `  --batch     about ${ether(BigInt(fee))}, at most ${ether(BigInt(maxFee))} ether`,
  ]
}

function ether(wei: bigint): string {
  return decimals(wei, WEI_PER_ETHER)
}

const THREE_DIGITS = new Intl.NumberFormat('en', {
  maximumSignificantDigits: 3,
  useGrouping: false,
})

function decimals(amount: bigint, unit: bigint): string {
  return THREE_DIGITS.format(Number(amount) / Number(unit))
}
