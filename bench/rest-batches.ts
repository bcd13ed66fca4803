/**
 * `node bench/rest-batches.ts <documents> [requests]`: issues batches of this size over REST, one
 * after the other, through a gateway of its own with its local chain and embedded store. Prints
 * time, processor time and gas per document, the longest time that a request for `/healthz` took
 * meanwhile, and the gateway's maximum resident memory.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../test/support/http.ts'
import { createFetchProvider } from '../verifier/readers/json-rpc.ts'
import { usageOf } from './processes.ts'

const KEY = 'a-key-that-only-the-benchmark-has'
const START = new URL('../scripts/start.ts', import.meta.url).pathname
const [size = 1000, requests = 1] = process.argv.slice(2).map(Number)

const folder = mkdtempSync(join(tmpdir(), 'rest-batches-'))
const port = await freePort()
const chainPort = await freePort()
const gateway = spawn(process.execPath, [START], {
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

/** Of the gateway, in MiB. */
function memory(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
}

function* lines(series: number): Generator<string> {
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

/** @returns The status, and of the answer the lines that report a success and the transaction. */
async function issue(series: number): Promise<Answered> {
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
  await pipeline(lines(series), upload)
  return answered
}

async function gasOf(transaction: string): Promise<number> {
  const provider = createFetchProvider(`http://127.0.0.1:${chainPort}`)
  const params = [transaction]
  const receipt = await provider.request({ method: 'eth_getTransactionReceipt', params })
  return Number((receipt as { gasUsed: string }).gasUsed)
}

/** Asks for `/healthz` every 10 ms. @returns A function that ends it: the longest time, in ms. */
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

try {
  while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) await sleep(100)
  // Warm, and so that the local chain has seen a batch.
  await issue(0)
  const before = memory('VmRSS')
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1000
  for (let series = 1; series <= requests; series++) {
    const started = performance.now()
    const cpu = usageOf(gateway.pid ?? 0)?.cpu ?? 0
    const latency = watchLatency()
    const { status, issued, transaction } = await issue(series)
    const milliseconds = performance.now() - started
    const longest = await latency()
    const used = ((usageOf(gateway.pid ?? 0)?.cpu ?? 0) - cpu) * 1e6
    const gas = await gasOf(transaction)
    console.log(
      `${series}: ${status}, ${issued} of ${size} issued, ${(milliseconds / 1000).toFixed(1)} s, ${((milliseconds * 1000) / size).toFixed(0)} µs a document (${(used / size).toFixed(0)} µs of processor), ${(gas / size).toFixed(1)} gas a document, /healthz within ${longest.toFixed(0)} ms, resident ${memory('VmRSS')} MiB`,
    )
  }
  console.log(
    `${size * requests} documents in ${seconds().toFixed(1)} s; resident before ${before} MiB, maximum ${memory('VmHWM')} MiB`,
  )
} finally {
  gateway.kill('SIGTERM')
  await new Promise((resolve) => gateway.once('exit', resolve))
  rmSync(folder, { recursive: true, force: true })
}
