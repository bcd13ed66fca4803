import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fromHex, type Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import { type Chain, type Ports, startWorld as startAnyWorld, word } from './world.ts'

// Cases whose timing a real chain does not allow. A test may delay the disk's flush.

let disk = (done: () => void) => done()
vi.mock('node:fs', async (actual) => {
  const fs = await actual<typeof import('node:fs')>()
  return { ...fs, fdatasync: (_: number, done: () => void) => disk(done) }
})

const AWAY = new IssueError('store_unavailable', 'the database is away')

const startWorld: typeof startAnyWorld = (...args) => {
  disk = (done) => done()
  return startAnyWorld(...args)
}

/** With a cap of an hour, an outcome is on disk only after its fee was read. */
function holdFee() {
  let noteFee = () => {}
  const held = new Promise<void>((resolve) => {
    noteFee = resolve
  })
  const asked = new Set<Hex>()
  return {
    noteFee: () => noteFee(),
    receiptOf: ({ ports }: Chain): Pick<Ports, 'receiptOf'> => ({
      // At first for the outcome, then for the fee.
      async receiptOf(hash) {
        if (asked.has(hash)) await held
        asked.add(hash)
        return ports.receiptOf(hash)
      },
    }),
  }
}

test('answers a request and its repeat with pending during an outage, and anchors once', async () => {
  const first = Promise.withResolvers<never>()
  let isOutage = true
  let prepared = 0
  const { chain, leader, store, events, issue, newAction } = startWorld(({ ports }) => ({
    async prepare(...args) {
      if (prepared++ === 0) return first.promise
      if (isOutage) throw new IssueError('fee_too_high', 'the price of gas')
      return ports.prepare(...args)
    },
  }))
  const action = newAction()
  const one = issue(action)
  await expect.poll(() => prepared).toBe(1)
  const other = issue(action)
  await expect.poll(() => leader.depth().queued).toBe(1)
  first.reject(new IssueError('fee_too_high', 'the price of gas'))
  const pending = { status: 'pending', transactionHash: null }
  expect(await Promise.all([one, other])).toEqual([pending, pending])
  expect(() => leader.assertOpen()).toThrow('the price of gas')
  expect(chain.anchored.size).toBe(0)
  isOutage = false
  await expect.poll(() => chain.anchored.has(action.documentHash)).toBe(true)
  expect(chain.signed).toEqual([0])
  await expect.poll(() => events).toContain('issuing_resumed')
  expect((await store.get(fromHex(action.documentHash))).status).toBe('found')
})

test('recovers at once from a chain that goes back while transactions are made', async () => {
  const { chain, sent, events, issue, newAction, replaceBlock } = startWorld(({ ports }) => ({
    async prepare(...args) {
      await sleep(400)
      return ports.prepare(...args)
    },
  }))
  chain.nonce = 20
  const action = newAction()
  const answers = [issue(action)]
  await answers[0]
  chain.mining = false
  const load = setInterval(() => answers.push(issue()), 20)
  await expect.poll(() => chain.pool.size).toBeGreaterThan(1)
  await replaceBlock(20)
  expect(chain.anchored.size).toBe(0)
  chain.mining = true
  await expect.poll(() => chain.nonce).toBeGreaterThan(22)
  clearInterval(load)
  for (const answer of await Promise.all(answers)) expect(answer.status).toBe('anchored')
  expect(chain.anchored.has(action.documentHash)).toBe(true)
  await expect.poll(() => sent.inFlight()).toEqual([])
  // Every transaction is sent again with its bytes.
  expect(chain.signed).toEqual(chain.signed.map((_, i) => 20 + i))
  expect(events).not.toContain('nonces_lost')
})

