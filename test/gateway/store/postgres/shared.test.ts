import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Intent, RevisionIntent } from '#promise/intent.ts'
import { LeaseLost, leaseOfAccount } from '#promise/lease.ts'
import type { SignedTransaction } from '#promise/plan.ts'
import type { LeasedAccount } from '#store/database.ts'
import { openPostgres, type Postgres } from '#store/drivers/postgres/database.ts'
import { createLeases } from '#store/leases.ts'
import { createFresh } from '#store/outbox/requests.ts'
import { createOutbox } from '#store/outbox.ts'
import { createOwner, createShared } from '#store/stores.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'

const folder = postgresFolder()
const log = createLog('silent')

const [ADA, BOB] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const
const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const issueOf = (n: number): Intent => ({ kind: 'issue', documentHash: word(n), validUntil: 0 })
const revokeOf = (n: number): RevisionIntent => ({
  kind: 'revoke',
  documentHash: word(n),
  reason: 4,
})

function signed(nonce: number): SignedTransaction {
  const fees = { gasLimit: 10n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 1n }
  return { nonce, hash: word(1_000 + nonce), raw: '0x02', ...fees }
}

describe.skipIf(folder === undefined)('an outbox that gateways share', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
  })
  afterAll(() => server.remove())

  async function openGateway(url: string) {
    const database = await openPostgres(url, log)
    onTestFinished(() => database.close())
    const { owner, assignTo } = createOwner()
    const fresh = createFresh()
    const shared = createShared(database, createLeases(database, log, 10_000), fresh)
    const outbox = createOutbox(database, { owner, fresh })
    async function lease(account: Hex): Promise<LeasedAccount> {
      const taken = await shared.leases.take([leaseOfAccount(account)])
      if (taken === undefined) throw new Error('the account is leased')
      onTestFinished(() => taken.release().catch(() => {}))
      return { account, lease: taken }
    }
    return { database, shared, outbox, assignTo, lease }
  }

  /** Gateways with an account each. */
  async function openTwo() {
    const url = await server.newDatabase()
    const [one, two] = [await openGateway(url), await openGateway(url)]
    const [ada, bob] = [await one.lease(ADA), await two.lease(BOB)]
    one.assignTo(() => ada)
    two.assignTo(() => bob)
    return {
      one,
      two,
      ada,
      bob,
      ofAda: one.shared.outboxOf(ada),
      ofBob: two.shared.outboxOf(bob),
    }
  }

  const expire = ({ query }: Postgres) => query('UPDATE lease SET expires_at = 0')
  const waiting = async ({ queued }: { queued(): Promise<{ intent: Intent }[]> }) =>
    (await queued()).map(({ intent }) => `${intent.kind} ${Number(intent.documentHash)}`)

  test('default: an intent waits for the engine of the gateway that added it', async () => {
    const { one, two, ofAda, ofBob } = await openTwo()
    await one.outbox.add(issueOf(1))
    await two.outbox.add(issueOf(2))
    expect(await waiting(ofAda)).toEqual(['issue 1'])
    expect(await waiting(ofBob)).toEqual(['issue 2'])
    expect(await one.outbox.find('issue', word(2))).toMatchObject({ account: BOB })
    expect(await one.shared.busyAccounts()).toEqual(expect.arrayContaining([ADA, BOB]))
  })

  test('behavior: one engine claims the intent of a gateway without an account', async () => {
    const { one, two, ofAda, ofBob } = await openTwo()
    one.assignTo(() => undefined)
    for (const n of [1, 2, 3]) await one.outbox.add(issueOf(n))
    const claimed = await Promise.all([ofAda.claim(2), ofBob.claim(2)])
    expect(claimed.flat().length).toBe(3)
    expect([...(await waiting(ofAda)), ...(await waiting(ofBob))].sort()).toEqual([
      ...['issue 1', 'issue 2', 'issue 3'],
    ])
    expect(await two.shared.outboxOf(await two.lease(`0x${'c'.repeat(40)}`)).claim(9)).toEqual([])
  })

  test('behavior: an intent added after the lease was lost waits for any engine', async () => {
    const { one, two, ofBob } = await openTwo()
    await expire(one.database)
    await two.lease(ADA)
    await one.outbox.add(issueOf(1))
    expect(await ofBob.claim(9)).toEqual([issueOf(1)])
  })

  test('behavior: a revision goes to the account that issues its document, until that is final', async () => {
    const { one, two, ofAda, ofBob } = await openTwo()
    await one.outbox.add(issueOf(1))
    await two.outbox.add(revokeOf(1))
    expect(await ofBob.claim(9)).toEqual([])
    const plan = await ofAda.plan(signed(0), [issueOf(1)])
    const anchoring = { blockNumber: 7, blockHash: word(7), transactionHash: word(1_000) }
    const anchored = [{ intent: issueOf(1), anchoring }]
    await ofAda.settle(plan, { anchored, gone: [] }, 0n)
    expect(await ofBob.claim(9)).toEqual([])
    expect(await ofBob.claimRevisions(9)).toEqual([])
    expect(await one.shared.busyAccounts()).toEqual([ADA])
    expect(await ofAda.claimRevisions(9)).toEqual([revokeOf(1)])

    await ofAda.disclaim()
    await one.outbox.review({ final: anchored, gone: [], moved: [], dropped: [] })
    expect(await ofBob.claim(9)).toEqual([revokeOf(1)])
  })

  test('error: makes no transaction for a revision whose document another account issues', async () => {
    const { one, two, ofBob } = await openTwo()
    await two.outbox.add(revokeOf(1))
    expect(await waiting(ofBob)).toEqual(['revoke 1'])
    await one.outbox.add(issueOf(1))
    expect(await waiting(ofBob)).toEqual([])
    await expect(ofBob.plan(signed(0), [revokeOf(1)])).rejects.toThrow('may not be sent yet')
  })

  test('behavior: another gateway takes over the transactions in flight, byte for byte', async () => {
    const { one, two, ada, ofAda } = await openTwo()
    await one.outbox.add(issueOf(1))
    await one.outbox.add(issueOf(2))
    const plan = await ofAda.plan(signed(0), [issueOf(1)])
    await ada.lease.release()
    const taken = two.shared.outboxOf(await two.lease(ADA))
    expect(await taken.plans()).toEqual([plan])
    expect(await waiting(taken)).toEqual(['issue 2'])
    await taken.disclaim()
    expect(await waiting(taken)).toEqual([])
  })

  test('behavior: an account that is alone takes over all but what is in flight', async () => {
    const { one, two, ofAda, ofBob } = await openTwo()
    for (const n of [1, 2, 3]) await one.outbox.add(issueOf(n))
    await ofAda.plan(signed(0), [issueOf(1)])
    const plan = await ofAda.plan(signed(1), [issueOf(2)])
    const anchoring = { blockNumber: 7, blockHash: word(7), transactionHash: word(1_000) }
    await ofAda.settle(plan, { anchored: [{ intent: issueOf(2), anchoring }], gone: [] }, 0n)
    await ofBob.adopt()
    expect(await waiting(ofBob)).toEqual(['issue 3'])
    await two.outbox.add(revokeOf(2))
    expect(await waiting(ofBob)).toEqual(['issue 3', 'revoke 2'])
    expect(await one.shared.busyAccounts()).toEqual([ADA, BOB])
  })

  test('behavior: what a transaction carried in vain goes to another account, if that is harmless', async () => {
    const { one, ofAda, ofBob } = await openTwo()
    const suspend: Intent = { kind: 'suspend', documentHash: word(2) }
    await one.outbox.add(issueOf(1))
    await one.outbox.add(suspend)
    for (const [nonce, intent] of [issueOf(1), suspend].entries()) {
      const plan = await ofAda.plan(signed(nonce), [intent])
      await ofAda.settle(plan, { anchored: [], gone: [] }, 0n)
    }
    await ofAda.disclaim()
    expect(await waiting(ofAda)).toEqual(['suspend 2'])
    expect(await ofBob.claim(9)).toEqual([issueOf(1)])
  })

  test('error: a holder that lost its lease changes nothing', async () => {
    const { one, two, ofAda } = await openTwo()
    await one.outbox.add(issueOf(1))
    const plan = await ofAda.plan(signed(0), [issueOf(1)])
    await one.outbox.add(issueOf(2))
    await expire(one.database)
    const taken = two.shared.outboxOf(await two.lease(ADA))
    const attempts = [
      () => ofAda.plan(signed(1), [issueOf(2)]),
      () => ofAda.replace(plan, signed(0), [issueOf(1)]),
      () => ofAda.settle(plan, { anchored: [], gone: [issueOf(1)] }, 1n),
      () => ofAda.resolve({ anchored: [], gone: [issueOf(2)] }),
      () => ofAda.setAside([issueOf(2)], 1, 1),
      () => ofAda.disclaim(),
    ]
    for (const attempt of attempts) await expect(attempt()).rejects.toThrow(LeaseLost)
    expect(await taken.plans()).toEqual([plan])
    expect(await waiting(taken)).toEqual(['issue 2'])
  })

  test('behavior: the cap of an hour counts what the others have in flight', async () => {
    const { one, ofAda, ofBob } = await openTwo()
    await one.outbox.add(issueOf(1))
    await ofAda.plan(signed(0), [issueOf(1)])
    expect(await ofAda.feesSince(Date.now())).toBe(0n)
    expect(await ofBob.feesSince(Date.now())).toBe(10n * 10n ** 9n)
  })

  test('behavior: gateways are woken up by what they wait for', async () => {
    const { one, two, ofAda } = await openTwo()
    let woken = 0
    two.shared.listen(() => {
      woken++
    })
    const wakes = async (work: () => Promise<unknown>) => {
      const before = woken
      await work()
      await expect.poll(() => woken).toBeGreaterThan(before)
    }
    one.assignTo(() => undefined)
    let added = 0
    // It listens soon.
    const add = () => one.outbox.add(issueOf(++added))
    await expect.poll(async () => (await add()) && woken).toBeGreaterThan(0)
    await ofAda.claim(9)
    const plan = await ofAda.plan(signed(0), [issueOf(1)])
    const anchoring = { blockNumber: 7, blockHash: word(7), transactionHash: word(1_000) }
    const anchored = [{ intent: issueOf(1), anchoring }]
    await wakes(() => ofAda.settle(plan, { anchored, gone: [] }, 0n))
  })
})
