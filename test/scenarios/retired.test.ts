import { Wallet } from 'ethers'
import { expect, onTestFinished, test } from 'vitest'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../support/stack.ts'
import { transact } from '../support/transact.ts'

// Requests that wait while the issuer, or the admin, takes the right to issue away.

const REFUSED = {
  status: 503,
  body: { success: false, data: {}, error: { code: 'registry_refused' } },
}
const PENDING = { status: 202, body: { data: { status: 'pending' } } }

async function startStackOfTest(): Promise<Stack> {
  const stack = await startStack({ WAIT_SECONDS: '5' })
  onTestFinished(() => stack.stop())
  return stack
}

const admin = (stack: Stack, name: string, args: unknown[]) =>
  transact(stack.provider, stack.registry, stack.adminKey, name, args)

const accountOf = ({ issuerKey }: Stack) => new Wallet(issuerKey).address

/**
 * Holds back the next estimates, and with them the next transaction, until the result is called.
 */
function holdEstimates({ proxy }: Stack): () => void {
  const held = Promise.withResolvers<boolean>()
  proxy.refuse = (method) => (method === 'eth_estimateGas' ? held.promise : false)
  return () => held.resolve(false)
}

const estimateAsked = ({ proxy }: Stack, from: number) =>
  expect.poll(() => proxy.asked.slice(from).includes('eth_estimateGas')).toBe(true)

const revoke = (stack: Stack, publicId: string): Promise<Answer> =>
  stack.request(`/v1/documents/${publicId}/revoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
    },
    body: '{}',
  })

const statusOf = async (stack: Stack, publicId: string) =>
  (await stack.verify(publicId)).body.data?.status

test.each<[string, (stack: Stack) => Promise<unknown>, mayRevoke?: boolean]>([
  ['retired', (stack) => admin(stack, 'retireAccount', [1, accountOf(stack)])],
  ['distrusted', (stack) => admin(stack, 'distrustFrom', [1, accountOf(stack), 1])],
  ['of a closed issuer', (stack) => admin(stack, 'closeIssuer', [1]), true],
  ['without ISSUE', (stack) => admin(stack, 'setPermissions', [1, accountOf(stack), 2])],
])(
  'keeps waiting requests when the account is %s, and refuses new ones',
  async (_, change, mayRevoke = false) => {
    const stack = await startStackOfTest()
    const { publicId } = (await stack.issue(ADA)).body.data
    const from = stack.proxy.asked.length
    const release = holdEstimates(stack)
    const waiting = [
      stack.issue(ADA),
      stack.issue(ADA, { 'idempotency-key': 'a' }),
      // Another kind, so not in the same transaction.
      revoke(stack, publicId),
    ]
    await estimateAsked(stack, from)
    await change(stack)
    release()
    const kept = await Promise.all(waiting)
    // The contract lets the accounts of a closed issuer revoke.
    if (mayRevoke) expect(kept.pop()?.status).toBe(200)
    for (const answer of kept) expect(answer).toMatchObject(PENDING)
    const refused = await stack.issue(ADA)
    expect(refused).toMatchObject(REFUSED)
    expect(refused.headers.get('retry-after')).toBeTruthy()
  },
)

test('completes everything that it accepted, once the account is back', async () => {
  const stack = await startStackOfTest()
  const { publicId } = (await stack.issue(ADA)).body.data
  const from = stack.proxy.asked.length
  const release = holdEstimates(stack)
  const first = await stack.issue(ADA, { prefer: 'respond-async' })
  expect(first).toMatchObject(PENDING)
  await estimateAsked(stack, from)
  const waiting = [stack.issue(ADA, { 'idempotency-key': 'a' }), revoke(stack, publicId)] as const
  await expect
    .poll(async () => (await stack.request('/metrics')).body)
    .toSatisfy((text) => /intents_queued 3/.test(Buffer.from(text).toString()))
  await admin(stack, 'setPermissions', [1, accountOf(stack), 8])
  release()
  const [second, revoked] = await Promise.all(waiting)
  for (const answer of [second, revoked]) expect(answer).toMatchObject(PENDING)
  expect(await stack.issue(ADA)).toMatchObject(REFUSED)

  await admin(stack, 'setPermissions', [1, accountOf(stack), 3])
  for (const { body } of [first, second])
    await expect.poll(() => statusOf(stack, body.data.publicId)).toBe('valid')
  await expect.poll(() => statusOf(stack, publicId)).toBe('revoked')
  await expect.poll(async () => (await stack.request('/readyz')).status).toBe(200)
  const again = await stack.issue(ADA, { 'idempotency-key': 'a' })
  expect(again).toMatchObject({
    status: 201,
    body: { data: { publicId: second.body.data.publicId } },
  })
})

test('keeps what is in flight and what waits behind it', async () => {
  const stack = await startStackOfTest()
  const held = Promise.withResolvers<void>()
  const from = stack.proxy.asked.length
  // The estimate is made while the account may still issue, and answered when it no longer may.
  stack.proxy.change = async (method, result) => {
    if (method === 'eth_estimateGas') await held.promise
    return result
  }
  const carried = stack.issue(ADA)
  await estimateAsked(stack, from)
  const behind = stack.issue(ADA)
  await admin(stack, 'setPermissions', [1, accountOf(stack), 8])
  held.resolve()
  const answers = await Promise.all([carried, behind])
  for (const answer of answers) expect(answer).toMatchObject(PENDING)
  await admin(stack, 'setPermissions', [1, accountOf(stack), 3])
  for (const { body } of answers)
    await expect.poll(() => statusOf(stack, body.data.publicId)).toBe('valid')
})
