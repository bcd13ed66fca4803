/**
 * `node tools/bench/rest-batches.ts <documents> [requests]`: issues batches of this size over REST, one
 * after the other, through a gateway of its own with its local chain and embedded store, after some
 * of 1,000 to compare with. Prints for each its time, processor time and gas per document, the
 * longest time that a request for `/healthz` took meanwhile, and memory after it; then the whole
 * time, and the time per document in relation to batches of 1,000.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '#test/support/http.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { usageOf } from './processes.ts'
import { median } from './quantile.ts'

const KEY = 'a-key-that-only-the-benchmark-has'
const GATEWAY = new URL('../../apps/docreg-gateway/docreg-gateway.ts', import.meta.url).pathname
/** The same options as in `npm start`. */
const FLAGS = ['--max-semi-space-size=24', '--heap-growing-percent=100']
/**
 * The batches to compare with: first those that warm up the compiler, and then those that count.
 */
const COMPARED = { size: 1000, warmUp: 20, requests: 11 }
const [size = 1000, requests = 1] = process.argv.slice(2).map(Number)

const folder = mkdtempSync(join(tmpdir(), 'rest-batches-'))
const port = await freePort()
const chainPort = await freePort()
const gateway = spawn(process.execPath, [...FLAGS, GATEWAY, 'start'], {
  env: {
    PORT: `${port}`,
    CHAIN_PORT: `${chainPort}`,
    DATA_DIR: join(folder, 'data'),
    API_KEY: KEY,
    LOG_LEVEL: 'error',
  },
  stdio: 'ignore',
})
const url = `http://127.0.0.1:${port}`

/** @returns The memory of the gateway in MiB. */
function memory(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
}

function* lines(series: number, size: number): Generator<string> {
  for (let i = 0; i < size; i++)
    yield `${JSON.stringify({
      subjectName: `Person ${i} of ${series}`,
      subjectId: `${series}${String(i).padStart(7, '0')}`,
      category: 'birth_certificate',
      issuedAt: '2026-01-31',
      metadata: { registrar: 'Testville', volume: `${i % 100}` },
    })}\n`
}

type Answered = { status: number; issued: number; transaction: string }

/**
 * @returns The status, and from the answer the number of lines that report a success, and the
 * transaction.
 */
async function issue(series: number, size: number): Promise<Answered> {
  const upload = httpRequest(`${url}/v1/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/x-ndjson' },
  })
  const answered = new Promise<Answered>((resolve, reject) => {
    upload.on('error', reject)
    upload.on('response', (response) => {
      let issued = 0
      let rest = ''
      let transaction = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => {
        const parts = (rest + text).split('\n')
        rest = parts.pop() ?? ''
        transaction ||= /"blockchainHash":"(0x\w+)"/.exec(text)?.[1] ?? ''
        issued += parts.filter((line) => line.includes('"success":true')).length
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, issued, transaction }))
    })
  })
  await pipeline(lines(series, size), upload)
  return answered
}

async function gasOf(transaction: string): Promise<number> {
  const provider = createFetchProvider(`http://127.0.0.1:${chainPort}`)
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
      await (await fetch(`${url}/healthz`)).text()
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
 * @returns For the gateway's main thread, the used heap in MiB, and the longest time since the last
 * call that its event loop took for a timer of 10 ms, in ms. `/healthz` also waits for this
 * process, which is busy with the upload.
 */
async function mainThread(): Promise<{ heap: number; turn: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    heap: Math.round(metric('nodejs_heap_size_used_bytes') / 1024 ** 2),
    turn: Math.round(metric('nodejs_eventloop_lag_max_seconds') * 1000),
  }
}

let series = 0

/** Issues a batch. @returns Microseconds per document. */
async function measure(size: number, report: (line: string) => void): Promise<number> {
  series++
  await mainThread()
  const cpu = usageOf(gateway.pid)?.cpu ?? 0
  const latency = watchLatency()
  const started = performance.now()
  const { status, issued, transaction } = await issue(series, size)
  const milliseconds = performance.now() - started
  const longest = await latency()
  const used = ((usageOf(gateway.pid)?.cpu ?? 0) - cpu) * 1e6
  if (status !== 201 || issued !== size) throw new Error(`${status}, ${issued} of ${size} issued`)
  const micros = (milliseconds * 1000) / size
  const gas = await gasOf(transaction)
  const { heap, turn } = await mainThread()
  report(
    `${issued} issued in ${(milliseconds / 1000).toFixed(1)} s: ${micros.toFixed(0)} µs a document (${(used / size).toFixed(0)} µs of processor), ${(gas / size).toFixed(1)} gas a document, /healthz within ${longest.toFixed(0)} ms, event loop within ${turn} ms, resident ${memory('VmRSS')} MiB, heap ${heap} MiB`,
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
  while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) await sleep(100)
  await measureSome(COMPARED.size, COMPARED.warmUp, () => {})
  const compared = await measureSome(COMPARED.size, COMPARED.requests, console.log)
  const began = performance.now()
  const median = await measureSome(size, requests, console.log)
  console.log(
    `${size * requests} documents in ${((performance.now() - began) / 1000).toFixed(1)} s; maximum resident ${memory('VmHWM')} MiB`,
  )
  console.log(
    `median ${median.toFixed(0)} µs a document at ${size}, ${compared.toFixed(0)} at ${COMPARED.size}: ${(median / compared).toFixed(2)} times as long`,
  )
} finally {
  gateway.kill('SIGTERM')
  await new Promise((resolve) => gateway.once('exit', resolve))
  rmSync(folder, { recursive: true, force: true })
}
