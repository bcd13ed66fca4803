/**
 * Measures issuing on a chain with a block every 250 ms: `node scripts/run.mjs
 * test/faults/fast-blocks.ts --connections 50 --seconds 15`. Clients send one request after the
 * other with the default wait. With `--checkout FOLDER` it measures another checkout of this
 * project, by that checkout's own code; its set-up must have run.
 */
import { resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { startAnvilWorld } from './support/world.ts'

const { values } = parseArgs({
  options: {
    checkout: { type: 'string', default: new URL('../..', import.meta.url).pathname },
    connections: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '15' },
  },
})
const BLOCK_MS = 250
/** Warms up estimates, connections and the compiler. */
const WARM_UP_SECONDS = 8

const program = pathToFileURL(resolve(values.checkout, 'test/faults/support/world.ts')).href
const its: { startAnvilWorld: typeof startAnvilWorld } = await import(program)
const { chain, client, close } = await its.startAnvilWorld({ LOG_LEVEL: 'silent' })

async function run(seconds: number) {
  const times: number[] = []
  let others = 0
  const began = performance.now()
  const work = async () => {
    while (performance.now() - began < seconds * 1000) {
      const sent = performance.now()
      const [told] = (await client.issue()).told
      if (told?.kind === 'issued' && told.status === 201) times.push(performance.now() - sent)
      else others++
    }
  }
  await Promise.all(Array.from({ length: Number(values.connections) }, work))
  const perSecond = (times.length * 1000) / (performance.now() - began)
  times.sort((a, b) => a - b)
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0)
  return {
    issued: times.length,
    others,
    perSecond: Number(perSecond.toFixed(1)),
    p50: at(0.5),
    p99: at(0.99),
  }
}

await chain.request('evm_setAutomine', false)
const clock = setInterval(() => chain.request('evm_mine').catch(() => {}), BLOCK_MS)
try {
  await run(WARM_UP_SECONDS)
  const measured = await run(Number(values.seconds))
  process.stdout.write(`${JSON.stringify({ connections: values.connections, ...measured })}\n`)
} finally {
  clearInterval(clock)
  await close()
}
