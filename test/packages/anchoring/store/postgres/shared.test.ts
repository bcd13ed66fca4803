import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Anchored } from '#promise/anchoring.ts'
import type { Intent, IssueIntent, RevisionIntent } from '#promise/intent.ts'
import { LockLost } from '#promise/lock.ts'
import type { SignedTransaction } from '#promise/plan.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { createSessions, LOCK_CLASS, lockNumberOf } from '#store/drivers/postgres/session.ts'
import { createOutbox } from '#store/outbox.ts'
import { createShared, LEADER, type Leading } from '#store/stores.ts'
import { waitingFor } from '#test/support/outbox.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'

const folder = postgresFolder()
const log = createLog('silent')

const [ADA, BOB] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const
const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const issueOf = (n: number): IssueIntent => ({
  kind: 'issue',
  documentHash: word(n),
  validUntil: 0,
})
const revokeOf = (n: number): RevisionIntent => ({
  kind: 'revoke',
  documentHash: word(n),
  reason: 4,
})
const suspendOf = (n: number): RevisionIntent => ({ kind: 'suspend', documentHash: word(n) })
const releaseOf = (n: number): RevisionIntent => ({ kind: 'release', documentHash: word(n) })
const NOTHING = { final: [], gone: [], moved: [], dropped: [] }

