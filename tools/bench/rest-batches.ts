/**
 * `node tools/bench/rest-batches.ts <documents> [requests]`: issues batches of this size over REST, one
 * after the other, through a gateway of its own with its local chain and embedded store, after some
 * of 1,000 to compare with. Prints for each its time, processor time and gas per document, the
 * longest time that a request for `/healthz` took meanwhile, and memory after it; then the whole
 * time, and the time per document in relation to batches of 1,000.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '#test/support/http.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { API_KEY, inFolder, startService } from './measure.ts'
import { metered, usageOf } from './processes.ts'
import { median } from './quantile.ts'
import { whole } from './report.ts'
import { issueBatch } from './requests.ts'

/**
 * The batches to compare with: first those that warm up the compiler, and then those that count.
 */
const COMPARED = { size: 1000, warmUp: 20, requests: 11 }
const [size = 1000, requests = 1] = process.argv.slice(2).map(Number)
const MIB = 2 ** 20

await inFolder(async (dataDir) => {
  const chainPort = await freePort()
  const env = { CHAIN_PORT: `${chainPort}`, LOG_LEVEL: 'error' }
  const gateway = await startService(dataDir, { env })
  const target = { url: gateway.url, key: API_KEY }
  const provider = createFetchProvider(`http://127.0.0.1:${chainPort}`)

  async function gasOf(transaction: string): Promise<number> {
    const params = [transaction]
    const receipt = await provider.request({ method: 'eth_getTransactionReceipt', params })
    return Number((receipt as { gasUsed: string }).gasUsed)
  }

  /**
   * Requests `/healthz` every 10 ms. @returns A function that stops it and returns the longest time
   * in ms.
   */
  function watchLatency(): () => Promise<number> {
    let going = true
    const watching = (async () => {
      let longest = 0
      while (going) {
        const started = performance.now()
        await (await fetch(`${gateway.url}/healthz`)).text()
        longest = Math.max(longest, performance.now() - started)
        await sleep(10)
      }
      return longest
    })()
    return () => {
      going = false
      return watching
    }
  }

  /**
   * @returns For the gateway's main thread, the used heap in MiB, and the longest time since the
   * last call that its event loop took for a timer of 10 ms, in ms. `/healthz` also waits for this
   * process, which is busy with the upload.
   */
  async function mainThread(): Promise<{ heap: number; turn: number }> {
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    const heap = metric('nodejs_heap_size_used_bytes') / MIB
    return { heap, turn: metric('nodejs_eventloop_lag_max_seconds') * 1000 }
  }

  let series = 0

  /** Issues a batch. @returns Microseconds per document. */
  async function measure(size: number, report: (line: string) => void): Promise<number> {
    await mainThread()
    const latency = watchLatency()
    const { result, seconds, cpu } = await metered({ gateway: gateway.pid }, () =>
      issueBatch(target, series++, size),
    )
    const longest = await latency()
    const micros = (seconds * 1e6) / size
    const gas = (await gasOf(result.transaction)) / size
    const { heap, turn } = await mainThread()
    const resident = (usageOf(gateway.pid)?.resident ?? Number.NaN) / MIB
    report(
      `${size} issued in ${seconds.toFixed(1)} s: ${whole(micros)} µs a document (${whole((cpu.gateway * 1e6) / size)} µs of processor), ${gas.toFixed(1)} gas a document, /healthz within ${whole(longest)} ms, event loop within ${whole(turn)} ms, resident ${whole(resident)} MiB, heap ${whole(heap)} MiB`,
    )
    return micros
  }

  async function measureSome(size: number, requests: number, report: (line: string) => void) {
    const times: number[] = []
    for (let i = 1; i <= requests; i++)
      times.push(await measure(size, (line) => report(`${i}: ${line}`)))
    return median(times)
  }

  try {
    await measureSome(COMPARED.size, COMPARED.warmUp, () => {})
    const compared = await measureSome(COMPARED.size, COMPARED.requests, console.log)
    const began = performance.now()
    const micros = await measureSome(size, requests, console.log)
    const seconds = (performance.now() - began) / 1000
    const peak = (usageOf(gateway.pid)?.peak ?? Number.NaN) / MIB
    console.log(
      `${size * requests} documents in ${seconds.toFixed(1)} s; maximum resident ${whole(peak)} MiB`,
    )
    console.log(
      `median ${whole(micros)} µs a document at ${size}, ${whole(compared)} at ${COMPARED.size}: ${(micros / compared).toFixed(2)} times as long`,
    )
  } finally {
    await gateway.stop()
  }
})
