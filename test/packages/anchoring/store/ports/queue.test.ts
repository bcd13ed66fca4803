import { beforeEach, describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { Action, IssueAction } from '#promise/action.ts'
import { UNSEEN } from '#promise/anchoring.ts'
import { MAX_HOLD_MS, type Sender } from '#promise/ports.ts'
import { describePorts } from '#test/support/databases.ts'
import { ACCOUNT, type WholeOutbox, waitingFor } from '#test/support/outbox.ts'
import {
  anchorAll,
  anchoredAt,
  ENTRY,
  hash,
  issueOf,
  membersOf,
  placeIn,
  plan,
  releaseOf,
  resolve,
  revokeOf,
  signed,
  suspendOf,
} from './given.ts'

describePorts('changes that wait for a send', (ports) => {
  let outbox: WholeOutbox
  beforeEach(() => {
    outbox = ports.outbox
  })

  const queued = async () => (await waitingFor(outbox)).map(({ action }) => action)

  async function added(count: number): Promise<[IssueAction, IssueAction, IssueAction]> {
    const actions = Array.from({ length: count }, () => issueOf())
    await Promise.all(actions.map((action) => outbox.add(action)))
    return actions as [IssueAction, IssueAction, IssueAction]
  }

  const sender = { account: ACCOUNT }

  test('come oldest first, up to a limit', async () => {
    const actions = await added(3)
    const oldest = await outbox.next(sender, { now: Date.now(), limit: 2 })
    const all = await waitingFor(outbox)
    expect(all.map(({ action }) => action)).toEqual(expect.arrayContaining(actions))
    expect(oldest).toEqual(all.slice(0, 2))
    const places = all.map(({ place }) => place)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(await outbox.newest()).toBe(places.at(-1))
    expect(await outbox.count(Date.now(), 2)).toEqual({ queued: 2, held: 0 })
  })

  test('keep how often they were refused, and until when they wait', async () => {
    const [action, other] = await added(2)
    const now = Date.now()
    const at = async (time: number) =>
      (await outbox.next(sender, { now: time, limit: 9 })).map((one) => [one.action, one.tries])
    const members = await membersOf(outbox, [action])
    await outbox.hold(members, 1, now + 7_000)
    expect(await at(now)).toEqual([[other, 0]])
    expect(await outbox.count(now, 9)).toEqual({ queued: 1, held: 1 })
    expect(new Set(await at(now + 7_000))).toEqual(
      new Set([
        [action, 1],
        [other, 0],
      ]),
    )
    await outbox.hold(members, 2, now + 9_000)
    await outbox.add(action)
    await ports.reopen()
    outbox = ports.outbox
    expect(await at(now + 8_000)).toEqual([[other, 0]])
    expect(new Set(await at(now + 9_000))).toEqual(
      new Set([
        [action, 2],
        [other, 0],
      ]),
    )
  })

  test('are not delayed when the clock jumps back', async () => {
    const [action] = await added(1)
    const now = Date.now()
    await outbox.hold(await membersOf(outbox, [action]), 1, now + 7_000)
    expect(await outbox.next(sender, { now: now - MAX_HOLD_MS, limit: 9 })).toHaveLength(1)
    expect(await outbox.next(sender, { now, limit: 9 })).toEqual([])
  })

  test('include issues, which can all be held and released', async () => {
    const [action] = await added(1)
    const revocation = revokeOf(hash())
    await outbox.add(revocation)
    await outbox.holdIssues(Date.now() + 60_000)
    expect(await queued()).toEqual([revocation])
    await outbox.holdIssues(null)
    expect(await queued()).toEqual([action, revocation])
  })

  describe('get results without a transaction of this gateway', () => {
    test("are in another's block, can never be issued, or keep waiting", async () => {
      const [there, refused, left] = await added(3)
      const place = placeIn(5)
      const [one, two, three] = await membersOf(outbox, [there, refused, left])
      if (!one || !two || !three) throw new Error('three')
      await outbox.resolve([
        { ...one, outcome: anchoredAt(place) },
        { ...two, outcome: { status: 'conflict' } },
        { ...three, outcome: { status: 'absent' } },
      ])
      expect(await outbox.find('issue', there.documentHash)).toEqual({
        action: there,
        outcome: { status: 'anchored', ...place },
      })
      expect(await outbox.find('issue', refused.documentHash)).toBeUndefined()
      expect(await queued()).toEqual([left])
      expect(await outbox.ofOthers(place)).toMatchObject([{ members: [{ action: there }] }])
    })

    test('documents of one transaction are in one send', async () => {
      const [a, b, c] = await added(3)
      const [place, other] = [placeIn(5), placeIn(5)]
      await resolve(outbox, a, anchoredAt(place))
      await resolve(outbox, b, anchoredAt(place))
      await resolve(outbox, c, anchoredAt(other))
      expect(await outbox.ofOthers(place)).toMatchObject([
        { members: [{ action: a }, { action: b }] },
      ])
      expect(await outbox.ofOthers(other)).toMatchObject([{ members: [{ action: c }] }])
    })

    test('documents of an unknown transaction are in one send per block', async () => {
      const [a, b, c] = await added(3)
      const unknown = (blockNumber: number) => ({
        blockNumber,
        blockHash: UNSEEN,
        transactionHash: null,
      })
      await resolve(outbox, a, anchoredAt(unknown(5)))
      await resolve(outbox, b, anchoredAt(unknown(5)))
      await resolve(outbox, c, anchoredAt(unknown(6)))
      expect(await outbox.unseen(undefined, 9)).toEqual([
        { blockNumber: 5, blockHash: UNSEEN },
        { blockNumber: 6, blockHash: UNSEEN },
      ])
      const [{ members } = { members: [] }, ...others] = await outbox.ofOthers(unknown(5))
      expect(others).toEqual([])
      expect(members.map(({ action }) => action)).toEqual([a, b])
    })

    test('a result can be written again after a lost answer', async () => {
      const [action] = await added(1)
      const members = await membersOf(outbox, [action])
      const found = members.map((member) => ({ ...member, outcome: anchoredAt(placeIn(5)) }))
      await outbox.resolve(found)
      await outbox.resolve(found)
      expect(await outbox.upTo(9, 9)).toHaveLength(1)
      expect(await ports.count('event')).toBe(1)
    })
  })
})

const [ADA, BOB]: [Hex, Hex] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]

