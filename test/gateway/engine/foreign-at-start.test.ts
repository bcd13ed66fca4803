import { expect, test } from 'vitest'
import { readCounts, waitForForeign } from '#engine/foreign-at-start.ts'
import { IssueError } from '#promise/errors.ts'
import type { Account } from '#promise/ports.ts'

const TIMING = { poll: 5, grace: 300, quiet: 100, limit: 3_000 }

/**
 * @param looks The account's state at each look; the last one repeats.
 * @param own Nonces in the outbox.
 */
async function start(
  looks: ([next: number, pooled: number] | Error)[],
  own: number[] = [],
  count = 0,
) {
  const events: string[] = []
  const note = (event: string) => events.push(event)
  let at = 0
  const counts = () => {
    const look = looks[Math.min(at, looks.length - 1)]
    if (look instanceof Error) throw look
    return look ?? [0, 0]
  }
  const account: Account = {
    assertReady: async () => Promise.reject(new Error('not called')),
    transactionWith: async () => undefined,
    async pooledNonce() {
      try {
        return counts()[1] + count * at
      } catch (error) {
        at++
        throw error
      }
    },
    async nextNonce() {
      const next = counts()[0] + count * at
      at++
      return next
    },
  }
  const first = await readCounts(account)
  let took = 0
  const clock = {
    now: () => took,
    async sleep(duration: number) {
      took += duration
    },
  }
  const log = { debug: note, info: note, warn: note, error: note }
  const outcome = await waitForForeign(
    { account, first, own: new Set(own), log },
    TIMING,
    clock,
  ).catch((error: IssueError) => error)
  return { outcome, events, looks: at, took }
}

test('default: an account with nothing in the pool is looked at twice', async () => {
  expect(await start([[7, 7]])).toMatchObject({ outcome: 7, events: [], looks: 2 })
})

test('behavior: transactions of the outbox are not foreign, mined or not', async () => {
  const looks: [number, number][] = [
    [5, 8],
    [7, 8],
  ]
  expect(await start(looks, [5, 6, 7])).toMatchObject({ outcome: 5, events: [], looks: 2 })
})

test('behavior: waits until the transactions of a gateway that is gone are mined', async () => {
  const looks: [number, number][] = [
    ...Array.from({ length: 10 }, (): [number, number] => [5, 8]),
    [8, 8],
  ]
  const { outcome, events, took } = await start(looks)
  expect(outcome).toBe(8)
  expect(events).toEqual(['foreign_transactions_found', 'foreign_transactions_mined'])
  expect(took).toBeGreaterThanOrEqual(9 * TIMING.poll + TIMING.quiet)
  expect(took).toBeLessThan(TIMING.limit)
})

test('error: refuses to start when one more follows each time that the last is mined', async () => {
  const looks = Array.from({ length: 200 }, (_, i): [number, number] => {
    const nonce = 5 + Math.floor(i / 10)
    return i % 10 < 5 ? [nonce, nonce + 1] : [nonce + 1, nonce + 1]
  })
  expect(await start(looks)).toMatchObject({ outcome: { code: 'account_shared' } })
})

test('behavior: waits for a foreign transaction behind one of the outbox', async () => {
  const looks: [number, number][] = [
    [5, 7],
    [5, 7],
    [7, 7],
  ]
  expect(await start(looks, [5])).toMatchObject({ outcome: 7 })
})

test('behavior: does not wait longer than the limit for a transaction that is stuck', async () => {
  const { outcome, events, took } = await start([[5, 6]])
  expect(outcome).toBe(6)
  expect(events).toEqual(['foreign_transactions_found', 'foreign_transactions_stuck'])
  expect(took).toBeGreaterThanOrEqual(TIMING.limit)
})

test('behavior: goes on when a node was behind at the first look', async () => {
  const { outcome, took } = await start([
    [5, 5],
    [6, 6],
  ])
  expect(outcome).toBe(6)
  expect(took).toBeGreaterThanOrEqual(TIMING.quiet)
  expect(took).toBeLessThan(TIMING.limit)
})

test.each([
  ['in the pool', [5, 6] as [number, number]],
  ['in blocks at once', [5, 5] as [number, number]],
])('error: refuses to start while foreign transactions keep coming %s', async (_, look) => {
  const { outcome, took } = await start([look], [], 1)
  expect(outcome).toMatchObject({ code: 'account_shared' })
  expect(took).toBeGreaterThanOrEqual(TIMING.grace)
  expect(took).toBeLessThan(TIMING.limit)
})

test('error: an outage after the first look is not news about the account', async () => {
  const down = new IssueError('chain_unavailable', 'down')
  expect(await start([[5, 5], down])).toMatchObject({ outcome: 5, events: [] })
  expect(await start([[5, 6], down, down, [6, 6]])).toMatchObject({ outcome: 6 })
})

test('error: a nonce that a node invents holds up the start no longer than the limit', async () => {
  const { outcome, took } = await start([[5, Number.MAX_SAFE_INTEGER]])
  expect(outcome).toBe(Number.MAX_SAFE_INTEGER)
  expect(took).toBeLessThan(4 * TIMING.limit)
})