test('fills a gap of nonces with empty transfers once it has lasted for 30 s', async () => {
  const { now } = performance
  let later = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + later)
  onTestFinished(() => void vi.restoreAllMocks())
  let looks = 0
  const carried: number[] = []
  const { chain, events, issue } = startWorld(({ ports }) => ({
    async nextNonce() {
      looks++
      return ports.nextNonce()
    },
    prepare(actions, options) {
      carried.push(actions.length)
      return ports.prepare(actions, options)
    },
  }))
  const seenBy = async (count: number) => {
    looks = 0
    await expect.poll(() => looks).toBeGreaterThan(count)
  }
  chain.nonce = 20
  chain.mining = false
  const answer = issue()
  await expect.poll(() => chain.pool.size).toBe(1)
  // The node has lost its state.
  chain.nonce = 17
  chain.mining = true
  await seenBy(1)
  later = 29_000
  await seenBy(1)
  expect(chain.signed).toEqual([20])
  later = 31_000
  expect(await answer).toMatchObject({ status: 'anchored' })
  expect([chain.signed, carried]).toEqual([
    [20, 17, 18, 19],
    [1, 0, 0, 0],
  ])
  expect(events.filter((event) => event === 'nonces_lost')).toHaveLength(1)
})

test('finishes sends without receipts', async () => {
  const { leader, events, issue } = startWorld(() => ({
    receiptOf: async () => {
      throw new IssueError('chain_unavailable', 'indexing is in progress')
    },
  }))
  expect(await issue()).toMatchObject({ status: 'anchored' })
  leader.assertOpen()
  expect(events).toEqual(['leading', 'account_chosen'])
})

test('counts a mined transaction under the hourly cap until its fee is recorded', async () => {
  const allowed: (bigint | undefined)[] = []
  const { noteFee, receiptOf } = holdFee()
  const { issue } = startWorld(
    (chain) => ({
      ...receiptOf(chain),
      prepare(actions, terms) {
        allowed.push(terms.maxFee)
        return chain.ports.prepare(actions, terms)
      },
    }),
    { hour: 10n },
  )
  expect(await issue()).toMatchObject({ status: 'anchored' })
  expect(await issue()).toMatchObject({ status: 'anchored' })
  expect(allowed).toEqual([10n, 9n])
  noteFee()
})

test('answers a repeat that came before the result was recorded', async () => {
  const { noteFee, receiptOf } = holdFee()
  const { leader, issue, newAction } = startWorld(receiptOf, { hour: 10n })
  const action = newAction()
  const first = await issue(action)
  const repeat = leader.submit(action, 60_000)
  await sleep(50)
  noteFee()
  expect(await repeat).toMatchObject({
    status: 'anchored',
    transactionHash: word(1),
  })
  expect(first).toMatchObject({ status: 'anchored' })
})

test('stops only once the answered result is on disk', async () => {
  const { noteFee, receiptOf } = holdFee()
  const { leader, sent, issue } = startWorld(receiptOf, { hour: 10n })
  expect(await issue()).toMatchObject({ status: 'anchored' })
  setTimeout(noteFee, 50)
  await leader.stop()
  expect(await sent.inFlight()).toEqual([])
})

