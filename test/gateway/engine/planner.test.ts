import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createPlanner } from '#engine/planner.ts'
import { createQueue } from '#engine/queue.ts'
import { IssueError } from '#promise/errors.ts'
import type { Intent, IssueIntent, RevisionIntent } from '#promise/intent.ts'
import { LeaseLost } from '#promise/lease.ts'
import type { TrustedRecord } from '#promise/record.ts'
import { SUSPENDED } from '#verifier/reasons.ts'

const SECOND = 1_000
const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const issueOf = (n: number): IssueIntent => ({
  kind: 'issue',
  documentHash: word(n),
  validUntil: 0,
})
const release: RevisionIntent = { kind: 'release', documentHash: word(1) }
const suspend: RevisionIntent = { kind: 'suspend', documentHash: word(1) }
const REFUSED = new IssueError('registry_refused', 'execution reverted')

/** The record of a document that was issued in block 5. */
const RECORD: TrustedRecord = {
  accountIndex: 0,
  anchoredBlock: 5,
  anchoredAt: 5,
  validUntil: 0,
  distrusted: false,
  revokerIndex: 0,
  revokedBlock: 0,
  revokedAt: 0,
  reason: 0,
  setAside: false,
  revoker: null,
}
const revisedFor = (reason: number): TrustedRecord => ({
  ...RECORD,
  revokedBlock: 8,
  reason,
  revoker: { distrustedFrom: 0 },
})

/** A planner over a real queue. Nothing is signed: a transaction is a list of intents. */
function startPlanner() {
  const chain = {
    mayIssue: true,
    /** Why the account cannot be used at all. */
    outage: undefined as IssueError | undefined,
    records: new Map<Hex, TrustedRecord>(),
    /** Why a transaction of these intents cannot be made. */
    refuses: (_: readonly Intent[]): Error | undefined => undefined,
  }
  const transactions: (readonly Intent[])[] = []
  const setAside = vi.fn(async (_: readonly Intent[], _tries: number, _until: number) => {})
  const resolve = vi.fn(async () => {})
  const conclude = vi.fn()
  const postpone = vi.fn((_: readonly Intent[]) => {})
  const assertReady = vi.fn(async () => {
    if (chain.outage) throw chain.outage
    return { balance: 1n, mayIssue: chain.mayIssue, mayRevoke: true }
  })
  const events: string[] = []
  const note = (event: string) => void events.push(event)
  const log = { debug: note, info: note, warn: note, error: note }
  const backlog = { queued: async () => [], setAside, resolve }
  const queue = createQueue({ outbox: backlog, carries: () => false, changed: () => {}, log })
  const none = async () => Promise.reject(new Error('not called'))
  const planner = createPlanner({
    queue,
    account: { assertReady },
    registry: {
      records: async (keys) =>
        keys.map(
          ({ documentHash }) =>
            chain.records.get(documentHash) ?? { ...RECORD, anchoredBlock: 0, anchoredAt: 0 },
        ),
      transactionsOf: async (_, blockNumber) =>
        new Map(
          [...chain.records.keys()].map((hash) => [
            hash,
            { blockNumber, blockHash: word(blockNumber), transactionHash: word(77) },
          ]),
        ),
      receiptOf: none,
      isPooled: none,
    },
    outbox: backlog,
    async plan(intents) {
      const error = chain.refuses(intents)
      if (error) throw error
      transactions.push(intents)
    },
    conclude,
    postpone,
    log,
  })
  /** Plans until nothing is due, or nothing more is planned. */
  async function run() {
    for (let before = -1; before !== queue.size; ) {
      before = queue.size
      await planner.run(() => queue.next(1).length > 0)
    }
  }
  const postponed = () => postpone.mock.calls.flatMap(([intents]) => intents)
  const parts = { setAside, resolve, conclude, postponed, assertReady, events }
  return { chain, queue, planner, transactions, run, ...parts }
}

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
})

