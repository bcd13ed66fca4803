// `npm run costs`: what a year of issuing costs, from the gas snapshot of the contract.
//
//   --gwei 2          the price of a unit of gas
//   --coin 3000       the price of the chain's coin, in your currency
//   --documents N     of a year, instead of the three examples
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const gas = JSON.parse(
  readFileSync(new URL('../test/contracts/gas.json', import.meta.url), 'utf8'),
) as Record<'issue one' | 'issue many, 500' | 'Merkle root of 1,000' | 'revoke one', number>

const { values } = parseArgs({
  options: {
    gwei: { type: 'string', default: '2' },
    coin: { type: 'string', default: '3000' },
    documents: { type: 'string' },
  },
})
const [gwei, coin] = [numberOf(values.gwei, '--gwei'), numberOf(values.coin, '--coin')]

/** One document in a hundred is revoked. */
const REVOKED = 0.01
/** The ways to issue, and the gas of one document each way. */
const WAYS = {
  'one by one': gas['issue one'],
  grouped: gas['issue many, 500'],
  'in batches of 1,000': gas['Merkle root of 1,000'],
}

function numberOf(text: string, option: string): number {
  const number = Number(text)
  if (number > 0 && Number.isFinite(number)) return number
  console.error(`${option} must be a number above 0`)
  process.exit(64)
}

/** @returns The costs of a year in the currency of `--coin`. */
const costOf = (documents: number, gasEach: number) =>
  documents * (gasEach + REVOKED * gas['revoke one']) * gwei * 1e-9 * coin

const rounded = (number: number) =>
  number.toLocaleString('en', { maximumFractionDigits: number < 10 ? 2 : 0 })

const sizes =
  values.documents === undefined
    ? [1_000, 50_000, 1_000_000]
    : [numberOf(values.documents, '--documents')]
console.log(`| documents a year | ${Object.keys(WAYS).join(' | ')} |`)
console.log(`|---:|${'---:|'.repeat(Object.keys(WAYS).length)}`)
for (const documents of sizes) {
  const costs = Object.values(WAYS).map((gasEach) => rounded(costOf(documents, gasEach)))
  console.log(`| ${rounded(documents)} | ${costs.join(' | ')} |`)
}