test('slow reads of the chain do not delay prepared transactions', async () => {
  const [begun, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isSecond = false
  let isSlow = false
  const { chain, issue } = startWorld(({ ports }) => ({
    async nextNonce() {
      if (isSlow) {
        begun.resolve()
        await answered.promise
      }
      return ports.nextNonce()
    },
    // Goes on once the next look has begun.
    async prepare(...args) {
      isSlow = isSecond
      if (isSlow) await begun.promise
      return ports.prepare(...args)
    },
  }))
  await issue()
  chain.mining = false
  const first = issue()
  await expect.poll(() => chain.pool.size).toBe(1)
  isSecond = true
  const second = issue()
  await expect.poll(() => chain.pool.size).toBe(2)
  isSlow = false
  answered.resolve()
  chain.mining = true
  chain.mine()
  expect(await first).toMatchObject({ status: 'anchored' })
  expect(await second).toMatchObject({ status: 'anchored' })
})

test('a change in flight is pending, with its transaction', async () => {
  const { chain, issue } = startWorld()
  chain.mining = false
  const answer = issue(undefined, 500)
  await expect.poll(() => chain.pool.size).toBe(1)
  const [transactionHash] = chain.pool.values()
  expect(await answer).toEqual({ status: 'pending', transactionHash })
  chain.mining = true
  chain.mine()
})

test('a change in flight is pending, also when the database cannot be read', async () => {
  const { chain, outbox, issue, newAction } = startWorld()
  chain.mining = false
  const action = newAction()
  const answer = issue(action, 500)
  await expect.poll(() => chain.pool.size).toBe(1)
  vi.spyOn(outbox, 'find').mockRejectedValue(AWAY)
  expect(await answer).toEqual({ status: 'pending', transactionHash: null })
  chain.mining = true
  chain.mine()
  expect(chain.anchored.has(action.documentHash)).toBe(true)
})

test('a queued change is pending when the database cannot be read, and is anchored', async () => {
  const gate = Promise.withResolvers<void>()
  const { chain, leader, outbox, issue, newAction } = startWorld(({ ports }) => ({
    async prepare(...args) {
      await gate.promise
      return ports.prepare(...args)
    },
  }))
  const action = newAction()
  const answer = issue(action, 300)
  await expect.poll(() => leader.depth().queued).toBe(1)
  vi.spyOn(outbox, 'find').mockRejectedValue(AWAY)
  expect(await answer).toEqual({ status: 'pending', transactionHash: null })
  gate.resolve()
  await expect.poll(() => chain.anchored.has(action.documentHash)).toBe(true)
  expect(chain.signed).toEqual([0])
})

test('does not queue a change again that is in flight', async () => {
  const { chain, leader, issue, newAction } = startWorld()
  chain.mining = false
  const action = newAction()
  const answer = issue(action)
  await expect.poll(() => chain.pool.size).toBe(1)
  leader.wake()
  expect(leader.depth()).toEqual({ queued: 0, refused: 0, inFlight: 1 })
  chain.mining = true
  chain.mine()
  expect(await answer).toMatchObject({ status: 'anchored' })
  expect(chain.signed).toEqual([0])
})

test('sends a revocation once its document is recorded, without another event', async () => {
  const { chain, leader, outbox, issue, newAction } = startWorld()
  chain.mining = false
  const action = newAction()
  const issued = issue(action)
  await expect.poll(() => chain.pool.size).toBe(1)
  const { documentHash } = action
  const revocation = { kind: 'revoke', documentHash, reason: 1 } as const
  await outbox.add(revocation)
  const revoked = leader.submit(revocation, 20_000)
  // The chain has the document; the disk is slow to record it.
  const flushes: (() => void)[] = []
  disk = (done) => flushes.push(done)
  chain.mining = true
  chain.mine()
  expect(await issued).toMatchObject({ status: 'anchored' })
  await expect.poll(leader.depth).toEqual({ queued: 1, refused: 0, inFlight: 0 })
  disk = (done) => done()
  for (const done of flushes) done()
  expect(await revoked).toMatchObject({ status: 'anchored' })
})

test('distinguishes documents that it anchored from those anchored before', async () => {
  const { chain, issue, newAction } = startWorld()
  expect(await issue()).toMatchObject({ byAnother: false })
  const action = newAction()
  chain.anchored.set(action.documentHash, word(7))
  expect(await issue(action)).toMatchObject({
    status: 'anchored',
    transactionHash: word(7),
    byAnother: true,
  })
})

test('anchors a change even if its record cannot be read', async () => {
  const { chain, leader, outbox, issue } = startWorld()
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  onTestFinished(() => void process.off('unhandledRejection', unhandled))
  vi.spyOn(outbox, 'find').mockRejectedValue(AWAY)
  // The engine finds it in the queue.
  expect(await issue()).toMatchObject({ status: 'anchored' })
  chain.mining = false
  expect(await issue(undefined, 50)).toEqual({ status: 'pending', transactionHash: null })
  chain.mining = true
  chain.mine()
  await leader.stop()
  await sleep(10)
  expect(unhandled).not.toHaveBeenCalled()
})
