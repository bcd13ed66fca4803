import { randomBytes } from 'node:crypto'
import { request as httpRequest, METHODS } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { documentOf, post } from '../requests.ts'
import { type Attack, flood, type Target } from './attack.ts'
import { webhooks } from './webhooks.ts'

/** Requests QR codes as PNG, within the limit of an address. */
const qr: Attack = {
  async start(_, send) {
    const path = `/qr/${golden.documents[0]?.publicId}?format=png`
    return flood({ atOnce: 2_000, perSecond: 100 }, () => send(path))
  },
}

/** Requests without a key that are refused, for paths and methods that are not served. */
const refusals: Attack = {
  async start(_, send) {
    return flood({ atOnce: 50 }, (number) =>
      number % 2 === 0 ? send('/v1/nothing') : send('/api/documents', { method: 'PUT' }),
    )
  },
}

/** Makes labels with every method on every path, and then scrapes without a pause. */
const metrics: Attack = {
  async start({ url }, send) {
    const description = await (await fetch(`${url}/openapi.json`)).json()
    const paths = Object.keys((description as { paths: object }).paths)
    const headers = { authorization: 'Bearer nobodys' }
    for (const path of paths.map((one) => one.replaceAll(/[{}]/g, '')))
      for (const method of METHODS)
        if (method !== 'CONNECT') await send(path, { method, headers }).catch(() => {})
    return flood({ atOnce: 20 }, (number) => send(number % 2 === 0 ? '/metrics' : '/readyz'))
  },
}

/** The maximum number of slots that is permitted, now and before. */
const SLOTS = [32, 256]

/** Requests large storage proofs in full batches, within the limit of an address. */
const proofs: Attack = {
  async start({ url }, send) {
    const home = await (await fetch(url, { headers: { accept: 'application/json' } })).json()
    const [, , address] = (home as { data: { registry: string } }).data.registry.split(':')
    const bodies = SLOTS.map((count) => {
      const slots = Array.from({ length: count }, (_, i) => `0x${(i + 1).toString(16)}`)
      const params = [address, slots, 'latest']
      const proof = { jsonrpc: '2.0', id: 1, method: 'eth_getProof', params }
      return JSON.stringify(Array(10).fill(proof))
    })
    const headers = { 'content-type': 'application/json' }
    return flood({ atOnce: 200, perSecond: 100 }, (number) => {
      const body = bodies[number % bodies.length] ?? ''
      return send('/rpc', { method: 'POST', headers, body })
    })
  },
}

const UPLOADS = 8
/** A little more than the minimum for a body. */
const BYTES_PER_SECOND = 20 * 1024

/**
 * Keeps bodies of NDJSON open by sending them as slowly as allowed, and opens the next one when one
 * is refused or cut off.
 */
function sendSlowly({ url, key }: Target, path: string): () => Promise<void> {
  const over = new AbortController()
  const chunk = Buffer.alloc(BYTES_PER_SECOND, ' ')
  const stop = flood({ atOnce: UPLOADS }, async () => {
    const upload = httpRequest(`${url}${path}`, {
      method: 'POST',
      signal: over.signal,
      agent: false,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
    })
    upload.on('error', () => {})
    upload.on('response', (response) => response.resume().on('end', () => upload.destroy()))
    while (!upload.destroyed) {
      upload.write(chunk)
      await sleep(1_000)
    }
  })
  return async () => {
    over.abort()
    await stop()
  }
}

/** How long others try, in milliseconds. */
const PATIENCE_MS = 20_000

/** Sends NDJSON until it is served, or for {@link PATIENCE_MS}. */
async function untilServed(target: Target, path: string, line: object): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  for (let status = 503; status === 503 && performance.now() < until; ) {
    const response = await post(target, path, JSON.stringify(line))
    await response.arrayBuffer()
    status = response.status
    if (status === 503) await sleep(250)
    else if (!response.ok) throw new Error(`${path} answered ${status}`)
  }
}

const uploads: Attack = {
  start: async (target) => sendSlowly(target, '/v1/batches'),
  other: (target) =>
    untilServed(target, '/v1/batches', { ...documentOf(0), metadata: { run: unique() } }),
}

const unique = () => `${performance.now()}`

const REVOCATIONS = '/v1/revocations'
/** The number of entries in one list. */
const ENTRIES = 10_000
const someHash = () => `0x${randomBytes(32).toString('hex')}`
const revokeOne = (target: Target) => untilServed(target, REVOCATIONS, { documentHash: someHash() })

const slowRevocations: Attack = {
  start: async (target) => sendSlowly(target, REVOCATIONS),
  other: revokeOne,
}

/** Revokes the longest lists of documents that do not exist. */
const longRevocations: Attack = {
  async start(target) {
    const list = () =>
      Array.from({ length: ENTRIES }, () => `{"documentHash":"${someHash()}"}\n`).join('')
    return flood({ atOnce: 4 }, async () => (await post(target, REVOCATIONS, list())).text())
  },
  other: revokeOne,
}

/** The runs that one key may have at a time. */
const RUNS_A_KEY = 5
/** More than are issued while the times are measured. */
const ROWS = 10_000

/** Lets the service issue as many documents as the keys of one tenant may have it issue. */
const runs: Attack = {
  async start({ url, keys }) {
    for (const key of keys)
      for (let run = 0; run < RUNS_A_KEY; run++) {
        const rows = Array.from({ length: ROWS }, (_, i) =>
          JSON.stringify({ ...documentOf(i), metadata: { run: `${run}` } }),
        )
        const response = await post({ url, key }, '/v1/runs', rows.join('\n'))
        if (!response.ok) throw new Error(`a run was answered with ${response.status}`)
      }
    return async () => {}
  },
}

export const SCENARIOS: Record<string, Attack> = {
  qr,
  refusals,
  metrics,
  proofs,
  uploads,
  'slow-revocations': slowRevocations,
  'long-revocations': longRevocations,
  webhooks,
  runs,
}
