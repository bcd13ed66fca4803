// `node scripts/run.mjs tools/bench/node-calls.ts`: counts the calls to the node of a gateway on a
// chain with a block every 12 seconds and epochs of 32: until a document that comes alone gets its
// 201, until it is final, and in a minute with one document. A call is a JSON-RPC method, which is
// what providers bill.
//
//   --block-time S   (12)
//   --slots N        blocks of an epoch, two of which are not final (32)
//   --every S        seconds from one document to the next (60)
//   --documents N    at this pace (5)
//   --no-final       does not wait for finality, some 13 minutes
import { setTimeout as sleep } from 'node:timers/promises'
import { startRpcProxy } from '#test/support/rpc-proxy.ts'
import { startClockedChain } from './chain.ts'
import { API_KEY, inFolder, startGateway } from './measure.ts'
import { readOptions } from './options.ts'
import { quantile } from './quantile.ts'
import { issue } from './requests.ts'

const options = readOptions({ 'block-time': 12, slots: 32, every: 60, documents: 5, final: true })
const MINUTE_MS = 60_000

await inFolder(async (dataDir) => {
  const chain = await startClockedChain(dataDir, options['block-time'], options.slots)
  const proxy = await startRpcProxy(chain.url)
  const gateway = await startGateway(dataDir, { ...chain, url: proxy.url })
  const target = { url: gateway.url, key: API_KEY }
  const headers = { authorization: `Bearer ${API_KEY}` }
  let issued = 0

  async function issueOne(): Promise<number> {
    const begun = performance.now()
    await issue(target, issued++)
    return performance.now() - begun
  }

  async function isFinal(): Promise<boolean> {
    const response = await fetch(`${gateway.url}/v1/events?type=document.final`, { headers })
    return ((await response.json()) as { data: { events: unknown[] } }).data.events.length > 0
  }

  /** @returns What `work` returns, after it has printed the calls meanwhile. */
  async function counted<T>(what: string, work: () => Promise<T>): Promise<T> {
    const [from, begun] = [proxy.asked.length, performance.now()]
    const result = await work()
    const calls = proxy.asked.slice(from)
    const minutes = (performance.now() - begun) / MINUTE_MS
    const methods = [...Map.groupBy(calls, (method) => method)]
      .map(([method, some]) => `${method} ${some.length}`)
      .sort()
    console.log(
      `${what}: ${calls.length} calls in ${minutes.toFixed(2)} min, ${(calls.length / minutes).toFixed(0)} a minute (${methods.join(', ')})`,
    )
    return result
  }

  try {
    await counted('a minute without work', () => sleep(MINUTE_MS))
    const took = await counted('a document alone, until 201', issueOne)
    console.log(`  after ${(took / 1000).toFixed(1)} s`)
    if (options.final)
      await counted('from then until it is final', async () => {
        while (!(await isFinal())) await sleep(1_000)
      })
    const latencies: number[] = []
    await counted(`${options.documents} documents, one every ${options.every} s`, async () => {
      for (let i = 0; i < options.documents; i++) {
        const next = sleep(options.every * 1000)
        latencies.push(await issueOne())
        await next
      }
    })
    latencies.sort((one, other) => one - other)
    const seconds = (part: number) => (quantile(latencies, part) / 1000).toFixed(1)
    console.log(`  201 after ${seconds(0.5)} s, at most ${seconds(1)} s`)
  } finally {
    await gateway.stop()
    await proxy.close()
    await chain.stop()
  }
})
