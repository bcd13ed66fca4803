import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Hex, toHex } from '../../document/hex.ts'
import { type Database, openDatabase } from '../../gateway/adapters/database.ts'
import { createSqliteOutbox, type SqliteOutbox } from '../../gateway/adapters/sqlite-outbox.ts'
import type { Anchored, Intent } from '../../gateway/issue/ports.ts'

let dir: string
let database: Database
let outbox: SqliteOutbox
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outbox-'))
  database = openDatabase(join(dir, 'gateway.db'))
  outbox = createSqliteOutbox(database)
})
afterEach(async () => {
  await database.close()
  rmSync(dir, { recursive: true })
})

const hash = (): Hex => toHex(randomBytes(32))
const issue = (): Intent => ({
  kind: 'issue',
  documentHash: hash(),
  validUntil: 7,
})

const queued = async () => (await outbox.queued()).map(({ intent }) => intent)

const requeue = (anchored: Anchored) => outbox.review({ gone: [], moved: [], dropped: [anchored] })

async function added(intents: Intent[]): Promise<Intent[]> {
  await Promise.all(intents.map((intent) => outbox.add(intent)))
  return intents
}

const transaction = (nonce: number) => ({
  nonce,
  hash: hash(),
  raw: hash(),
  gasLimit: 3n,
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
})

const anchoring = () => ({
  blockNumber: 5,
  blockHash: hash(),
  transactionHash: hash(),
})

test('default: a plan carries its intents, and no others', async () => {
  const [a, b, c] = await added([issue(), issue(), issue()])
  if (!a || !b || !c) throw new Error('three')
  const revocation: Intent = {
    kind: 'revoke',
    documentHash: a.documentHash,
    reason: 1,
  }
  await outbox.add(revocation)
  const sent = transaction(3)
  const plan = await outbox.plan(sent, [a, b])
  expect(await outbox.plans()).toEqual([plan])
  expect(plan).toMatchObject({ nonce: 3, intents: [a, b], attempts: [sent] })
  expect(await queued()).toEqual([c, revocation])
  expect(await outbox.find('issue', a.documentHash)).toEqual({
    intent: a,
    anchored: false,
    promised: false,
    transactionHash: sent.hash,
  })
})

test('default: all in one place', async () => {
  const intents = await added([issue(), issue()])
  const [other] = await added([issue()])
  const plan = await outbox.plan(transaction(3), intents)
  const left = await outbox.plan(transaction(4), other ? [other] : [])
  const place = anchoring()
  const anchored = intents.map((intent) => ({ intent, anchoring: place }))
  await outbox.settle(plan, { anchored, gone: [] }, 0n)
  expect(await outbox.anchoredIn(place, 10)).toEqual(anchored)
  expect(await outbox.plans()).toEqual([left])
  expect(await queued()).toEqual([])
})

test('behavior: each elsewhere, one gone, one back in the queue', async () => {
  const intents = await added([issue(), issue(), issue(), issue()])
  const [a, b, gone, absent] = intents
  if (!a || !b || !gone || !absent) throw new Error('four')
  const plan = await outbox.plan(transaction(3), intents)
  const places = [anchoring(), anchoring()] as const
  await outbox.settle(
    plan,
    {
      anchored: [
        { intent: a, anchoring: places[0] },
        { intent: b, anchoring: places[1] },
      ],
      gone: [gone],
    },
    0n,
  )
  expect(await outbox.anchoredIn(places[0], 10)).toEqual([{ intent: a, anchoring: places[0] }])
  expect(await outbox.anchoredIn(places[1], 10)).toEqual([{ intent: b, anchoring: places[1] }])
  expect(await outbox.find('issue', gone.documentHash)).toBeUndefined()
  expect(await queued()).toEqual([absent])
  expect(await outbox.plans()).toEqual([])
})

test('behavior: all that are anchored in one place, but not all of the plan', async () => {
  const intents = await added([issue(), issue()])
  const [a, b] = intents
  if (!a || !b) throw new Error('two')
  const plan = await outbox.plan(transaction(3), intents)
  const place = anchoring()
  await outbox.settle(
    plan,
    {
      anchored: [{ intent: a, anchoring: place }],
      gone: [],
    },
    0n,
  )
  expect(await outbox.anchoredIn(place, 10)).toHaveLength(1)
  expect(await queued()).toEqual([b])
})

