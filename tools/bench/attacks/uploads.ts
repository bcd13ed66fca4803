import { request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Attack, flood, type Target } from './attack.ts'

const UPLOADS = 8
/** A little more than the minimum for a body. */
const BYTES_PER_SECOND = 20 * 1024
/** How long others try, in milliseconds. */
const PATIENCE_MS = 20_000

/** Keeps slow uploads open, and opens the next one when one is refused or cut off. */
export const uploads: Attack = {
  name: 'uploads',
  start: async (target) => sendSlowly(target, '/v1/batches'),
  async other(target) {
    const document = { subjectName: 'Ada Lovelace', subjectId: '18151210', category: 'diploma' }
    const line = JSON.stringify({
      ...document,
      issuedAt: '2026-01-31',
      metadata: { run: unique() },
    })
    await untilServed(target, '/v1/batches', line)
  },
}

const unique = () => `${performance.now()}`

/** Sends to a route that accepts NDJSON as slowly as allowed. */
export function sendSlowly({ url, key }: Target, path: string): () => Promise<void> {
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

/** Sends NDJSON until it is served, or for {@link PATIENCE_MS}. */
export async function untilServed({ url, key }: Target, path: string, body: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  for (let status = 503; status === 503 && performance.now() < until; ) {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
    })
    await response.arrayBuffer()
    status = response.status
    if (status === 503) await sleep(250)
    else if (!response.ok) throw new Error(`${path} answered ${status}`)
  }
}
