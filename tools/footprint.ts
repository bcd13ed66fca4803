// How much of the service's own code one request runs: `node tools/footprint.ts [checkout]`.
//
// Starts the service of this checkout, or of another one that is set up, and counts with V8's
// precise coverage the functions that the second `POST /v1/documents` and the second verification
// call in the main thread until they are answered, and the files of these functions.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { freePort } from '#local-chain/free-port.ts'
import { inFolder, PROGRAMS, START_FLAGS } from './bench/measure.ts'
import { untilReady } from './bench/processes.ts'

type Coverage = { result: { url: string; functions: { ranges: { count: number }[] }[] }[] }

/**
 * After this time the work that follows an earlier answer is done: finality, events, a checkpoint.
 */
const QUIET_MS = 5_000

const checkout = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const root = pathToFileURL(`${checkout}/`).href
const API_KEY = 'footprint-footprint-footprint-footprint'

/** @returns Files and functions of the checkout with at least one call. */
function countCalls({ result }: Coverage) {
  const own = result.filter(({ url }) => url.startsWith(root) && !url.includes('/node_modules/'))
  const called = own.map(({ functions }) => functions.filter((one) => one.ranges[0]?.count).length)
  return { files: called.filter(Boolean).length, functions: called.reduce((a, b) => a + b, 0) }
}

/** Sends commands to a process that was started with --inspect, until it is disconnected. */
async function connect(port: number) {
  const [target] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((opened) => socket.addEventListener('open', opened, { once: true }))
  let id = 0
  const call = <T>(method: string, params: object = {}): Promise<T> =>
    new Promise((answered) => {
      const own = ++id
      const read = ({ data }: MessageEvent) => {
        const message = JSON.parse(data)
        if (message.id !== own) return
        socket.removeEventListener('message', read)
        answered(message.result)
      }
      socket.addEventListener('message', read)
      socket.send(JSON.stringify({ id: own, method, params }))
    })
  return { call, disconnect: () => socket.close() }
}

/** @returns The publicId of the issued document. */
async function issueAt(url: string): Promise<string> {
  const answer = await fetch(`${url}/v1/documents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      subjectName: 'Ada Lovelace',
      subjectId: '18151210',
      category: 'birth_certificate',
      issuedAt: '2026-01-31',
    }),
  })
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`)
  const { data } = await answer.json()
  return data.publicId
}

async function verifyAt(url: string, publicId: string): Promise<void> {
  const answer = await fetch(`${url}/v1/verify?publicId=${publicId}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
}

await inFolder(async (dataDir) => {
  const [port, inspector] = [await freePort(), await freePort()]
  const program = PROGRAMS.find((place) => existsSync(join(checkout, place))) ?? ''
  const start = [`--inspect=127.0.0.1:${inspector}`, ...START_FLAGS, program, 'start']
  const service = spawn(process.execPath, start, {
    cwd: checkout,
    env: {
      PATH: process.env.PATH ?? '',
      PORT: `${port}`,
      CHAIN_PORT: '0',
      DATA_DIR: dataDir,
      API_KEY,
      WAIT_SECONDS: '60',
    },
    stdio: 'ignore',
  })
  try {
    const url = `http://127.0.0.1:${port}`
    await untilReady(`${url}/readyz`)
    const { call, disconnect } = await connect(inspector)
    await call('Profiler.enable')
    await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    const count = async <T>(title: string, work: () => Promise<T>): Promise<T> => {
      await sleep(QUIET_MS)
      await call('Profiler.takePreciseCoverage')
      const done = await work()
      const counted = countCalls(await call<Coverage>('Profiler.takePreciseCoverage'))
      console.log(`${title}: ${counted.functions} functions in ${counted.files} files`)
      return done
    }
    const issue = () => issueAt(url)
    const verify = (publicId: string) => verifyAt(url, publicId)
    await verify(await issue())
    const publicId = await count('POST /v1/documents', issue)
    await count('GET /v1/verify', () => verify(publicId))
    // A process does not end while its inspector has a client.
    disconnect()
  } finally {
    service.kill('SIGTERM')
    await new Promise((closed) => service.once('close', closed))
  }
})