describe('suspending and releasing', () => {
  const documentHash = hash()
  const suspend: Intent = { kind: 'suspend', documentHash }
  const release: Intent = { kind: 'release', documentHash }

  /** Carries an intent by a transaction, into a block. */
  async function anchor(intent: Intent): Promise<Anchored> {
    const plan = await outbox.plan(transaction(0), [intent])
    const anchored = { intent, anchoring: anchoring() }
    await outbox.settle(plan, { anchored: [anchored], gone: [] }, 0n)
    return anchored
  }

  test('default: any number of times, one after the other', async () => {
    for (let round = 0; round < 3; round++)
      for (const intent of [suspend, release]) {
        expect(await outbox.add(intent)).toBe(true)
        expect(await queued()).toEqual([intent])
        await anchor(intent)
        expect(await outbox.anchoredUpTo(9, 9)).toMatchObject([{ intent }])
      }
  })

  test('error: not while the opposite is queued, or in flight', async () => {
    await outbox.add(suspend)
    expect(await outbox.add(release)).toBe(false)
    const plan = await outbox.plan(transaction(0), [suspend])
    expect(await outbox.add(release)).toBe(false)
    expect(await outbox.find('release', documentHash)).toBeUndefined()
    await outbox.settle(plan, { anchored: [], gone: [] }, 0n)
    expect(await outbox.add(release)).toBe(false)
    expect(await queued()).toEqual([suspend])
  })

  test('behavior: the opposite stays until the new one is on the chain', async () => {
    await outbox.add(suspend)
    await anchor(suspend)
    await outbox.add(release)
    expect((await outbox.find('suspend', documentHash))?.anchored).toBe(true)
    await outbox.withdraw([release])
    expect((await outbox.find('suspend', documentHash))?.anchored).toBe(true)
    await outbox.add(release)
    await anchor(release)
    expect(await outbox.find('suspend', documentHash)).toBeUndefined()
  })

  test('behavior: a reorg brings back what was asked for last', async () => {
    await outbox.add(suspend)
    const suspended = await anchor(suspend)
    await outbox.add(release)
    expect(await requeue(suspended)).toEqual([])
    expect(await queued()).toEqual([release])
    const released = await anchor(release)
    expect(await requeue(suspended)).toEqual([])
    expect(await requeue(released)).toEqual([release])
    expect(await queued()).toEqual([release])
  })

  test('behavior: what was looked at before it was asked for again is left alone', async () => {
    await outbox.add(suspend)
    const first = await anchor(suspend)
    expect(await outbox.add(suspend)).toBe(true)
    expect(await queued()).toEqual([suspend])
    await outbox.review({ gone: [first], moved: [], dropped: [] })
    expect(await requeue(first)).toEqual([])
    const moved = [{ ...first, now: anchoring() }]
    await outbox.review({ gone: [], moved, dropped: [] })
    expect(await queued()).toEqual([suspend])
  })

  test('behavior: what a transaction carried once is not withdrawn', async () => {
    await outbox.add(suspend)
    await anchor(suspend)
    await outbox.add(suspend)
    await outbox.withdraw([suspend])
    expect(await queued()).toEqual([suspend])
  })

  test('behavior: each document for itself, beside its revocation', async () => {
    const other: Intent = { kind: 'release', documentHash: hash() }
    const revoke: Intent = { kind: 'revoke', documentHash, reason: 1 }
    await outbox.add(suspend)
    expect(await outbox.add(other)).toBe(true)
    expect(await outbox.add(revoke)).toBe(true)
    expect(await queued()).toEqual([suspend, other, revoke])
  })
})

