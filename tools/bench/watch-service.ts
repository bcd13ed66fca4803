// `API_KEY=… node tools/bench/watch-service.ts URL`: what clients of a running service notice while
// somebody stops one of its parts. Issues and verifies at a steady rate, repeats what was not
// acknowledged with the same Idempotency-Key, and in the end verifies every acknowledged document.
//
//   --seconds S   (40)
//   --rate N      requests a second, of each kind (10)
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { readOptions } from './options.ts'
import { documentOf } from './requests.ts'

const RETRY_INTERVAL_MS = 250
const ANSWER_TIMEOUT_MS = 20_000
const MAX_REPEATS = 400

const { seconds, rate, given } = readOptions({ seconds: 40, rate: 10 })
const origin = given[0] ?? 'http://127.0.0.1:3000'
// A proxy under test has a self-signed certificate.
const dispatcher = new Agent({
  connect: { rejectUnauthorized: false },
  bodyTimeout: ANSWER_TIMEOUT_MS,
  headersTimeout: ANSWER_TIMEOUT_MS,
})

type Answer = { status: number | string; data?: { publicId?: string; status?: string } }

/** @returns The status, or the code of an error of the network. */
async function ask(path: string, body?: object, key?: string): Promise<Answer> {
  const authorization = `Bearer ${process.env.API_KEY ?? ''}`
  try {
    const answer = await request(new URL(path, origin), {
      dispatcher,
      headers: {
        authorization,
        ...(key && { 'content-type': 'application/json', 'idempotency-key': key }),
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    const text = await answer.body.text()
    return { status: answer.statusCode, ...(answer.statusCode < 300 && JSON.parse(text)) }
  } catch (error) {
    return { status: (error as { code?: string }).code ?? String(error) }
  }
}

/** Counts answers, and the longest time without a good one. */
function createCount() {
  const answers = new Map<string, number>()
  let goodAt = performance.now()
  let longest = 0
  return {
    add(status: string, isGood: boolean) {
      answers.set(status, (answers.get(status) ?? 0) + 1)
      if (!isGood) return
      longest = Math.max(longest, performance.now() - goodAt)
      goodAt = performance.now()
    },
    toString: () =>
      `${[...answers].map(([status, count]) => `${status}: ${count}`).join(', ')}; longest pause ${(longest / 1000).toFixed(1)} s`,
  }
}

const issuing = createCount()
const verifying = createCount()
const acknowledged: string[] = []

async function issueOne(number: number): Promise<void> {
  const key = randomUUID()
  const document = documentOf(`${Date.now()}${number}`)
  for (let repeat = 0; repeat < MAX_REPEATS; repeat++) {
    const { status, data } = await ask('/v1/documents', document, key)
    const isGood = status === 201 || status === 202
    issuing.add(String(status), isGood)
    if (isGood && data?.publicId) {
      acknowledged.push(data.publicId)
      return
    }
    if (status === 401 || status === 422) throw new Error(`answered ${status}`)
    await sleep(RETRY_INTERVAL_MS)
  }
}

async function verifyOne(publicId: string, count: ReturnType<typeof createCount>): Promise<void> {
  const { status, data } = await ask(`/v1/verify?publicId=${publicId}`)
  const verdict = data?.status ?? String(status)
  count.add(verdict, verdict === 'valid')
}

const running: Promise<void>[] = []
const count = seconds * rate
for (let number = 0; number < count; number++) {
  running.push(issueOne(number))
  const known = acknowledged[number % Math.max(1, acknowledged.length)]
  if (known) running.push(verifyOne(known, verifying))
  await sleep(1000 / rate)
}
await Promise.all(running)
console.log(`issuing: ${issuing}`)
console.log(`verifying: ${verifying}`)

const left = createCount()
for (const publicId of acknowledged) await verifyOne(publicId, left)
console.log(`${acknowledged.length} acknowledged: ${left}`)
