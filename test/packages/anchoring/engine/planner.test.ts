import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createPlanner } from '#engine/planner.ts'
import type { Action, IssueAction, RevisionAction } from '#promise/action.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { IssueError } from '#promise/errors.ts'
import { LockLost } from '#promise/lock.ts'
import type { TrustedRecord } from '#promise/record.ts'
import type { Member, Waiting } from '#promise/send.ts'
import { SUSPENDED } from '#verifier/reasons.ts'

const SECOND = 1_000
const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const issueOf = (n: number): IssueAction => ({
  kind: 'issue',
  documentHash: word(n),
  validUntil: 0,
})
const release: RevisionAction = { kind: 'release', documentHash: word(1) }
const suspend: RevisionAction = { kind: 'suspend', documentHash: word(1) }
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

const ADDRESS: Hex = '0xad'

/** A planner over a queue in memory. Nothing is signed: a transaction is a list of actions. */
/** @param newest The newest place in the queue at the start. */
function startPlanner(newest = 0) {
  const chain = {
    mayIssue: true,
    /** Why the account cannot be used at all. */
    outage: undefined as IssueError | undefined,
    records: new Map<Hex, TrustedRecord>(),
    /** Why a transaction of these actions cannot be made. */
    refuses: (_: readonly Action[]): Error | undefined => undefined,
  }
  type Row = Waiting & { heldUntil: number }
  let rows: Row[] = []
  let places = 0
  const has = (some: readonly Member[], { place }: Member) =>
    some.some((member) => member.place === place)
  const leave = (some: readonly Member[]) => {
    rows = rows.filter((row) => !has(some, row))
  }
  const transactions: (readonly Action[])[] = []
  const held: [actions: Action[], tries: number, until: number][] = []
  const resolved: [action: Action, outcome: Outcome][] = []
  const conclude = vi.fn()
  const postponed: Action[] = []
  const assertReady = vi.fn(async () => {
    if (chain.outage) throw chain.outage
    return { balance: 1n, mayIssue: chain.mayIssue, mayRevoke: true }
  })
  const events: string[] = []
  const note = (event: string) => void events.push(event)
  const log = { debug: note, info: note, warn: note, error: note }
  const arrivals = { count: 0, since: 0, gatheringSince: 0 }
  const none = async () => Promise.reject(new Error('not called'))
  const account = { assertReady }
  const lane = {
    account: ADDRESS,
    async plan(members: readonly Member[]) {
      const actions = members.map(({ action }) => action)
      const error = chain.refuses(actions)
      if (error) throw error
      transactions.push(actions)
      leave(members)
    },
  }
  const planner = createPlanner({
    arrivals,
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
    },
    queue: {
      next: async (_, { now, limit }) =>
        rows.filter(({ heldUntil }) => heldUntil <= now).slice(0, limit),
      count: async () => ({ queued: rows.length, held: 0 }),
      newest: async () => newest,
      carriers: async () => [],
      async hold(some, tries, until) {
        held.push([some.map(({ action }) => action), tries, until])
        for (const row of rows) if (has(some, row)) Object.assign(row, { tries, heldUntil: until })
      },
      async holdIssues(until) {
        for (const row of rows) if (row.action.kind === 'issue') row.heldUntil = until ?? 0
      },
      async resolve(found) {
        resolved.push(...found.map(({ action, outcome }) => [action, outcome] as [Action, Outcome]))
        leave(found)
      },
    },
    own: undefined,
    conclude,
    postpone: (which) =>
      void postponed.push(...rows.map(({ action }) => action).filter((one) => which(one))),
    planned() {},
    log,
  })
  /** @param wasSent Whether a transaction has carried them. */
  function add(actions: readonly Action[], wasSent = false): void {
    const state = { tries: 0, wasSent, heldUntil: 0 }
    rows.push(...actions.map((action) => ({ ...state, action, place: ++places })))
    if (arrivals.count === 0) arrivals.since = performance.now()
    arrivals.count += actions.length
  }
  /** Plans until nothing more is planned, as often as the look of each second would. */
  async function run() {
    for (let idle = 0, before = rows.length; idle < 3; before = rows.length) {
      arrivals.count ||= 1
      await planner.run({ lane, account }, () => arrivals.count > 0)
      idle = rows.length === before ? idle + 1 : 0
    }
  }
  const waiting = () => rows.map(({ action }) => action)
  const parts = { held, resolved, conclude, postponed, assertReady, events, account, add, waiting }
  return { chain, planner, transactions, run, ...parts }
}

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
})

