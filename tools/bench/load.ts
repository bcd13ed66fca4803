// The load generator, which runs as a separate process: one request at a time on each of its
// connections.
//
//   node tools/bench/load.ts '{"url", "connections", "requests", "seconds", …}'
//
// It prints a `LoadResult` as JSON.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { quantile } from './quantile.ts'

export type LoadOptions = {
  url: string
  /**
   * `issue` and `echo` send documents, `issue keyed` with an idempotency key each. `verify` cycles
   * through the publicIds of a file (one per line) in text order. That is the order of their
   * hashes, so neighbours are in different blocks.
   */
  kind: 'issue' | 'issue keyed' | 'verify' | 'echo'
  connections: number
  /** The run ends after this number of requests or seconds, whichever comes first. */
  requests: number
  seconds: number
  apiKey: string
  /** The file of publicIds: input of `verify`, output of `issue`. */
  idsFile: string
  /** The maximum number of publicIds to use; absent = all. */
  distinct?: number
}

export type LoadResult = {
  requests: number
  /** Responses with an unexpected status. */
  failures: number
  seconds: number
  /** Milliseconds. */
  p50: number
  p99: number
}

const EXPECTED = { issue: 201, 'issue keyed': 201, verify: 200, echo: 200 } as const

const options: LoadOptions = JSON.parse(process.argv[2] ?? '{}')
const { kind } = options
const { host } = new URL(options.url)
const HEAD = `Host: ${host}\r\nAuthorization: Bearer ${options.apiKey}`
const RUN = randomUUID()
const ids =
  kind === 'verify'
    ? readFileSync(options.idsFile, 'utf8').trimEnd().split('\n').sort().slice(0, options.distinct)
    : []
const latencies: number[] = []
const issued: string[] = []
let sent = 0
let failures = 0

const documentOf = (n: number) =>
  JSON.stringify({
    subjectName: `Ada Lovelace ${n}`,
    subjectId: String(18_151_210 + n),
    category: 'birth_certificate',
    issuedAt: '2026-01-31',
    expiresAt: '2099-12-31',
    metadata: { place: 'London', register: `volume ${n % 100}` },
  })

function requestOf(n: number): string {
  if (kind === 'verify')
    return `GET /v1/verify?publicId=${ids[n % ids.length]} HTTP/1.1\r\n${HEAD}\r\n\r\n`
  const body = documentOf(n)
  const key = kind === 'issue keyed' ? `Idempotency-Key: ${RUN}-${n}\r\n` : ''
  return `POST /v1/documents HTTP/1.1\r\n${HEAD}\r\n${key}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** Reports only the first failure, because a case with failures is not a valid measurement. */
function fail(statusCode: number, text: string): void {
  if (failures++ === 0) console.error(`answered ${statusCode}: ${text}`)
}

/** One connection of the load generator, one request at a time. */
type Connection = {
  /** @param text The complete HTTP request. */
  request(text: string): Promise<{ status: number; body: string }>
  close(): void
}

/**
 * A minimal HTTP connection, because the load generator shares the cores with what it measures: on
 * two cores a bare Hono server answered 23,000 requests a second from undici's clients, and 35,000
 * from these. Supports only responses with a Content-Length.
 */
async function openConnection(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setNoDelay()
  await once(socket, 'connect')
  let received = ''
  let answered = (_: { status: number; body: string }) => {}
  let failed = (_: Error) => {}

  // In Latin-1, bytes and characters have the same offsets.
  socket.setEncoding('latin1').on('data', (chunk) => {
    received += chunk
    const head = received.indexOf('\r\n\r\n')
    if (head === -1) return
    const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1]
    if (length === undefined) return failed(new Error('no Content-Length'))
    const body = received.slice(head + 4)
    if (body.length < Number(length)) return
    // The status follows 'HTTP/1.1 '.
    const status = Number(received.slice(9, 12))
    received = ''
    answered({ status, body })
  })
  socket.on('error', (error) => failed(error))
  socket.on('close', () => failed(new Error('the connection was closed')))

  return {
    request(text) {
      return new Promise((resolve, reject) => {
        answered = resolve
        failed = reject
        socket.write(text)
      })
    },
    close: () => socket.destroy(),
  }
}

async function runConnection(until: number): Promise<void> {
  const connection = await openConnection(options.url)
  while (sent < options.requests && performance.now() < until) {
    const request = requestOf(sent++)
    const start = performance.now()
    const { status, body } = await connection.request(request)
    latencies.push(performance.now() - start)
    if (status !== EXPECTED[kind]) fail(status, body)
    else if (kind !== 'echo' && kind !== 'verify')
      issued.push(/"publicId":"([^"]+)"/.exec(body)?.[1] ?? '')
  }
  connection.close()
}

const start = performance.now()
const until = start + options.seconds * 1000
await Promise.all(Array.from({ length: options.connections }, () => runConnection(until)))
const seconds = (performance.now() - start) / 1000
if (kind === 'issue') writeFileSync(options.idsFile, `${issued.join('\n')}\n`)

latencies.sort((a, b) => a - b)
const result: LoadResult = {
  requests: latencies.length,
  failures,
  seconds,
  p50: quantile(latencies, 0.5),
  p99: quantile(latencies, 0.99),
}
console.log(JSON.stringify(result))
