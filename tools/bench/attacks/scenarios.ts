import { randomBytes } from 'node:crypto'
import { METHODS } from 'node:http'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { type Attack, client, flood, type Target } from './attack.ts'
import { runs } from './runs.ts'
import { sendSlowly, untilServed, uploads } from './uploads.ts'
import { webhooks } from './webhooks.ts'

/** Requests QR codes as PNG, within the limit of an address. */
const qr: Attack = {
  name: 'qr',
  async start({ url }) {
    const send = client(url)
    const path = `/qr/${golden.documents[0]?.publicId}?format=png`
    return flood({ atOnce: 2_000, perSecond: 100 }, () => send(path))
  },
}

/** Requests without a key that are refused, for paths and methods that are not served. */
const refusals: Attack = {
  name: 'refusals',
  async start({ url }) {
    const send = client(url)
    return flood({ atOnce: 50 }, (number) =>
      number % 2 === 0 ? send('/v1/nothing') : send('/api/documents', { method: 'PUT' }),
    )
  },
}

/** Makes labels with every method on every path, and then scrapes without a pause. */
const metrics: Attack = {
  name: 'metrics',
  async start({ url }) {
    const send = client(url)
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
  name: 'proofs',
  async start({ url }) {
    const send = client(url)
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

const PATH = '/v1/revocations'
/** The number of entries in one list. */
const ENTRIES = 10_000

/** Keeps lists of revocations open by sending them as slowly as allowed. */
const slowRevocations: Attack = {
  name: 'slow-revocations',
  start: async (target) => sendSlowly(target, PATH),
  other: revokeOne,
}

/** Revokes the longest lists of documents that do not exist. */
const longRevocations: Attack = {
  name: 'long-revocations',
  async start({ url, key }) {
    const send = client(url)
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/x-ndjson',
    }
    return flood({ atOnce: 4 }, () => send(PATH, { method: 'POST', headers, body: list() }))
  },
  other: revokeOne,
}

const list = () =>
  Array.from(
    { length: ENTRIES },
    () => `{"documentHash":"0x${randomBytes(32).toString('hex')}"}\n`,
  ).join('')

async function revokeOne(target: Target): Promise<void> {
  const documentHash = `0x${randomBytes(32).toString('hex')}`
  await untilServed(target, PATH, JSON.stringify({ documentHash }))
}

export const SCENARIOS: readonly Attack[] = [
  qr,
  refusals,
  metrics,
  proofs,
  uploads,
  slowRevocations,
  longRevocations,
  webhooks,
  runs,
]
