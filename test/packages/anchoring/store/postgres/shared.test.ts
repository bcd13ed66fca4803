import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Action, IssueAction, RevisionAction } from '#promise/action.ts'
import { ABSENT, type Anchoring, type Outcome } from '#promise/anchoring.ts'
import { LockLost } from '#promise/lock.ts'
import type { Send, SignedTransaction } from '#promise/send.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { createSessions, LOCK_CLASS, lockNumberOf } from '#store/drivers/postgres/session.ts'
import { createOutbox } from '#store/outbox.ts'
import { createShared, LEADER, type Leading } from '#store/stores.ts'
import { waitingFor } from '#test/support/outbox.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'
import { membersOf } from '../ports/given.ts'

const folder = postgresFolder()
const log = createLog('silent')

const [ADA, BOB] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const
const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const issueOf = (n: number): IssueAction => ({
  kind: 'issue',
  documentHash: word(n),
  validUntil: 0,
})
const suspendOf = (n: number): RevisionAction => ({ kind: 'suspend', documentHash: word(n) })

function signed(nonce: number): SignedTransaction {
  const fees = { gasLimit: 10n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 1n }
  return { nonce, hash: word(1_000 + nonce), raw: '0x02', ...fees }
}
/** Where the transaction with nonce 0 is. */
const PLACE: Anchoring = { blockNumber: 7, blockHash: word(7), transactionHash: word(1_000) }
const THERE: Outcome = { status: 'anchored', ...PLACE }

