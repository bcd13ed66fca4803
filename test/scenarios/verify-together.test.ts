import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { ADA, API_KEY, type Stack, startStack } from '../support/stack.ts'

// Documents that are verified together share calls to the node.

const COUNT = 60
/** How many calls that read the registry go out at a time; what comes then waits for them. */
const AT_ONCE = 4

let stack: Stack
let publicIds: string[]
let expected: string[]
beforeAll(async () => {
  stack = await startStack()
  const issued = await Promise.all(
    Array.from({ length: COUNT }, (_, i) => stack.issue({ ...ADA, subjectId: String(i) })),
  )
  const ours = issued.map(({ body }) => body.data.publicId)
  for (const publicId of ours.slice(0, 3)) await revoke(publicId)
  // What others may send along: no such document, no such issuer, another key.
  const [, , , one = ''] = ours
  const decoded = decodePublicId(one)
  const foreign = [
    { hash: decoded.hash.toReversed() },
    { issuerId: 4_294_967_295 },
    { documentKey: decoded.documentKey.toReversed() },
  ].map((change) => encodePublicId({ ...decoded, ...change }))
  publicIds = [...ours, ...foreign, ...ours.slice(0, 5)]
  const statuses = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => (from + i < 3 ? 'revoked' : 'valid'))
  expected = [...statuses(0, COUNT), 'not_issued', 'not_issued', 'wrong_key', ...statuses(0, 5)]
})
afterEach(() => {
  stack.proxy.refuse = () => false
  stack.proxy.change = (_, result) => result
})
afterAll(() => stack?.stop())

async function revoke(publicId: string) {
  const { status } = await stack.request(`/v1/documents/${publicId}/revoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
    },
    body: '{}',
  })
  expect(status).toBe(200)
}

const reads = (from: number) =>
  stack.proxy.asked.slice(from).filter((method) => method === 'eth_call').length

/** Verifies all of them while the node holds back its first answers. */
async function verifyTogether() {
  const from = stack.proxy.asked.length
  let open = () => {}
  const gate = new Promise<boolean>((resolve) => {
    open = () => resolve(false)
  })
  stack.proxy.refuse = (method) => (method === 'eth_call' ? gate : false)
  const answers: ReturnType<Stack['verify']>[] = []
  // One after another, so that each has a call of its own: together they may share fewer.
  for (const publicId of publicIds.slice(0, AT_ONCE)) {
    answers.push(stack.verify(publicId))
    await expect.poll(() => reads(from)).toBeGreaterThanOrEqual(answers.length)
  }
  answers.push(...publicIds.slice(AT_ONCE).map((publicId) => stack.verify(publicId)))
  // Connections are accepted in order: once these are answered, the others have arrived.
  for (let i = 0; i < 3; i++) await stack.request('/healthz')
  open()
  return { answers: await Promise.all(answers), calls: reads(from) }
}

test('verifies many documents in few calls, each with its own verdict', async () => {
  const { answers, calls } = await verifyTogether()
  expect(answers.map(({ body }) => body.data.status)).toEqual(expected)
  // Issuing reads the registry too, now and then.
  expect(calls).toBeLessThan(publicIds.length / 2)
  const proofs = answers.map(({ body }) => body.data.blockchainProof)
  const hashes = proofs.slice(0, COUNT).map((proof) => proof.transactionHash)
  expect(hashes).toEqual(
    await Promise.all(
      publicIds.slice(0, COUNT).map(async (publicId) => {
        const { body } = await stack.request(`/v1/documents/${publicId}`, {
          headers: { authorization: `Bearer ${API_KEY}` },
        })
        return body.data.blockchainHash
      }),
    ),
  )
  expect(hashes).not.toContain(null)
})

const CHAIN_ID = 31337
const WORD = 64

/** What the node answers to a call of many: its second word is their number, not a chain id. */
const isGroup = (method: string, result: unknown): result is string =>
  method === 'eth_call' && Number(`0x${String(result).slice(2 + WORD, 2 + 2 * WORD)}`) < CHAIN_ID

test.each<[string, (group: string) => string]>([
  ['is garbage', () => '0x'],
  ['breaks off', (group) => group.slice(0, -WORD)],
  [
    'has its parts in another order',
    (group) => {
      const head = group.slice(0, 2 + 2 * WORD)
      const [one, other] = [0, 1].map((i) =>
        group.slice(head.length + i * WORD, head.length + (i + 1) * WORD),
      )
      return `${head}${other}${one}${group.slice(head.length + 2 * WORD)}`
    },
  ],
])('gives no verdict from an answer to many that %s', async (_, change) => {
  let groups = 0
  stack.proxy.change = (method, result) => {
    if (!isGroup(method, result)) return result
    groups++
    return change(result)
  }
  const { answers } = await verifyTogether()
  expect(groups).toBeGreaterThan(0)
  expect(answers.map(({ body }) => body.data.status)).toEqual(expected)
})

test('reports an outage to each, and recovers for each', async () => {
  stack.proxy.refuse = (method) => method === 'eth_call'
  const answers = await Promise.all(publicIds.map((publicId) => stack.verify(publicId)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
  stack.proxy.refuse = () => false
  const after = await verifyTogether()
  expect(after.answers.map(({ body }) => body.data.status)).toEqual(expected)
})