describe('a refused change', () => {
  test('waits and is reported pending; the others are sent', async () => {
    const { chain, add, run, transactions, held, postponed, events } = startPlanner()
    const all = Array.from({ length: 200 }, (_, n) => issueOf(n))
    const bad = all[77] as Action
    chain.refuses = (actions) => (actions.includes(bad) ? REFUSED : undefined)
    add(all)
    for (let i = 0; i < 20; i++) await run()
    expect(new Set(transactions.flat())).toEqual(new Set(all.filter((one) => one !== bad)))
    expect(transactions.flat()).toHaveLength(199)
    expect(held).toEqual([[[bad], 1, Date.now() + 3 * SECOND]])
    expect(postponed).toEqual([bad])
    expect(events).toEqual(['action_held_back'])
    // It is sent once the chain takes it.
    chain.refuses = () => undefined
    await vi.advanceTimersByTimeAsync(3 * SECOND)
    await run()
    expect(transactions.at(-1)).toEqual([bad])
  })

  test('is dropped when it is the release of a revoked document', async () => {
    const { chain, add, run, transactions, held, resolved, conclude, events, waiting } =
      startPlanner()
    chain.records.set(release.documentHash, revisedFor(1))
    chain.refuses = () => REFUSED
    add([release])
    await run()
    expect(resolved).toEqual([[release, { status: 'moot' }]])
    expect(conclude.mock.calls).toEqual([[release, { status: 'moot' }]])
    expect([waiting(), transactions, held]).toEqual([[], [], []])
    expect(events).toEqual([])
  })

  test('is kept when the chain still has its suspension', async () => {
    const { chain, add, run, resolved, conclude, held } = startPlanner()
    chain.records.set(release.documentHash, revisedFor(SUSPENDED))
    chain.refuses = () => REFUSED
    add([release])
    await run()
    expect([resolved, conclude.mock.calls]).toEqual([[], []])
    expect(held).toEqual([[[release], 1, Date.now() + 3 * SECOND]])
  })

  test('is a conflict when the chain has its hash with another expiry', async () => {
    const { chain, add, run, resolved, conclude, waiting } = startPlanner()
    chain.records.set(word(1), { ...RECORD, validUntil: 9 })
    chain.refuses = () => REFUSED
    add([issueOf(1)])
    await run()
    expect(resolved).toEqual([[issueOf(1), { status: 'conflict' }]])
    expect(conclude.mock.calls).toEqual([[issueOf(1), { status: 'conflict' }]])
    expect(waiting()).toEqual([])
  })

  test('counts as anchored when another account was first', async () => {
    const { chain, add, run, conclude, held } = startPlanner()
    chain.records.set(word(1), RECORD)
    chain.refuses = () => REFUSED
    add([issueOf(1)])
    await run()
    expect(conclude.mock.calls).toMatchObject([[issueOf(1), { status: 'anchored' }]])
    expect(held).toEqual([])
  })
})

describe('a change that may be on the chain', () => {
  /** A planner whose chain has the first of two documents. */
  function startSecond(newest = 0) {
    const parts = startPlanner(newest)
    parts.chain.records.set(word(1), RECORD)
    return parts
  }
  const anchored = { status: 'anchored', blockNumber: 5, transactionHash: word(77) }

  test.each<[string, boolean, number]>([
    ['a transaction has carried it', true, 0],
    ['it waited before this gateway began to lead', false, 2],
  ])('is read from the chain when %s, and not sent again', async (_, wasSent, newest) => {
    const { add, planner, run, transactions, resolved, conclude } = startSecond(newest)
    await planner.start()
    add([issueOf(1), issueOf(2)], wasSent)
    await run()
    expect(transactions).toEqual([[issueOf(2)]])
    expect(resolved).toMatchObject([[issueOf(1), anchored]])
    expect(conclude.mock.calls).toMatchObject([[issueOf(1), anchored]])
  })

  test('is read from the chain when it has waited for five seconds', async () => {
    const { add, run, transactions } = startSecond()
    add([issueOf(1), issueOf(2)])
    vi.advanceTimersByTime(5 * SECOND)
    await run()
    expect(transactions).toEqual([[issueOf(2)]])
  })

  test('is sent without a read when it has just arrived', async () => {
    const { add, planner, run, transactions, resolved } = startSecond()
    await planner.start()
    add([issueOf(1), issueOf(2)])
    await run()
    expect([transactions, resolved]).toEqual([[[issueOf(1), issueOf(2)]], []])
  })
})