describe.skipIf(folder === undefined)('gateways that share a database', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
  })
  afterAll(() => server.remove())

  async function openGateway(url: string) {
    const database = await openPostgres(url, log)
    onTestFinished(() => database.close())
    const sessions = createSessions({ url, log, termMs: 10_000, shared: database })
    const shared = createShared(database, sessions, false)
    onTestFinished(() => shared.leave())
    return { shared, outbox: createOutbox(database), query: database.query }
  }
  type Gateway = Awaited<ReturnType<typeof openGateway>>

  /** Two gateways. The first one leads. */
  async function openTwo() {
    const url = await server.newDatabase()
    const [one, two] = [await openGateway(url), await openGateway(url)]
    const leading = await leadSoon(one)
    return { one, two, leading, leads: leading.outbox }
  }

  async function leadSoon({ shared }: Gateway): Promise<Leading> {
    let leading: Leading | undefined
    const lead = async () => {
      leading ??= await shared.lead()
      return leading !== undefined
    }
    await expect.poll(lead).toBe(true)
    return leading as unknown as Leading
  }

  /** Ends the connection of the gateway that leads. */
  const killLeader = ({ query }: Gateway) =>
    query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE locktype = 'advisory' AND classid = $1 AND objid = $2 AND granted`,
      [LOCK_CLASS, lockNumberOf(LEADER)],
    )

  async function waiting({ outbox }: Leading, account: Hex): Promise<string[]> {
    return (await waitingFor(outbox, account)).map(
      ({ action }) => `${action.kind} ${Number(action.documentHash)}`,
    )
  }

  /** An account sends an action that it may send. */
  async function send({ outbox }: Leading, account: Hex, action: Action): Promise<Send> {
    return outbox.plan({ account }, signed(0), await membersOf(outbox, [action], account))
  }
  /** An account sends an action, which gets into a block. */
  async function anchor(leading: Leading, account: Hex, action: Action): Promise<void> {
    await leading.outbox.settle(await send(leading, account, action), [THERE], PLACE, 0n)
  }

  test('one gateway leads until it leaves', async () => {
    const { one, two, leading } = await openTwo()
    expect(await two.shared.lead()).toBeUndefined()
    expect(await leading.hasRival()).toBe(true)
    await one.shared.leave()
    expect(leading.ended.aborted).toBe(true)
    const next = await leadSoon(two)
    await next.assertHeld()
    expect(await one.shared.lead()).toBeUndefined()
  })

  test('another gateway leads once the connection of the first one is killed', async () => {
    const { one, two, leading, leads } = await openTwo()
    for (const n of [1, 2]) await one.outbox.add(issueOf(n))
    const [first, second] = await membersOf(leads, [issueOf(1), issueOf(2)], ADA)
    if (!first || !second) throw new Error('two')
    const sent = await leads.plan({ account: ADA }, signed(0), [first])
    await killLeader(two)
    const next = await leadSoon(two)
    await expect.poll(() => leading.ended.aborted).toBe(true)
    const attempts = [
      () => leads.plan({ account: ADA }, signed(1), [second]),
      () => leads.replace(sent, signed(0), 1),
      () => leads.settle(sent, [{ status: 'conflict' }], PLACE, 1n),
      () => leads.resolve([{ ...second, outcome: { status: 'conflict' } }]),
      () => leads.note([PLACE], true),
      () => leads.finish(PLACE),
      () => leads.lose([PLACE]),
      () => leads.move(sent.id, [first], [ABSENT]),
      () => leads.hold([second], 1, Date.now() + 60_000),
      () => leads.holdIssues(Date.now() + 60_000),
      () => leading.tell('{}'),
    ]
    for (const attempt of attempts) await expect(attempt()).rejects.toThrow(LockLost)
    // The transactions in flight are read byte for byte.
    expect(await next.outbox.inFlight()).toEqual([sent])
    expect(await waiting(next, ADA)).toEqual(['issue 2'])
    expect(await next.outbox.feesSince(0)).toBe(0n)
    expect(await two.shared.told()).toBeUndefined()
    expect(await one.shared.lead()).toBeUndefined()
  })

  test('the leader notifies the others', async () => {
    const { two, leading } = await openTwo()
    expect(await two.shared.told()).toBeUndefined()
    await leading.tell('{"a":1}')
    await leading.tell('{"a":2}')
    const told = await two.shared.told()
    expect(told?.state).toBe('{"a":2}')
    expect(told?.age).toBeGreaterThanOrEqual(0)
  })

  test('the leader gets what any gateway adds, for any of its accounts', async () => {
    const { one, two, leading, leads } = await openTwo()
    await one.outbox.add(issueOf(1))
    await two.outbox.add(issueOf(2))
    for (const account of [ADA, BOB])
      expect(await waiting(leading, account)).toEqual(['issue 1', 'issue 2'])
    const members = await membersOf(leads, [issueOf(1)], BOB)
    await send(leading, ADA, issueOf(1))
    expect(await waiting(leading, BOB)).toEqual(['issue 2'])
    await expect(leads.plan({ account: BOB }, signed(0), members)).rejects.toThrow(
      'may not be sent yet',
    )
  })

  test('concurrent requests with one key at several gateways add one document', async () => {
    const { one, two } = await openTwo()
    const answers: unknown[] = []
    for (let round = 0; round < 20; round++) {
      const request = new Uint8Array(16).fill(round)
      const entry = { issuedOn: 1, validUntil: 0, subject: 1n, category: 1n, tenant: null, request }
      const both = [one, two].map(({ outbox }, i) =>
        outbox.add(issueOf(2 * round + i), { payload: { entry } }),
      )
      answers.push(...(await Promise.all(both)))
    }
    expect(answers.filter((answer) => answer === true)).toHaveLength(20)
    expect(answers.filter((answer) => answer === 'key_reused')).toHaveLength(20)
  })

  test('concurrent requests for a successor at several gateways add one', async () => {
    const { one, two } = await openTwo()
    const answers: unknown[] = []
    for (let round = 0; round < 20; round++) {
      const supersedes = word(1_000 + round)
      const entry = { issuedOn: 1, validUntil: 0, subject: 1n, category: 1n, tenant: null }
      const both = [one, two].map(({ outbox }, i) =>
        outbox.add(issueOf(2 * round + i), { payload: { entry: { ...entry, supersedes } } }),
      )
      answers.push(...(await Promise.all(both)))
    }
    expect(answers.filter((answer) => answer === true)).toHaveLength(20)
    expect(answers.filter((answer) => answer === 'has_successor')).toHaveLength(20)
  })

  test('gateways are woken by what they wait for', async () => {
    const { one, two, leading } = await openTwo()
    const heard = { waiting: 0, outcome: 0 }
    for (const channel of ['waiting', 'outcome'] as const)
      two.shared.listen(channel, () => {
        heard[channel]++
      })
    const wakes = async (channel: keyof typeof heard, work: () => Promise<unknown>) => {
      const before = heard[channel]
      await work()
      await expect.poll(() => heard[channel]).toBeGreaterThan(before)
    }
    let added = 0
    // It listens soon.
    const add = () => one.outbox.add(issueOf(++added))
    await expect.poll(async () => (await add()) && heard.waiting).toBeGreaterThan(0)
    await wakes('waiting', add)
    await wakes('waiting', () => one.outbox.add(suspendOf(500)))
    await wakes('outcome', () => anchor(leading, ADA, issueOf(1)))
  })
})