describePorts('the account that may send a change', (ports) => {
  let outbox: WholeOutbox
  beforeEach(() => {
    outbox = ports.outbox
  })

  const limits = { now: Date.now(), limit: 9 }
  const mayBeSent = async (by: Sender) =>
    (await outbox.next(by, limits)).map(({ action }) => action)
  /** The accounts of a gateway that is not the only one. */
  const [ada, bob] = [{ account: ADA }, { account: BOB }]
  /** The only gateway, which has this account. */
  const onlyBob = { account: BOB, own: [BOB] }

  /** Refuses a send of what another account may send. */
  async function refuses(by: Sender, actions: readonly Action[]): Promise<void> {
    const members = await membersOf(outbox, actions, ADA)
    await expect(outbox.plan(by, signed(9), members)).rejects.toMatchObject({
      code: 'registry_refused',
    })
    expect(await outbox.openNonces(by.account, 9)).toEqual([])
  }

  test('any account may send a new document', async () => {
    const action = issueOf()
    await outbox.add(action)
    for (const by of [ada, bob]) expect(await mayBeSent(by)).toEqual([action])
    await plan(outbox, [action], { account: ADA })
    for (const by of [ada, bob]) expect(await mayBeSent(by)).toEqual([])
  })

  test('a change waits until its document is in a block, or final for another account', async () => {
    const action = issueOf()
    const change = suspendOf(action.documentHash)
    await outbox.add(action)
    await outbox.add(change)
    expect(await mayBeSent(ada)).toEqual([action])
    const send = await plan(outbox, [action], { account: ADA })
    expect(await mayBeSent(ada)).toEqual([])
    const place = { ...placeIn(5), transactionHash: send.attempts[0]?.hash ?? null }
    await outbox.settle(send, [anchoredAt(place)], place, 0n)
    expect(await mayBeSent(ada)).toEqual([change])
    expect(await mayBeSent(bob)).toEqual([])
    await refuses(bob, [change])
    // A reorg: its document is in no block.
    await outbox.lose([place])
    expect(await mayBeSent(ada)).toEqual([])
    const [again] = await outbox.inFlight()
    if (again) await outbox.settle(again, [anchoredAt(place)], place, 0n)
    await outbox.finish(place)
    expect(await mayBeSent(bob)).toEqual([change])
  })

  test('a change of a batch or of a document in it waits until the batch is in a block', async () => {
    const { shared, batchLog } = ports.stores
    const batch = { root: hash(), size: 2, manifest: hash(), tenant: 'one' }
    const [whole, part] = [
      { ...revokeOf(batch.root), root: batch.root },
      { ...suspendOf(hash()), root: batch.root },
    ]
    const lock = await shared.locks.take('batch')
    if (!lock) throw new Error('nobody else has it')
    await batchLog.promise(new Uint8Array(32), batch, lock)
    await lock.release()
    await outbox.add(whole)
    await outbox.add(part)
    const [issue, ...others] = await mayBeSent(ada)
    expect(issue).toEqual({
      kind: 'issue',
      documentHash: batch.root,
      root: batch.root,
      validUntil: batch.size,
      manifest: batch.manifest,
      tenant: 'one',
    })
    expect(others).toEqual([])
    const place = await anchorAll(outbox, issue ? [issue] : [], { account: ADA })
    expect(await mayBeSent(ada)).toEqual([whole, part])
    expect(await mayBeSent(bob)).toEqual([])
    await outbox.finish(place)
    expect(await mayBeSent(bob)).toEqual([whole, part])
  })

  test('a change waits while the previous one is in a block of another account', async () => {
    const documentHash = hash()
    const [suspend, release, revoke] = [
      suspendOf(documentHash),
      releaseOf(documentHash),
      revokeOf(documentHash),
    ]
    await outbox.add(suspend)
    const place = await anchorAll(outbox, [suspend], { account: ADA })
    await outbox.add(release)
    await outbox.add(revoke)
    expect(await mayBeSent(ada)).toEqual([release, revoke])
    expect(await mayBeSent(bob)).toEqual([])
    for (const change of [release, revoke]) await refuses(bob, [change])
    await outbox.finish(place)
    expect(await mayBeSent(bob)).toEqual([release, revoke])
  })

  test("a change of another gateway's document needs no final block", async () => {
    const action = issueOf()
    await outbox.guard(action, placeIn(5))
    const change = revokeOf(action.documentHash)
    await outbox.add(change)
    for (const by of [ada, bob]) expect(await mayBeSent(by)).toEqual([change])
  })

  test('a revocation waits until the successor is in a block, or final for another account', async () => {
    const [old, successor] = [issueOf(), issueOf()]
    await outbox.guard(old, placeIn(4))
    const entry = { ...ENTRY, supersedes: old.documentHash }
    await outbox.add(successor, { payload: { entry } })
    expect(await mayBeSent(ada)).toEqual([successor])
    const place = await anchorAll(outbox, [successor], { account: ADA })
    const revocation = revokeOf(old.documentHash, 4)
    expect(await mayBeSent(ada)).toEqual([revocation])
    expect(await mayBeSent(bob)).toEqual([])
    await refuses(bob, [revocation])
    await outbox.finish(place)
    expect(await mayBeSent(bob)).toEqual([revocation])
  })

  test('a suspension or release that was in a transaction is for its account only', async () => {
    for (const [nonce, change] of [suspendOf(hash()), releaseOf(hash())].entries()) {
      await outbox.add(change)
      const send = await plan(outbox, [change], { account: ADA, nonce })
      const elsewhere = { ...placeIn(5), transactionHash: null }
      await outbox.settle(send, [{ status: 'absent' }], elsewhere, 0n)
      expect(await mayBeSent(ada)).toEqual([change])
      expect(await mayBeSent(bob)).toEqual([])
      await refuses(bob, [change])
      expect(await outbox.carriers()).toEqual([ADA])
      await plan(outbox, [change], { account: ADA, nonce: nonce + 10 })
      expect(await outbox.carriers()).toEqual([])
    }
  })

  test('a suspension that a transaction did not make is for any account once a final block has the nonce', async () => {
    const change = suspendOf(hash())
    await outbox.add(change)
    const send = await plan(outbox, [change], { account: ADA })
    const place = { ...placeIn(5), transactionHash: null }
    await outbox.settle(send, [{ status: 'absent' }], place, 0n)
    expect(await mayBeSent(bob)).toEqual([])
    await outbox.finish(place)
    expect(await mayBeSent(bob)).toEqual([change])
    expect(await outbox.carriers()).toEqual([])
  })

  test('a document or revocation that was in a transaction is for any account', async () => {
    const actions = [issueOf(), revokeOf(hash())]
    for (const [nonce, action] of actions.entries()) {
      await outbox.add(action)
      const send = await plan(outbox, [action], { account: ADA, nonce })
      const elsewhere = { ...placeIn(5), transactionHash: null }
      await outbox.settle(send, [{ status: 'absent' }], elsewhere, 0n)
    }
    expect(await mayBeSent(bob)).toEqual(actions)
    expect(await outbox.carriers()).toEqual([])
  })

  test('the only gateway does not wait for an account that it does not have', async () => {
    const [action, other] = [issueOf(), suspendOf(hash())]
    const change = suspendOf(action.documentHash)
    await outbox.add(action)
    await anchorAll(outbox, [action], { account: ADA, nonce: 1 })
    await outbox.add(change)
    await outbox.add(other)
    const send = await plan(outbox, [other], { account: ADA, nonce: 2 })
    const elsewhere = { ...placeIn(5), transactionHash: null }
    await outbox.settle(send, [{ status: 'absent' }], elsewhere, 0n)
    expect(await mayBeSent(bob)).toEqual([])
    expect(await mayBeSent(onlyBob)).toEqual([change, other])
    // The account is one of its own: it may still send.
    expect(await mayBeSent({ account: BOB, own: [BOB, ADA] })).toEqual([])
    const members = await membersOf(outbox, [change], ADA)
    await outbox.plan(onlyBob, signed(3), members)
    expect(await mayBeSent(onlyBob)).toEqual([other])
  })

  test('the only gateway does not wait for the previous change of such an account', async () => {
    const documentHash = hash()
    const [suspend, release] = [suspendOf(documentHash), releaseOf(documentHash)]
    await outbox.add(suspend)
    await anchorAll(outbox, [suspend], { account: ADA })
    await outbox.add(release)
    expect(await mayBeSent(bob)).toEqual([])
    expect(await mayBeSent(onlyBob)).toEqual([release])
  })
})
