import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import type { Anchored } from '#promise/anchoring.ts'
import type { Intent } from '#promise/intent.ts'
import { MAX_HOLD_MS } from '#promise/ports.ts'
import { describePorts } from '#test/support/databases.ts'
import { ACCOUNT, type WholeOutbox, waitingFor } from '#test/support/outbox.ts'

const hash = (): Hex => toHex(randomBytes(32))
const issue = (): Intent => ({
  kind: 'issue',
  documentHash: hash(),
  validUntil: 7,
})

describePorts('outbox', (ports) => {
  let outbox: WholeOutbox
  beforeEach(() => {
    outbox = ports.outbox
  })

  const queued = async () => (await waitingFor(outbox)).map(({ intent }) => intent)

  const requeue = (anchored: Anchored) =>
    outbox.review({ final: [], gone: [], moved: [], dropped: [anchored] })

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
  /** Of a caller that has seen a change in that block, after the intent's own. */
  const UNDONE = { changedBlock: anchoring().blockNumber }

  test('default: a plan carries its intents and no others', async () => {
    const [a, b, c] = await added([issue(), issue(), issue()])
    if (!a || !b || !c) throw new Error('three')
    const revocation: Intent = {
      kind: 'revoke',
      documentHash: a.documentHash,
      reason: 1,
    }
    await outbox.add(revocation)
    const sent = transaction(3)
    const plan = await outbox.plan(ACCOUNT, sent, [a, b])
    expect(await outbox.plans()).toEqual([plan])
    expect(plan).toMatchObject({ account: ACCOUNT, nonce: 3, intents: [a, b], attempts: [sent] })
    // The revocation waits until its document is in a block.
    expect(await queued()).toEqual([c])
    expect(await outbox.count(Date.now(), 9)).toEqual({ queued: 2, held: 0 })
    expect(await outbox.find('issue', a.documentHash)).toEqual({
      intent: a,
      outcome: { status: 'pending', transactionHash: sent.hash },
    })
  })

  test('default: anchors all intents of a plan in one block', async () => {
    const intents = await added([issue(), issue()])
    const [other] = await added([issue()])
    const plan = await outbox.plan(ACCOUNT, transaction(3), intents)
    const left = await outbox.plan(ACCOUNT, transaction(4), other ? [other] : [])
    const place = anchoring()
    const anchored = intents.map((intent) => ({ intent, anchoring: place }))
    await outbox.settle(plan, { anchored, gone: [] }, 0n)
    expect(new Set(await outbox.anchoredIn(place, 10))).toEqual(new Set(anchored))
    expect(await outbox.plans()).toEqual([left])
    expect(await queued()).toEqual([])
  })

  test('behavior: anchors intents in two blocks, removes one and requeues one', async () => {
    const intents = await added([issue(), issue(), issue(), issue()])
    const [a, b, gone, absent] = intents
    if (!a || !b || !gone || !absent) throw new Error('four')
    const plan = await outbox.plan(ACCOUNT, transaction(3), intents)
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

  test('behavior: anchors a part of a plan and requeues the rest', async () => {
    const intents = await added([issue(), issue()])
    const [a, b] = intents
    if (!a || !b) throw new Error('two')
    const plan = await outbox.plan(ACCOUNT, transaction(3), intents)
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

    /** Plans an intent and settles its plan in a block. */
    async function anchor(intent: Intent): Promise<Anchored> {
      const plan = await outbox.plan(ACCOUNT, transaction(0), [intent])
      const anchored = { intent, anchoring: anchoring() }
      await outbox.settle(plan, { anchored: [anchored], gone: [] }, 0n)
      return anchored
    }

    test('default: a document can be suspended and released any number of times', async () => {
      for (let round = 0; round < 3; round++)
        for (const intent of [suspend, release]) {
          expect(await outbox.add(intent)).toBe(true)
          expect(await queued()).toEqual([intent])
          await anchor(intent)
          expect(await outbox.anchoredUpTo(9, 9)).toMatchObject([{ intent }])
        }
    })

    test('error: refuses an intent while its opposite is queued or in flight', async () => {
      await outbox.add(suspend)
      expect(await outbox.add(release)).toBe(false)
      const plan = await outbox.plan(ACCOUNT, transaction(0), [suspend])
      expect(await outbox.add(release)).toBe(false)
      expect(await outbox.find('release', documentHash)).toBeUndefined()
      await outbox.settle(plan, { anchored: [], gone: [] }, 0n)
      expect(await outbox.add(release)).toBe(false)
      expect(await queued()).toEqual([suspend])
    })

    test('behavior: keeps the opposite until the new intent is on the chain', async () => {
      await outbox.add(suspend)
      await anchor(suspend)
      await outbox.add(release)
      expect((await outbox.find('suspend', documentHash))?.outcome.status).toBe('anchored')
      await outbox.resolve({ anchored: [], gone: [release] })
      expect((await outbox.find('suspend', documentHash))?.outcome.status).toBe('anchored')
      await outbox.add(release)
      await anchor(release)
      expect(await outbox.find('suspend', documentHash)).toBeUndefined()
    })

    test('behavior: requeues the latest request after a reorg', async () => {
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

    test('behavior: does not change an intent that was requested again after the look', async () => {
      await outbox.add(suspend)
      const first = await anchor(suspend)
      expect(await outbox.add(suspend, UNDONE)).toBe(true)
      expect(await queued()).toEqual([suspend])
      await outbox.review({ final: [], gone: [first], moved: [], dropped: [] })
      expect(await requeue(first)).toEqual([])
      const moved = [{ ...first, now: anchoring() }]
      await outbox.review({ final: [], gone: [], moved, dropped: [] })
      expect(await queued()).toEqual([suspend])
    })

    test('behavior: remembers that a transaction carried what is requested again', async () => {
      await outbox.add(suspend)
      await anchor(suspend)
      await outbox.add(suspend, UNDONE)
      expect(await waitingFor(outbox)).toMatchObject([{ intent: suspend, wasCarried: true }])
    })

    test('behavior: does not mix documents, nor suspensions and revocations', async () => {
      const other: Intent = { kind: 'release', documentHash: hash() }
      const revoke: Intent = { kind: 'revoke', documentHash, reason: 1 }
      await outbox.add(suspend)
      expect(await outbox.add(other)).toBe(true)
      expect(await outbox.add(revoke)).toBe(true)
      expect(await queued()).toEqual([suspend, other, revoke])
    })
  })

  describe('revoking for two reasons', () => {
    const documentHash = hash()
    const revoke = (reason: number): Intent => ({ kind: 'revoke', documentHash, reason })

    /** Plans the first revocation, and settles its plan in block 5. */
    async function anchorFirst(reason?: number): Promise<Anchored> {
      await outbox.add(revoke(1))
      await outbox.add(revoke(2))
      expect(await queued()).toEqual([revoke(1)])
      const plan = await outbox.plan(ACCOUNT, transaction(0), [revoke(1)])
      const place = { ...anchoring(), ...(reason !== undefined && { reason }) }
      const anchored = { intent: revoke(1), anchoring: place }
      await outbox.settle(plan, { anchored: [anchored], gone: [] }, 0n)
      return anchored
    }

    test.each([
      ['no change', 0],
      ['a change before it', 4],
    ])('behavior: does not queue what is anchored when the caller saw %s', async (_, seen) => {
      const first = await anchorFirst()
      expect(await outbox.add(revoke(2), { changedBlock: seen })).toBe(true)
      expect(await queued()).toEqual([])
      expect(await outbox.find('revoke', documentHash)).toMatchObject({
        intent: revoke(1),
        outcome: { status: 'anchored' },
      })
      // A reorg that removes it: the first one is carried out.
      expect(await requeue(first)).toEqual([revoke(1)])
    })

    test('behavior: takes the new reason when the caller saw that it was undone', async () => {
      await anchorFirst()
      await outbox.add(revoke(2), UNDONE)
      expect(await queued()).toEqual([revoke(2)])
    })

    test('behavior: keeps its own reason when somebody else revoked first', async () => {
      const first = await anchorFirst(3)
      expect((await outbox.find('revoke', documentHash))?.intent).toEqual(revoke(1))
      const moved = { ...first, now: { ...anchoring(), reason: 2 } }
      await outbox.review({ final: [], gone: [], moved: [moved], dropped: [] })
      expect(await requeue({ ...first, anchoring: moved.now })).toEqual([revoke(1)])
    })
  })

  test('behavior: anchors or removes queued intents that need no transaction', async () => {
    const [there, gone, left] = await added([issue(), issue(), issue()])
    if (!there || !gone || !left) throw new Error('three')
    const place = anchoring()
    const anchored = [{ intent: there, anchoring: place }]
    await outbox.resolve({ anchored, gone: [gone] })
    expect(await outbox.anchoredIn(place, 9)).toEqual(anchored)
    expect(await outbox.find('issue', gone.documentHash)).toBeUndefined()
    expect(await queued()).toEqual([left])
  })

  describe('history', () => {
    const at = (blockNumber: number) => ({ ...anchoring(), blockNumber })
    const move = (anchored: Anchored, now: ReturnType<typeof at>) =>
      outbox.review({ final: [], gone: [], moved: [{ ...anchored, now }], dropped: [] })
    let anchored: Anchored
    const kept = (blockNumber: number) =>
      ports.stores.history.transactionOf(anchored.intent.documentHash, blockNumber)

    beforeEach(async () => {
      const [intent] = await added([issue()])
      if (!intent) throw new Error('one')
      anchored = { intent, anchoring: at(5) }
      const plan = await outbox.plan(ACCOUNT, transaction(0), [intent])
      await outbox.settle(plan, { anchored: [anchored], gone: [] }, 0n)
    })

    test('default: keeps the transaction of a document that has left the outbox', async () => {
      const { transactionHash } = anchored.anchoring
      expect(await kept(5)).toBe(transactionHash)
      await outbox.review({ final: [], gone: [anchored], moved: [], dropped: [] })
      expect(await kept(5)).toBe(transactionHash)
      expect(await kept(6)).toBeNull()
    })

    test.each([5, 4, 6])(
      'behavior: follows a document that a reorg moves to block %i',
      async (to) => {
        const now = at(to)
        await move(anchored, now)
        expect(await kept(to)).toBe(now.transactionHash)
        if (to !== 5) expect(await kept(5)).toBeNull()
      },
    )

    test('behavior: forgets a document that a reorg drops', async () => {
      await requeue(anchored)
      expect(await kept(5)).toBeNull()
    })

    test('behavior: keeps the transaction of an adopted document', async () => {
      const [intent, now] = [issue(), at(7)]
      if (intent.kind !== 'issue') throw new Error('a document to issue')
      await outbox.adopt(intent, now)
      anchored = { intent, anchoring: now }
      expect(await kept(7)).toBe(now.transactionHash)
    })
  })

  test('behavior: an intent that is added again stays as it is', async () => {
    const [intent] = await added([issue()])
    if (!intent) throw new Error('one')
    expect(await outbox.add(intent)).toBe(false)
    expect(await waitingFor(outbox)).toEqual([
      { intent, id: expect.any(Number), tries: 0, wasCarried: false },
    ])
  })

  test('returns the oldest first, up to a limit', async () => {
    const intents = await added([issue(), issue(), issue()])
    const oldest = await outbox.next(ACCOUNT, { now: Date.now(), limit: 2 })
    const all = await waitingFor(outbox)
    expect(all.map(({ intent }) => intent)).toEqual(expect.arrayContaining(intents))
    expect(oldest).toEqual(all.slice(0, 2))
    const ids = all.map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(await outbox.newest()).toBe(ids.at(-1))
    expect(await outbox.count(Date.now(), 2)).toEqual({ queued: 2, held: 0 })
  })

  test('remembers how often an intent was refused, and until when it waits', async () => {
    const [intent, other] = await added([issue(), issue()])
    if (!intent || !other) throw new Error('two')
    const now = Date.now()
    const at = async (time: number) =>
      (await outbox.next(ACCOUNT, { now: time, limit: 9 })).map((one) => [one.intent, one.tries])
    await outbox.hold([intent], 1, now + 7_000)
    expect(await at(now)).toEqual([[other, 0]])
    expect(await outbox.count(now, 9)).toEqual({ queued: 1, held: 1 })
    expect(new Set(await at(now + 7_000))).toEqual(
      new Set([
        [intent, 1],
        [other, 0],
      ]),
    )
    await outbox.hold([intent], 2, now + 9_000)
    await outbox.add(intent)
    await ports.reopen()
    outbox = ports.outbox
    expect(await at(now + 8_000)).toEqual([[other, 0]])
    expect(new Set(await at(now + 9_000))).toEqual(
      new Set([
        [intent, 2],
        [other, 0],
      ]),
    )
  })

  test('an intent is not held when the clock jumps back', async () => {
    const intents = await added([issue()])
    const now = Date.now()
    await outbox.hold(intents, 1, now + 7_000)
    expect(await outbox.next(ACCOUNT, { now: now - MAX_HOLD_MS, limit: 9 })).toHaveLength(1)
    expect(await outbox.next(ACCOUNT, { now, limit: 9 })).toEqual([])
  })

  test('holds back all documents to issue, until they are let go', async () => {
    const [intent] = await added([issue()])
    const revocation: Intent = { kind: 'revoke', documentHash: hash(), reason: 1 }
    await outbox.add(revocation)
    await outbox.holdIssues(Date.now() + 60_000)
    expect(await queued()).toEqual([revocation])
    await outbox.holdIssues(null)
    expect(await queued()).toEqual([intent, revocation])
  })

  describe('fees', () => {
    const settled = async (fee: bigint) => {
      const plan = await outbox.plan(ACCOUNT, transaction(0), [])
      await outbox.settle(plan, { anchored: [], gone: [] }, fee)
    }

    test('default: adds up the fees of plans, rounded up to gwei', async () => {
      expect(await outbox.feesSince(0)).toBe(0n)
      await settled(5_000_000_000n)
      await settled(1n)
      await settled(0n)
      expect(await outbox.feesSince(Date.now() - 60_000)).toBe(6_000_000_000n)
      expect(await outbox.feesSince(Date.now() + 120_000)).toBe(0n)
    })

    test('behavior: settling a plan again, whose answer was lost, adds no fee', async () => {
      const plan = await outbox.plan(ACCOUNT, transaction(0), [])
      await outbox.settle(plan, { anchored: [], gone: [] }, 5_000_000_000n)
      await outbox.settle(plan, { anchored: [], gone: [] }, 5_000_000_000n)
      expect(await outbox.feesSince(0)).toBe(5_000_000_000n)
    })

    test('behavior: fees survive a restart', async () => {
      await settled(10n ** 18n)
      await ports.reopen()
      outbox = ports.outbox
      expect(await outbox.feesSince(Date.now() - 60_000)).toBe(10n ** 18n)
    })
  })

  test('behavior: requeues the intents that a replacement leaves out', async () => {
    const intents = await added([issue(), issue(), issue()])
    const plan = await outbox.plan(ACCOUNT, transaction(3), intents)
    const second = transaction(3)
    const split = await outbox.replace(plan, second, intents.slice(0, 2))
    expect(split).toMatchObject({ nonce: 3, intents: intents.slice(0, 2) })
    expect(await outbox.plans()).toEqual([split])
    expect(await queued()).toEqual(intents.slice(2))
    expect(await waitingFor(outbox)).toMatchObject([{ wasCarried: true }])
  })

  describe('the blocks of anchored intents', () => {
    const place = (blockNumber: number) => ({ ...anchoring(), blockNumber })
    const blockOf = ({ blockNumber, blockHash }: ReturnType<typeof place>) => ({
      blockNumber,
      blockHash,
    })
    const unseen = () => outbox.unseen(undefined, 100)

    /** Anchors one plan of `size` intents in each block. */
    async function anchored(places: ReturnType<typeof place>[], size = 2): Promise<Anchored[]> {
      const all: Anchored[] = []
      for (const one of places) {
        const intents = await added(Array.from({ length: size }, issue))
        const plan = await outbox.plan(ACCOUNT, transaction(0), intents)
        const some = intents.map((intent) => ({ intent, anchoring: one }))
        await outbox.settle(plan, { anchored: some, gone: [] }, 0n)
        all.push(...some)
      }
      return all
    }

    test('default: lists each block once, by number, and in parts', async () => {
      const places = [7, 5, 6].map(place)
      await anchored([...places, ...places.slice(0, 1)])
      const [seven, five, six] = places.map(blockOf)
      expect(await unseen()).toEqual([five, six, seven])
      expect(await outbox.unseen(undefined, 2)).toEqual([five, six])
      expect(await outbox.unseen(six, 2)).toEqual([seven])
    })

    test('behavior: remembers after a restart which blocks were seen', async () => {
      const [five, six] = [place(5), place(6)]
      await anchored([five, six])
      await outbox.note([blockOf(five), blockOf(six)], true)
      await ports.reopen()
      outbox = ports.outbox
      expect(await unseen()).toEqual([])
      expect(await outbox.newestSeen()).toEqual(blockOf(six))
      await outbox.note([blockOf(six)], false)
      expect(await outbox.newestSeen()).toEqual(blockOf(five))
      expect(await unseen()).toEqual([blockOf(six)])
    })

    test('behavior: deletes a block when its last intent has left', async () => {
      const [first, second] = await anchored([place(5)])
      if (!first || !second) throw new Error('two')
      await outbox.review({ final: [], gone: [first], moved: [], dropped: [] })
      expect(await unseen()).toHaveLength(1)
      await outbox.review({ final: [], gone: [], moved: [], dropped: [second] })
      expect(await unseen()).toEqual([])
    })

    test('behavior: follows intents to another block', async () => {
      const now = place(6)
      const moved = (await anchored([place(5)])).map((one) => ({ ...one, now }))
      await outbox.review({ final: [], gone: [], moved, dropped: [] })
      expect(await unseen()).toEqual([blockOf(now)])
    })

    test('behavior: adds no block for a move of an intent that has left meanwhile', async () => {
      const [one] = await anchored([place(5)], 1)
      if (!one) throw new Error('one')
      await outbox.review({ final: [], gone: [one], moved: [], dropped: [] })
      await outbox.review({ final: [], gone: [], moved: [{ ...one, now: place(6) }], dropped: [] })
      expect(await unseen()).toEqual([])
    })

    test('behavior: lists the block of an adopted document', async () => {
      const adopted = place(8)
      const intent = { kind: 'issue', documentHash: hash(), validUntil: 7 } as const
      await outbox.adopt(intent, adopted)
      await outbox.adopt(intent, place(9))
      expect(await unseen()).toEqual([blockOf(adopted)])
    })

    test('behavior: deletes the block of a suspension that is released or repeated', async () => {
      const documentHash = hash()
      const intents = (['suspend', 'release', 'suspend'] as const).map((kind) => ({
        kind,
        documentHash,
      }))
      for (const [i, intent] of intents.entries()) {
        await outbox.add(intent)
        expect(await unseen()).toHaveLength(Math.min(i, 1))
        await outbox.resolve({ anchored: [{ intent, anchoring: place(i + 1) }], gone: [] })
      }
      expect(await unseen()).toHaveLength(1)
      await outbox.add({ kind: 'suspend', documentHash }, { changedBlock: 3 })
      expect(await unseen()).toEqual([])
    })
  })

  test('behavior: returns payloads in groups, without payloads added meanwhile', async () => {
    const add = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          outbox.add(issue(), { payload: { sealed: randomBytes(4) } }),
        ),
      )
    await add(450)
    const sizes: number[] = []
    for await (const some of outbox.payloads()) {
      sizes.push(some.length)
      await add(10)
    }
    expect(sizes).toEqual([200, 200, 50])
  })
})
