/**
 * Measures issuing on a chain with slow blocks: `node scripts/run.mjs test/faults/slow-blocks.ts
 * --interval 12 --rate 5 --seconds 180`. An Anvil makes a block every `--interval` seconds;
 * requests come at a steady rate with the default wait. Fails when more than 1 % are answered 202.
 */
import { parseArgs } from 'node:util'
import { NOTHING_WRONG } from './support/oracle.ts'
import { mineEvery, runSteadyLoad } from './support/steady-load.ts'
import { startAnvilWorld } from './support/world.ts'

const { values } = parseArgs({
  options: {
    interval: { type: 'string', default: '12' },
    rate: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '180' },
  },
})
const world = await startAnvilWorld()
try {
  await mineEvery(world.chain, Number(values.interval))
  // Lets the gateway learn the block time.
  await runSteadyLoad(world, {
    perSecond: 1,
    seconds: 5 * Number(values.interval),
  })
  const load = await runSteadyLoad(world, {
    perSecond: Number(values.rate),
    seconds: Number(values.seconds),
  })
  await world.settle()
  const judgement = await world.judge()
  const wrong = Object.keys(NOTHING_WRONG).filter(
    (name) => JSON.stringify(Reflect.get(judgement, name)) !== '[]',
  )
  process.stdout.write(`${JSON.stringify({ ...values, ...load, wrong })}\n`)
  if (load.pending > load.requests / 100 || wrong.length > 0) process.exitCode = 1
} finally {
  await world.close()
}
