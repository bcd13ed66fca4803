import { randomBytes } from 'node:crypto'
import { type Attack, client, flood, type Target } from './attack.ts'
import { sendSlowly, untilServed } from './uploads.ts'

const PATH = '/v1/revocations'
/** Of one list. */
const ENTRIES = 10_000

/** Keeps lists of revocations open, as slowly as they may be sent. */
export const slowRevocations: Attack = {
  name: 'slow-revocations',
  start: async (target) => sendSlowly(target, PATH),
  other: revokeOne,
}

/** Revokes lists of documents that do not exist, as long as lists may be. */
export const longRevocations: Attack = {
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