function signed(nonce: number): SignedTransaction {
  const fees = { gasLimit: 10n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 1n }
  return { nonce, hash: word(1_000 + nonce), raw: '0x02', ...fees }
}
const inBlock = (intent: Intent): Anchored => ({
  intent,
  anchoring: { blockNumber: 7, blockHash: word(7), transactionHash: word(1_000) },
})

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
    return { one, two, leading, backlog: leading.outbox }
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
      ({ intent }) => `${intent.kind} ${Number(intent.documentHash)}`,
    )
  }

  /** An account sends an intent, which gets into a block. */
  async function anchor({ outbox }: Leading, account: Hex, intent: Intent): Promise<void> {
    const plan = await outbox.plan(account, signed(0), [intent])
    await outbox.settle(plan, { anchored: [inBlock(intent)], gone: [] }, 0n)
  }
  /** An account sends an intent in vain. */
  async function carry({ outbox }: Leading, account: Hex, intent: Intent): Promise<void> {
    const plan = await outbox.plan(account, signed(0), [intent])
    await outbox.settle(plan, { anchored: [], gone: [] }, 0n)
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
    const { one, two, leading, backlog } = await openTwo()
    for (const n of [1, 2]) await one.outbox.add(issueOf(n))
    const plan = await backlog.plan(ADA, signed(0), [issueOf(1)])
    await killLeader(two)
    const next = await leadSoon(two)
    await expect.poll(() => leading.ended.aborted).toBe(true)
    const attempts = [
      () => backlog.plan(ADA, signed(1), [issueOf(2)]),
      () => backlog.replace(plan, signed(0), [issueOf(1)]),
      () => backlog.settle(plan, { anchored: [], gone: [issueOf(1)] }, 1n),
      () => backlog.resolve({ anchored: [], gone: [issueOf(2)] }),
      () => backlog.review({ ...NOTHING, gone: [inBlock(issueOf(2))] }),
      () => backlog.adopt(issueOf(3), inBlock(issueOf(3)).anchoring),
      () => backlog.hold([issueOf(2)], 1, Date.now() + 60_000),
      () => backlog.holdIssues(Date.now() + 60_000),
      () => leading.tell('{}'),
    ]
    for (const attempt of attempts) await expect(attempt()).rejects.toThrow(LockLost)
    // The transactions in flight are read byte for byte.
    expect(await next.outbox.plans()).toEqual([plan])
    expect(await waiting(next, ADA)).toEqual(['issue 2'])
    expect(await next.outbox.feesSince(0)).toBe(0n)
    expect(await two.shared.told()).toBeUndefined()
    expect(await one.shared.lead()).toBeUndefined()
  })

  test('the gateway that leads tells the others', async () => {
    const { two, leading } = await openTwo()
    expect(await two.shared.told()).toBeUndefined()
    await leading.tell('{"a":1}')
    await leading.tell('{"a":2}')
    const told = await two.shared.told()
    expect(told?.state).toBe('{"a":2}')
    expect(told?.age).toBeGreaterThanOrEqual(0)
  })

  test('the gateway that leads gets what any gateway adds, for any of its accounts', async () => {
    const { one, two, leading, backlog } = await openTwo()
    await one.outbox.add(issueOf(1))
    await two.outbox.add(issueOf(2))
    for (const account of [ADA, BOB])
      expect(await waiting(leading, account)).toEqual(['issue 1', 'issue 2'])
    await backlog.plan(ADA, signed(0), [issueOf(1)])
    expect(await waiting(leading, BOB)).toEqual(['issue 2'])
    await expect(backlog.plan(BOB, signed(0), [issueOf(1)])).rejects.toThrow('may not be sent yet')
  })

  test('a suspension that an account has carried is only given to that account', async () => {
    const { one, leading, backlog } = await openTwo()
    await one.outbox.add(suspendOf(2))
    await carry(leading, ADA, suspendOf(2))
    expect(await waiting(leading, ADA)).toEqual(['suspend 2'])
    expect(await waiting(leading, BOB)).toEqual([])
    expect(await backlog.carriers()).toEqual([ADA])
    await expect(backlog.plan(BOB, signed(0), [suspendOf(2)])).rejects.toThrow(
      'may not be sent yet',
    )
    await backlog.plan(ADA, signed(1), [suspendOf(2)])
    expect(await backlog.carriers()).toEqual([])
  })

  test('a document or a revocation that an account has carried is given to any account', async () => {
    const { one, leading, backlog } = await openTwo()
    await one.outbox.add(issueOf(1))
    await one.outbox.add(revokeOf(2))
    await carry(leading, ADA, issueOf(1))
    await carry(leading, ADA, revokeOf(2))
    expect(await waiting(leading, BOB)).toEqual(['issue 1', 'revoke 2'])
    expect(await backlog.carriers()).toEqual([])
  })

  test('a change waits for its issue; for one of another account until that is final', async () => {
    const { one, leading, backlog } = await openTwo()
    await one.outbox.add(revokeOf(1))
    await one.outbox.add(issueOf(1))
    expect(await waiting(leading, ADA)).toEqual(['issue 1'])
    await expect(backlog.plan(ADA, signed(0), [revokeOf(1)])).rejects.toThrow('may not be sent yet')
    const plan = await backlog.plan(ADA, signed(0), [issueOf(1)])
    expect(await waiting(leading, ADA)).toEqual([])
    await backlog.settle(plan, { anchored: [inBlock(issueOf(1))], gone: [] }, 0n)
    expect(await waiting(leading, ADA)).toEqual(['revoke 1'])
    expect(await waiting(leading, BOB)).toEqual([])
    await backlog.review({ ...NOTHING, final: [inBlock(issueOf(1))] })
    expect(await waiting(leading, BOB)).toEqual(['revoke 1'])
  })

  test('a change waits for the issue of its batch', async () => {
    const { one, leading } = await openTwo()
    const revoke = { ...revokeOf(2), root: word(1) }
    await one.outbox.add({ ...issueOf(1), root: word(1) })
    await one.outbox.add(revoke)
    expect(await waiting(leading, ADA)).toEqual(['issue 1'])
    await anchor(leading, ADA, { ...issueOf(1), root: word(1) })
    expect(await waiting(leading, ADA)).toEqual(['revoke 2'])
    expect(await waiting(leading, BOB)).toEqual([])
  })

  test('a change waits for a predecessor of another account until that is final', async () => {
    const { one, leading, backlog } = await openTwo()
    await one.outbox.add(suspendOf(2))
    await anchor(leading, ADA, suspendOf(2))
    await one.outbox.add(releaseOf(2))
    await one.outbox.add(revokeOf(2))
    expect(await waiting(leading, ADA)).toEqual(['release 2', 'revoke 2'])
    expect(await waiting(leading, BOB)).toEqual([])
    for (const intent of [releaseOf(2), revokeOf(2)])
      await expect(backlog.plan(BOB, signed(0), [intent])).rejects.toThrow('may not be sent yet')
    await backlog.review({ ...NOTHING, final: [inBlock(suspendOf(2))] })
    expect(await waiting(leading, BOB)).toEqual(['release 2', 'revoke 2'])
  })

  test('gateways are woken up by what they wait for', async () => {
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
