// How much of the service's own code one request runs: `node tools/footprint.ts [checkout]`.
//
// Starts the service of this checkout, or of another one that is set up, and counts with V8's
// precise coverage the functions that the second `POST /v1/documents` and the second verification
// call in the main thread until they are answered, and the files of these functions.
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { freePort } from '#local-chain/free-port.ts'
import { API_KEY, inFolder, startService } from './bench/measure.ts'
import { issue } from './bench/requests.ts'

type Coverage = { result: { url: string; functions: { ranges: { count: number }[] }[] }[] }

/**
 * After this time the work that follows an earlier answer is done: finality, events, a checkpoint.
 */
const QUIET_MS = 5_000

const checkout = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const root = pathToFileURL(`${checkout}/`).href

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

async function verifyAt(url: string, publicId: string): Promise<void> {
  const answer = await fetch(`${url}/v1/verify?publicId=${publicId}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
}

await inFolder(async (dataDir) => {
  const inspector = await freePort()
  const { url, stop } = await startService(dataDir, {
    checkout,
    env: { WAIT_SECONDS: '60', LOG_LEVEL: 'error' },
    flags: [`--inspect=127.0.0.1:${inspector}`],
  })
  try {
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
    const target = { url, key: API_KEY }
    const first = await issue(target, 1)
    await verifyAt(url, first.publicId)
    const { publicId } = await count('POST /v1/documents', () => issue(target, 2))
    await count('GET /v1/verify', () => verifyAt(url, publicId))
    // A process does not end while its inspector has a client.
    disconnect()
  } finally {
    await stop()
  }
})
