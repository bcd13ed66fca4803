import { expect, onTestFinished, test } from 'vitest'
import { freshSeed, seededRandom } from '../support/random.ts'
import { NOTHING_WRONG_AT_ALL, runChaos } from './support/chaos.ts'
import { weiAboveCaps } from './support/fees-paid.ts'
import { startAnvilWorld } from './support/world.ts'

// A small run of `npm run faults`.

test.each([
  { of: 'one gateway', gateways: 1, documents: 300, kills: 5 },
  {
    of: 'two gateways with a block every 250 ms',
    gateways: 2,
    blockTime: 0.25,
    documents: 100,
    kills: 2,
  },
])(
  'kills of $of, under load and with a faulty node, lose nothing',
  async ({ of: _, documents, kills, ...world }) => {
    const seed = freshSeed()
    // Blocks become final soon, so that rows leave the outbox during the run.
    const { accounts, chain, ...rest } = await startAnvilWorld({}, { finality: 2, ...world })
    onTestFinished(rest.close)
    const figures = await runChaos(
      { accounts, chain, ...rest },
      {
        documents,
        kills,
        connections: 10,
        random: seededRandom(seed),
        troubles: [],
      },
    )
    expect(figures, `seed ${seed}`).toMatchObject(NOTHING_WRONG_AT_ALL)
    expect(await weiAboveCaps(chain, accounts, { transaction: 2n * 10n ** 17n }, 3_600)).toBe(0n)
    // Shows that fees were counted at all.
    expect(await weiAboveCaps(chain, accounts, { transaction: 1n, hour: 1n }, 1)).toBeGreaterThan(
      0n,
    )
  },
)