test('behavior: a revocation that is asked for again has the new reason', async () => {
  const documentHash = hash()
  const revoke = (reason: number): Intent => ({
    kind: 'revoke',
    documentHash,
    reason,
  })
  await outbox.add(revoke(1))
  await outbox.add(revoke(2))
  expect(await queued()).toEqual([revoke(1)])
  const plan = await outbox.plan(transaction(0), [revoke(1)])
  const anchored = [{ intent: revoke(1), anchoring: anchoring() }]
  await outbox.settle(plan, { anchored, gone: [] }, 0n)
  await outbox.add(revoke(2))
  expect(await queued()).toEqual([revoke(2)])
})

test('behavior: what needs no transaction any more is on the chain, or gone', async () => {
  const [there, gone, left] = await added([issue(), issue(), issue()])
  if (!there || !gone || !left) throw new Error('three')
  const place = anchoring()
  const anchored = [{ intent: there, anchoring: place }]
  await outbox.resolve({ anchored, gone: [gone] })
  expect(await outbox.anchoredIn(place, 9)).toEqual(anchored)
  expect(await outbox.find('issue', gone.documentHash)).toBeUndefined()
  expect(await queued()).toEqual([left])
})

describe('what was promised', () => {
  const withdrawn = async (intent: Intent) => (await outbox.withdraw([intent])).intents

  test('default: nobody was told of an intent that is only added', async () => {
    const [intent] = await added([issue()])
    if (!intent) throw new Error('one')
    expect(await withdrawn(intent)).toEqual([intent])
    expect(await withdrawn(intent)).toEqual([])
  })

  test('behavior: stays, also when it was added again without a promise', async () => {
    const [intent] = await added([issue()])
    if (!intent) throw new Error('one')
    const { kind, documentHash } = intent
    expect(await outbox.promise(kind, documentHash)).toEqual({
      ...{ intent, anchored: false, promised: true, transactionHash: null },
    })
    await outbox.add(intent)
    expect(await withdrawn(intent)).toEqual([])
    expect(await queued()).toEqual([intent])
  })

  test('behavior: is on disk with the intent, or with a repeat of it', async () => {
    const [one, other] = [issue(), issue()]
    await outbox.add(one, true)
    await outbox.add(other)
    await outbox.add(other, true)
    expect((await outbox.withdraw([one, other])).intents).toEqual([])
  })

  test('error: an intent that was withdrawn is not promised', async () => {
    expect(await outbox.promise('issue', hash())).toBeUndefined()
  })

  test('behavior: what was set aside stays so', async () => {
    const [intent, other] = await added([issue(), issue()])
    if (!intent || !other) throw new Error('two')
    await outbox.setAside([intent], 7)
    expect(await outbox.queued()).toEqual([
      { intent, asideUntil: 7 },
      { intent: other, asideUntil: null },
    ])
  })
})

describe('fees', () => {
  const settled = async (fee: bigint) => {
    const plan = await outbox.plan(transaction(0), [])
    await outbox.settle(plan, { anchored: [], gone: [] }, fee)
  }

  test('default: adds up what plans have cost, rounded up to gwei', async () => {
    expect(await outbox.feesSince(0)).toBe(0n)
    await settled(5_000_000_000n)
    await settled(1n)
    await settled(0n)
    expect(await outbox.feesSince(Date.now() - 60_000)).toBe(6_000_000_000n)
    expect(await outbox.feesSince(Date.now() + 120_000)).toBe(0n)
  })

  test('behavior: outlast the process', async () => {
    await settled(10n ** 18n)
    await database.close()
    database = openDatabase(join(dir, 'gateway.db'))
    outbox = createSqliteOutbox(database)
    expect(await outbox.feesSince(Date.now() - 60_000)).toBe(10n ** 18n)
  })
})

test('behavior: a replacement that carries fewer puts the others back', async () => {
  const intents = await added([issue(), issue(), issue()])
  const plan = await outbox.plan(transaction(3), intents)
  const second = transaction(3)
  const split = await outbox.replace(plan, second, intents.slice(0, 2))
  expect(split).toMatchObject({ nonce: 3, intents: intents.slice(0, 2) })
  expect(await outbox.plans()).toEqual([split])
  expect(await queued()).toEqual(intents.slice(2))
  expect((await outbox.withdraw(intents)).intents).toEqual([])
})