describe('an outage', () => {
  test.each<[string, IssueError]>([
    ['of the node', new IssueError('chain_unavailable', 'down')],
    ['of fees', new IssueError('fee_too_high', 'high')],
    ['of the signer', new IssueError('signer_unavailable', 'away')],
  ])('%s stops sending, and everything keeps waiting', async (_, outage) => {
    const { chain, add, planner, run, held, waiting } = startPlanner()
    chain.refuses = () => outage
    add([issueOf(2), suspend])
    await expect(run()).rejects.toBe(outage)
    expect(waiting()).toEqual([issueOf(2), suspend])
    expect(held).toEqual([])
    expect(planner.closed()).toBeUndefined()
  })

  test('a refusal of every send is an outage, not a closed issuer', async () => {
    const { chain, add, planner, run, held } = startPlanner()
    chain.refuses = () => REFUSED
    chain.outage = new IssueError('registry_refused', 'no permission')
    add([issueOf(1)])
    await expect(run()).rejects.toBe(chain.outage)
    expect([planner.closed(), held]).toEqual([undefined, []])
  })

  test.each<[string, IssueError]>([
    ['its session has ended', new LockLost()],
    ['a write has no answer', new IssueError('outcome_unknown', 'cut')],
  ])('requests wait for the next term when %s', async (_, error) => {
    const { chain, add, run, postponed, waiting } = startPlanner()
    chain.refuses = () => error
    add([issueOf(1)])
    await expect(run()).rejects.toBe(error)
    expect([postponed, waiting()]).toEqual([[], [issueOf(1)]])
  })
})

describe('a closed issuer', () => {
  /** A planner that has just found its issuer closed, with these actions waiting. */
  async function startClosed(...waiting: Action[]) {
    const parts = startPlanner()
    const { chain, add } = parts
    chain.mayIssue = false
    chain.refuses = ([first]) => (first?.kind === 'issue' && !chain.mayIssue ? REFUSED : undefined)
    add(waiting)
    await parts.run()
    return parts
  }

  test('keeps its issues waiting and pending; revisions continue', async () => {
    const [one, two] = [issueOf(2), issueOf(3)]
    const parts = await startClosed(one, suspend, two)
    const { waiting, planner, transactions, postponed, events } = parts
    expect(transactions).toEqual([[suspend]])
    expect(waiting()).toEqual([one, two])
    expect(postponed).toEqual([one, two])
    expect(planner.closed()).toMatchObject({
      code: 'registry_refused',
      message: 'the issuer is closed',
    })
    expect(events).toEqual(['issuer_closed'])
  })

  test('a refused revision does not close the issuer', async () => {
    const { chain, add, planner, run } = startPlanner()
    chain.mayIssue = false
    chain.refuses = () => REFUSED
    add([suspend])
    await run()
    expect(planner.closed()).toBeUndefined()
  })

  test('sends its issues once it is open, however long they would have waited', async () => {
    const { chain, account, planner, transactions, run, events } = await startClosed(issueOf(1))
    // Refused some times more, the issue waits for minutes.
    for (const wait of [3, 6, 12, 24]) {
      await vi.advanceTimersByTimeAsync(wait * SECOND)
      await run()
    }
    chain.mayIssue = true
    expect([transactions, planner.closed()?.code]).toEqual([[], 'registry_refused'])
    await planner.lookIfOpen(account)
    expect(planner.closed()).toBeUndefined()
    await run()
    expect(transactions).toEqual([[issueOf(1)]])
    expect(events.at(-1)).toBe('issuer_open')
  })

  test('is checked after 2 s, then less and less often, up to once a minute', async () => {
    const { planner, assertReady, account } = await startClosed(issueOf(1))
    assertReady.mockClear()
    for (const [i, pause] of [2, 4, 8, 16, 32, 60, 60].entries()) {
      vi.advanceTimersByTime(pause * SECOND - 1)
      await planner.lookIfOpen(account)
      expect(assertReady).toHaveBeenCalledTimes(i)
      vi.advanceTimersByTime(1)
      await planner.lookIfOpen(account)
      expect(assertReady).toHaveBeenCalledTimes(i + 1)
    }
    expect(planner.closed()).toBeDefined()
  })

  test('an open issuer is not checked', async () => {
    const { planner, assertReady, account } = startPlanner()
    await planner.lookIfOpen(account)
    expect(assertReady).not.toHaveBeenCalled()
  })

  test('is open as soon as one of its documents is accepted', async () => {
    const [one, two] = [issueOf(1), issueOf(2)]
    const { chain, add, planner, transactions, run } = await startClosed(one)
    chain.mayIssue = true
    add([two])
    await run()
    expect(planner.closed()).toBeUndefined()
    expect(transactions).toEqual([[two], [one]])
  })

  test('a revision that is sent does not open it', async () => {
    const { add, planner, transactions, run } = await startClosed(issueOf(2))
    add([suspend])
    await run()
    expect(transactions).toEqual([[suspend]])
    expect(planner.closed()).toBeDefined()
  })
})