describe('a refused intent', () => {
  test('default: is set aside and told pending; those beside it are sent', async () => {
    const { chain, queue, run, transactions, setAside, postponed, events } = startPlanner()
    const all = Array.from({ length: 200 }, (_, n) => issueOf(n))
    const bad = all[77] as Intent
    chain.refuses = (intents) => (intents.includes(bad) ? REFUSED : undefined)
    queue.add(all)
    for (let i = 0; i < 20; i++) await run()
    expect(new Set(transactions.flat())).toEqual(new Set(all.filter((one) => one !== bad)))
    expect(transactions.flat()).toHaveLength(199)
    expect(setAside.mock.calls).toEqual([[[bad], 1, Date.now() + 3 * SECOND]])
    expect(postponed()).toEqual([bad])
    expect(events).toEqual(['intent_set_aside'])
    // It is sent once the chain takes it.
    chain.refuses = () => undefined
    await vi.advanceTimersByTimeAsync(3 * SECOND)
    await run()
    expect(transactions.at(-1)).toEqual([bad])
  })

  test('behavior: ends as moot when it is the release of a revoked document', async () => {
    const { chain, queue, run, transactions, setAside, resolve, conclude, events } = startPlanner()
    chain.records.set(release.documentHash, revisedFor(1))
    chain.refuses = () => REFUSED
    queue.add([release])
    await run()
    expect(resolve).toHaveBeenCalledWith({ anchored: [], gone: [release] })
    expect(conclude.mock.calls).toEqual([[release, { status: 'moot' }]])
    expect([queue.isEmpty(), transactions, setAside.mock.calls]).toEqual([true, [], []])
    expect(events).toEqual([])
  })

  test('behavior: is not ended when the chain still has its suspension', async () => {
    const { chain, queue, run, resolve, conclude, setAside } = startPlanner()
    chain.records.set(release.documentHash, revisedFor(SUSPENDED))
    chain.refuses = () => REFUSED
    queue.add([release])
    await run()
    expect([resolve.mock.calls, conclude.mock.calls]).toEqual([[], []])
    expect(setAside).toHaveBeenCalledWith([release], 1, Date.now() + 3 * SECOND)
  })

  test('error: ends as a conflict when the chain has its hash with another expiry', async () => {
    const { chain, queue, run, resolve, conclude } = startPlanner()
    chain.records.set(word(1), { ...RECORD, validUntil: 9 })
    chain.refuses = () => REFUSED
    queue.add([issueOf(1)])
    await run()
    expect(resolve).toHaveBeenCalledWith({ anchored: [], gone: [issueOf(1)] })
    expect(conclude.mock.calls).toEqual([[issueOf(1), { status: 'conflict' }]])
    expect(queue.isEmpty()).toBe(true)
  })

  test('behavior: ends as anchored when somebody else was first', async () => {
    const { chain, queue, run, conclude, setAside } = startPlanner()
    chain.records.set(word(1), RECORD)
    chain.refuses = () => REFUSED
    queue.add([issueOf(1)])
    await run()
    expect(conclude.mock.calls).toMatchObject([[issueOf(1), { status: 'anchored' }]])
    expect(setAside).not.toHaveBeenCalled()
  })
})

describe('an outage', () => {
  test.each<[string, IssueError]>([
    ['of the node', new IssueError('chain_unavailable', 'down')],
    ['of fees', new IssueError('fee_too_high', 'high')],
    ['of the signer', new IssueError('signer_unavailable', 'away')],
  ])('default: %s is told pending to all, and everything stays queued', async (_, outage) => {
    const { chain, queue, planner, run, setAside, postponed } = startPlanner()
    chain.refuses = () => outage
    queue.add([issueOf(2), suspend])
    await expect(run()).rejects.toBe(outage)
    expect(postponed()).toEqual([issueOf(2), suspend])
    expect(queue.all()).toEqual([issueOf(2), suspend])
    expect(setAside).not.toHaveBeenCalled()
    expect(planner.closed()).toBeUndefined()
  })

  test('behavior: an account that is refused everything is an outage, not a closed issuer', async () => {
    const { chain, queue, planner, run, setAside, postponed } = startPlanner()
    chain.refuses = () => REFUSED
    chain.outage = new IssueError('registry_refused', 'no permission')
    queue.add([issueOf(1)])
    await expect(run()).rejects.toBe(chain.outage)
    expect([planner.closed(), setAside.mock.calls]).toEqual([undefined, []])
    expect(postponed()).toEqual([issueOf(1)])
  })

  test.each<[string, IssueError]>([
    ['the lease was lost', new LeaseLost('account')],
    ['a write has no answer', new IssueError('outcome_unknown', 'cut')],
  ])('behavior: requests wait for the next engine when %s', async (_, error) => {
    const { chain, queue, run, postponed } = startPlanner()
    chain.refuses = () => error
    queue.add([issueOf(1)])
    await expect(run()).rejects.toBe(error)
    expect([postponed(), queue.all()]).toEqual([[], [issueOf(1)]])
  })
})

