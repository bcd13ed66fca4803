// `node tools/capacity.ts`: where the limits of several gateways lie. Simulates a
// year of issuing with the figures of tools/bench/results/ and the gas snapshot of the contract.
//
//   --gas-limit 60      of a block, in millions
//   --block-time 12     seconds
//   --share 10          percent of the chain's gas that the issuer may use
//   --fork osaka        or amsterdam, with its prices of gas
//   --gwei 1            the price of a unit of gas
//   --verifications 5   of each document
import { parseArgs } from 'node:util'
import { readFigures, type Way } from './capacity/figures.ts'
import { simulateYear } from './capacity/year.ts'

const { values } = parseArgs({
  options: {
    'gas-limit': { type: 'string', default: '60' },
    'block-time': { type: 'string', default: '12' },
    share: { type: 'string', default: '10' },
    fork: { type: 'string', default: 'osaka' },
    gwei: { type: 'string', default: '1' },
    verifications: { type: 'string', default: '5' },
  },
})

function numberOf(option: keyof typeof values): number {
  const number = Number(values[option])
  if (number > 0 && Number.isFinite(number)) return number
  console.error(`--${option} must be a number greater than 0`)
  process.exit(64)
}

const SIZES = [100_000, 1_000_000, 10_000_000, 100_000_000]
const WAYS = { grouped: 'grouped', batches: 'in batches of 1,000' } as const
/** The number of documents in a full transaction: `MAX_BATCH`, and that of a batch. */
const FULL = { grouped: 200, batches: 1_000 } as const
/** The number of partial transactions that a gateway makes for a block. */
const LANES = 2
/** Above this utilization, requests wait for the processor. */
const BUSY = 0.7

const figures = readFigures(values.fork)
const blockTime = numberOf('block-time')
const gasASecond = (numberOf('gas-limit') * 1e6) / blockTime
const allowed = (gasASecond * numberOf('share')) / 100
const gwei = numberOf('gwei')
const verifications = numberOf('verifications')

/** @returns The gas of one document at this number per second. */
function gasOf(way: Way, aSecond: number): number {
  const together = way === 'grouped' ? (aSecond * blockTime) / LANES : FULL.batches
  return figures.gas[way](Math.min(Math.max(together, 1), FULL[way]))
}

/** The gas of each document in full transactions. */
const fullGas = (way: Way) => figures.gas[way](FULL[way])

/** The processor time of gateways for one document and its verifications, in microseconds. */
const microsOf = (way: Way) =>
  figures.gatewayMicros[way] + verifications * figures.gatewayMicros.verify

function rowOf(documents: number, way: Way): string[] {
  const { busiest, longestDelay } = simulateYear(documents, (3600 * allowed) / fullGas(way))
  const gas = busiest * gasOf(way, busiest)
  return [
    short(documents),
    WAYS[way],
    short(busiest),
    `${short((100 * gas) / gasASecond)} %`,
    longestDelay === undefined ? 'grows' : `${short(longestDelay)} h`,
    short(gas * 3600 * gwei * 1e-9),
    short((busiest * microsOf(way)) / 1e6),
    short((documents * figures.bytes) / 2 ** 30),
  ]
}

/** @returns The documents of a year in whose busiest hour this many come in per second. */
const yearOf = (aSecond: number) => aSecond / simulateYear(1, Number.MAX_VALUE).busiest

/** @returns The point at which each part reaches its limit in the busiest hour. */
function limitsOf(way: Way): [string, number][] {
  return [
    [`${values.share} % of the chain's gas`, allowed / fullGas(way)],
    ["all of the chain's gas", gasASecond / fullGas(way)],
    [`one gateway, busy at ${100 * BUSY} %`, (BUSY * 1e6) / microsOf(way)],
    [`one core for PostgreSQL, busy at ${100 * BUSY} %`, (BUSY * 1e6) / figures.postgresMicros],
  ]
}

const short = (number: number) =>
  number.toLocaleString(
    'en',
    number < 10 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 0 },
  )

function print(head: readonly string[], rows: readonly string[][]): void {
  console.log(`| ${head.join(' | ')} |`)
  console.log(`|---:|---|${'---:|'.repeat(head.length - 2)}`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

const ways = Object.keys(WAYS) as Way[]
print(
  [
    'documents a year',
    'issued',
    'a second, busiest hour',
    'of all gas in it',
    'longest delay',
    'ether in it',
    'gateway cores in it',
    'GiB in PostgreSQL',
  ],
  SIZES.flatMap((documents) => ways.map((way) => rowOf(documents, way))),
)
console.log()
print(
  ['documents a second', 'reach the limit of', 'issued', 'documents a year'],
  ways.flatMap((way) =>
    limitsOf(way).map(([part, aSecond]) => [
      short(aSecond),
      part,
      WAYS[way],
      `${short(yearOf(aSecond) / 1e6)} million`,
    ]),
  ),
)