describe('a closed issuer', () => {
  /** A planner that has just found its issuer closed, with these intents waiting. */
  async function startClosed(...waiting: Intent[]) {
    const parts = startPlanner()
    const { chain, queue } = parts
    chain.mayIssue = false
    chain.refuses = ([first]) => (first?.kind === 'issue' && !chain.mayIssue ? REFUSED : undefined)
    queue.add(waiting)
    await parts.run()
    return parts
  }

  test('default: its issues wait aside and are told pending; revisions go on', async () => {
    const [one, two] = [issueOf(2), issueOf(3)]
    const parts = await startClosed(one, suspend, two)
    const { queue, planner, transactions, setAside, postponed, events } = parts
    expect(transactions).toEqual([[suspend]])
    expect(queue.size).toBe(0)
    expect(setAside.mock.calls).toEqual([[[one, two], 1, Date.now() + 3 * SECOND]])
    expect(postponed()).toEqual([one, two])
    expect(planner.closed()).toMatchObject({
      code: 'registry_refused',
      message: 'the issuer is closed',
    })
    expect(events).toEqual(['issuer_closed'])
  })

  test('behavior: a refused revision does not close the door', async () => {
    const { chain, queue, planner, run } = startPlanner()
    chain.mayIssue = false
    chain.refuses = () => REFUSED
    queue.add([suspend])
    await run()
    expect(planner.closed()).toBeUndefined()
  })

  test('default: recalls them once it is open, however long they would have waited', async () => {
    const { chain, queue, planner, transactions, run, events } = await startClosed(issueOf(1))
    // Refused some times more, the issue waits for minutes.
    for (const wait of [3, 6, 12, 24]) {
      await vi.advanceTimersByTimeAsync(wait * SECOND)
      await run()
    }
    chain.mayIssue = true
    expect([queue.size, planner.closed()?.code]).toEqual([0, 'registry_refused'])
    await planner.lookIfOpen()
    expect([queue.all(), planner.closed()]).toEqual([[issueOf(1)], undefined])
    await run()
    expect(transactions).toEqual([[issueOf(1)]])
    expect(events.at(-1)).toBe('issuer_open')
  })

  test('behavior: looks after 2 s, and then less and less often, up to once a minute', async () => {
    const { planner, assertReady } = await startClosed(issueOf(1))
    assertReady.mockClear()
    for (const [i, pause] of [2, 4, 8, 16, 32, 60, 60].entries()) {
      expect(planner.untilLook()).toBe(pause * SECOND)
      vi.advanceTimersByTime(pause * SECOND - 1)
      await planner.lookIfOpen()
      expect(assertReady).toHaveBeenCalledTimes(i)
      vi.advanceTimersByTime(1)
      await planner.lookIfOpen()
      expect(assertReady).toHaveBeenCalledTimes(i + 1)
    }
    expect(planner.closed()).toBeDefined()
  })

  test('behavior: an open issuer is not looked at', async () => {
    const { planner, assertReady } = startPlanner()
    expect(planner.untilLook()).toBe(Number.POSITIVE_INFINITY)
    await planner.lookIfOpen()
    expect(assertReady).not.toHaveBeenCalled()
  })

  test('behavior: is open as soon as one of its documents is taken', async () => {
    const [one, two] = [issueOf(1), issueOf(2)]
    const { chain, queue, planner, transactions, run } = await startClosed(one)
    // The second one is refused later, and so tried later.
    await vi.advanceTimersByTimeAsync(1 * SECOND)
    queue.add([two])
    await run()
    chain.mayIssue = true
    await vi.advanceTimersByTimeAsync(2 * SECOND)
    await run()
    expect(planner.closed()).toBeUndefined()
    expect(transactions).toEqual([[one], [two]])
  })

  test('behavior: a revision that is sent does not open it', async () => {
    const { queue, planner, transactions, run } = await startClosed(issueOf(2))
    queue.add([suspend])
    await run()
    expect(transactions).toEqual([[suspend]])
    expect(planner.closed()).toBeDefined()
  })
})
