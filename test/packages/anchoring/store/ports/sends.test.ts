import { beforeEach, describe, expect, test } from 'vitest'
import type { Action } from '#promise/action.ts'
import type { Anchoring, Outcome } from '#promise/anchoring.ts'
import { carriedBy, type Send } from '#promise/send.ts'
import { describePorts } from '#test/support/databases.ts'
import { ACCOUNT, type WholeOutbox, waitingFor } from '#test/support/outbox.ts'
import {
  anchorAll,
  anchoredAt,
  ENTRY,
  hash,
  issueOf,
  membersOf,
  ownPlace,
  placeIn,
  plan,
  releaseOf,
  revokeOf,
  settleAll,
  signed,
  suspendOf,
} from './given.ts'

describePorts('sends', (ports) => {
  let outbox: WholeOutbox
  beforeEach(() => {
    outbox = ports.outbox
  })

  const queued = async () => (await waitingFor(outbox)).map(({ action }) => action)
  const inFlight = async () => (await outbox.inFlight()).map(({ id }) => id)
  const events = async () => {
    const page = await ports.stores.events.read({ limit: 100 })
    if (page === 'unknown_event') throw new Error(page)
    return page.events
  }

  async function added(count: number, more: Parameters<typeof issueOf>[0] = {}) {
    const actions = Array.from({ length: count }, () => issueOf(more))
    for (const action of actions) await outbox.add(action)
    return actions as [Action, Action, Action, Action]
  }

  /** The nonce is used, by a transaction that is not the send's. */
  const elsewhere = (blockNumber = 5) => ({ ...placeIn(blockNumber), transactionHash: null })

  describe('making a send', () => {
    test('a send keeps exactly its members until its nonce is used', async () => {
      const [a, b, c] = await added(3)
      const members = await membersOf(outbox, [a, b])
      const sent = signed(3)
      const send = await outbox.plan({ account: ACCOUNT }, sent, members, 12)
      expect(send).toEqual({
        id: expect.any(Number),
        account: ACCOUNT,
        nonce: 3,
        head: 12,
        members,
        attempts: [{ ...sent, carried: 2 }],
      })
      expect(await outbox.inFlight()).toEqual([send])
      expect(await queued()).toEqual([c])
      expect(await outbox.count(Date.now(), 9)).toEqual({ queued: 1, held: 0 })
    })

    test('sends are the same after a restart, by nonce', async () => {
      const [a, b] = await added(2)
      const later = await plan(outbox, [a], { nonce: 9 })
      const first = await plan(outbox, [b], { nonce: 8 })
      await ports.reopen()
      outbox = ports.outbox
      expect(await outbox.inFlight()).toEqual([first, later])
    })

    test('a send is stored with all of its members or not at all', async () => {
      const [a, b] = await added(2)
      const members = await membersOf(outbox, [a, b])
      await plan(outbox, [b], { nonce: 1 })
      await expect(outbox.plan({ account: ACCOUNT }, signed(2), members)).rejects.toMatchObject({
        code: 'registry_refused',
      })
      expect(await queued()).toEqual([a])
      expect(await inFlight()).toHaveLength(1)
      expect(await outbox.openNonces(ACCOUNT, 0)).toEqual([1])
    })

    test('nonces are open until their sends are final', async () => {
      const [a, b, c] = await added(3)
      await settleAll(outbox, await plan(outbox, [a], { nonce: 7 }))
      await plan(outbox, [b], { nonce: 9 })
      await outbox.finish(await settleAll(outbox, await plan(outbox, [c], { nonce: 8 })))
      expect(await outbox.openNonces(ACCOUNT, 0)).toEqual([7, 9])
      expect(await outbox.openNonces(ACCOUNT, 8)).toEqual([9])
      expect(await outbox.openNonces(`0x${'b'.repeat(40)}`, 0)).toEqual([])
    })

    test('an empty transfer has no members', async () => {
      const send = await outbox.plan({ account: ACCOUNT }, signed(2), [])
      expect(await outbox.inFlight()).toEqual([send])
      await outbox.settle(send, [], elsewhere(), 1n)
      expect(await inFlight()).toEqual([])
    })
  })

  describe('replacing', () => {
    test('members that a replacement omits stay, and wait once the nonce is used', async () => {
      const actions = await added(3)
      const first = await plan(outbox, actions)
      const second = signed(0)
      const send = await outbox.replace(first, second, 2)
      expect(send.attempts).toEqual([...first.attempts, { ...second, carried: 2 }])
      expect(carriedBy(send).map(({ action }) => action)).toEqual(actions.slice(0, 2))
      expect(await outbox.inFlight()).toEqual([send])
      expect(await queued()).toEqual([])
      const place = ownPlace(send, placeIn(5))
      const there = anchoredAt(place)
      await outbox.settle(send, [there, there, { status: 'absent' }], place, 0n)
      expect(await waitingFor(outbox)).toMatchObject([{ action: actions[2], wasSent: true }])
    })

    test('any of its transactions may be the one in the block', async () => {
      const [action] = await added(1)
      const first = await plan(outbox, [action])
      const send = await outbox.replace(first, signed(0), 1)
      const place = ownPlace(first, placeIn(5))
      await outbox.settle(send, [anchoredAt(place)], place, 0n)
      expect(await outbox.find('issue', action.documentHash)).toMatchObject({
        outcome: { status: 'anchored', ...place },
      })
      expect(await outbox.ofOthers(place)).toEqual([])
    })
  })

  describe('finishing', () => {
    const whereIs = async ({ kind, documentHash }: Action) =>
      (await outbox.find(kind, documentHash))?.outcome

    test('all members are in the block of the transaction', async () => {
      const actions = await added(2)
      const [other] = await added(1)
      const send = await plan(outbox, actions)
      const left = await plan(outbox, [other], { nonce: 1 })
      const place = await settleAll(outbox, send)
      for (const action of actions)
        expect(await whereIs(action)).toEqual({ status: 'anchored', ...place })
      expect(await outbox.inFlight()).toEqual([left])
      expect(await queued()).toEqual([])
      expect(await outbox.ofOthers(place)).toEqual([])
    })

    test('each member has its own result', async () => {
      const [stays, moves, waits, refused] = await added(4)
      const send = await plan(outbox, [stays, moves, waits, refused])
      const [place, other] = [ownPlace(send, placeIn(5)), placeIn(4)]
      const outcomes: Outcome[] = [
        anchoredAt(place),
        anchoredAt(other),
        { status: 'absent' },
        { status: 'distrusted' },
      ]
      await outbox.settle(send, outcomes, place, 0n)
      expect(await whereIs(stays)).toEqual({ status: 'anchored', ...place })
      expect(await whereIs(moves)).toEqual({ status: 'anchored', ...other })
      expect(await whereIs(waits)).toEqual({ status: 'pending', transactionHash: null })
      expect(await whereIs(refused)).toBeUndefined()
      expect(await queued()).toEqual([waits])
      expect(await inFlight()).toEqual([])
      // Only what another one sent is looked at again by itself.
      expect(await outbox.ofOthers(place)).toEqual([])
      expect(await outbox.ofOthers(other)).toMatchObject([{ members: [{ action: moves }] }])
      expect((await events()).map(({ type, documentHash }) => [type, documentHash])).toEqual([
        ['document.failed', refused.documentHash],
        ['document.issued', stays.documentHash],
        ['document.issued', moves.documentHash],
      ])
    })

    test('members in the transaction of another finished send belong to that one', async () => {
      const [a, b] = await added(2)
      const first = await plan(outbox, [a])
      const place = await settleAll(outbox, first)
      const second = await plan(outbox, [b], { nonce: 1 })
      await outbox.settle(second, [anchoredAt(place)], elsewhere(6), 0n)
      expect(await whereIs(b)).toEqual({ status: 'anchored', ...place })
      // Both are in flight again with the first one.
      expect(await outbox.lose([place])).toBe(1)
      const [again] = await outbox.inFlight()
      expect(again?.id).toBe(first.id)
      expect(again?.members.map(({ action }) => action)).toEqual([a, b])
    })

    describe('members in the transaction of another send that is in flight', () => {
      async function settleFirst(): Promise<{ second: Send; place: Anchoring; all: Action[] }> {
        const [a, b] = await added(2)
        const first = await plan(outbox, [a], { nonce: 0 })
        const second = await plan(outbox, [b], { nonce: 1 })
        const place = ownPlace(second, placeIn(6))
        await outbox.settle(first, [anchoredAt(place)], elsewhere(), 0n)
        return { second, place, all: [a, b] }
      }

      test('belong to that one, which is finished too', async () => {
        const { second, place, all } = await settleFirst()
        await outbox.settle(second, [anchoredAt(place)], place, 7n)
        for (const action of all)
          expect(await whereIs(action)).toEqual({ status: 'anchored', ...place })
        const issued = (await events()).map(({ type, documentHash }) => [type, documentHash])
        expect(issued).toEqual(all.map(({ documentHash }) => ['document.issued', documentHash]))
        expect(await outbox.feesSince(0)).toBe(1_000_000_000n)
      })

      // The gateway may have been killed between the two.
      test('leave it in flight until it is finished', async () => {
        const { second } = await settleFirst()
        await ports.reopen()
        outbox = ports.outbox
        expect(await inFlight()).toEqual([second.id])
      })
    })

    test('a send keeps what was found in its transaction before', async () => {
      // The transaction was unknown then: as after the restore of a backup.
      const [a, b] = await added(2)
      const transaction = signed(0)
      const place = { ...placeIn(5), transactionHash: transaction.hash }
      const [one, two] = await membersOf(outbox, [a, b])
      if (!one || !two) throw new Error('two')
      await outbox.resolve([{ ...one, outcome: anchoredAt(place) }])
      const send = await outbox.plan({ account: ACCOUNT }, transaction, [two])
      await outbox.settle(send, [anchoredAt(place)], place, 0n)
      expect(await outbox.ofOthers(place)).toEqual([])
      expect(await outbox.lose([place])).toBe(1)
      const [again] = await outbox.inFlight()
      expect(again?.members.map(({ action }) => action)).toEqual([b, a])
    })

    test('a result can be written again after a lost answer', async () => {
      const [stays, waits, refused] = await added(3)
      const send = await plan(outbox, [stays, waits, refused])
      const place = ownPlace(send, placeIn(5))
      const outcomes: Outcome[] = [anchoredAt(place), { status: 'absent' }, { status: 'conflict' }]
      const settle = () => outbox.settle(send, outcomes, place, 5_000_000_000n)
      await settle()
      const again = await plan(outbox, [waits], { nonce: 1 })
      await settle()
      expect(await outbox.feesSince(0)).toBe(5_000_000_000n)
      expect(await outbox.inFlight()).toEqual([again])
      expect(await events()).toHaveLength(2)
    })

    test('a change that waits again comes after those that wait already', async () => {
      const [a, b] = await added(2)
      const send = await plan(outbox, [a, b])
      const [later] = await added(1)
      const absent: Outcome = { status: 'absent' }
      await outbox.settle(send, [absent, absent], elsewhere(), 0n)
      expect(await waitingFor(outbox)).toMatchObject([
        { action: later, wasSent: false },
        { action: a, wasSent: true, tries: 0 },
        { action: b, wasSent: true, tries: 0 },
      ])
    })

    test('a document that can never be issued counts as never requested', async () => {
      const request = new Uint8Array(16).fill(7)
      const old = issueOf()
      await outbox.add(old)
      await anchorAll(outbox, [old])
      const entry = { ...ENTRY, supersedes: old.documentHash, request }
      const [refused, other] = [issueOf({ tenant: 'one' }), issueOf({ tenant: 'one' })]
      const add = (action: typeof refused) => outbox.add(action, { payload: { entry } })
      expect(await add(refused)).toBe(true)
      expect(await add(other)).toBe('key_reused')
      const send = await plan(outbox, [refused], { nonce: 1 })
      await outbox.settle(send, [{ status: 'conflict' }], elsewhere(6), 0n)
      const { documentIndex, successions, requests } = ports.stores
      expect(await documentIndex.find(refused.documentHash)).toBeUndefined()
      expect(await successions.successorOf(old.documentHash)).toBeUndefined()
      expect(await requests.find(request)).toBeUndefined()
      expect(await outbox.find('revoke', old.documentHash)).toBeUndefined()
      expect(await queued()).toEqual([])
      expect(await ports.count('change')).toBe(0)
      expect(await add(other)).toBe(true)
      expect(await queued()).toMatchObject([{ documentHash: other.documentHash }])
    })

    // Both were in a block, which a reorg has removed; the account is distrusted meanwhile.
    test('a revocation in a send can be finished after its successor was refused', async () => {
      const [old, successor] = [issueOf(), issueOf()]
      await outbox.add(old)
      await anchorAll(outbox, [old])
      const entry = { ...ENTRY, supersedes: old.documentHash }
      await outbox.add(successor, { payload: { entry } })
      const place = await anchorAll(outbox, [successor], { nonce: 1, block: placeIn(6) })
      const revoking = await plan(outbox, [revokeOf(old.documentHash, 4)], { nonce: 2 })
      await outbox.lose([place])
      const [issuing] = await outbox.inFlight()
      if (!issuing) throw new Error('a send')
      await outbox.settle(issuing, [{ status: 'distrusted' }], elsewhere(7), 0n)
      expect(await inFlight()).toEqual([revoking.id])
    })

    test('a change without effect is removed, and stays in the history of acts', async () => {
      const change: Action = { ...releaseOf(hash()), actor: 'key one' }
      await outbox.add(change)
      const send = await plan(outbox, [change])
      await outbox.settle(send, [{ status: 'moot' }], elsewhere(), 0n)
      expect(await whereIs(change)).toBeUndefined()
      expect(await queued()).toEqual([])
      expect(await events()).toEqual([])
      expect(await ports.stores.acts.of(change.documentHash)).toMatchObject([{ kind: 'release' }])
    })

    describe('a change that leaves its send', () => {
      const absent: Outcome = { status: 'absent' }

      test.each([
        ['the opposite waits', 'waits'],
        ['the opposite is in flight', 'in flight'],
        ['the opposite is in a block', 'in a block'],
      ])('no longer waits when %s', async (_, state) => {
        const documentHash = hash()
        const [suspend, release] = [suspendOf(documentHash), releaseOf(documentHash)]
        await outbox.add(suspend)
        const place = await anchorAll(outbox, [suspend])
        await outbox.add(release)
        if (state === 'in a block') await anchorAll(outbox, [release], { nonce: 1 })
        if (state === 'in flight') await plan(outbox, [release], { nonce: 1 })
        await outbox.lose([place])
        const [again] = await outbox.inFlight()
        if (!again) throw new Error('a send')
        await outbox.settle(again, [absent], elsewhere(6), 0n)
        expect(await queued()).toEqual(state === 'waits' ? [release] : [])
        expect(await outbox.find('suspend', documentHash)).toBeUndefined()
        expect((await outbox.find('release', documentHash))?.outcome.status).toBe(
          state === 'in a block' ? 'anchored' : 'pending',
        )
      })

      test('no longer waits when a revocation came after it', async () => {
        const documentHash = hash()
        const [suspend, revoke] = [suspendOf(documentHash), revokeOf(documentHash)]
        await outbox.add(suspend)
        const send = await plan(outbox, [suspend])
        await outbox.add(revoke)
        await outbox.settle(send, [absent], elsewhere(), 0n)
        expect(await queued()).toEqual([revoke])
      })

      test('waits when only changes of other documents, or an erasure, came after it', async () => {
        const documentHash = hash()
        const [suspend, other] = [suspendOf(documentHash), releaseOf(hash())]
        await outbox.add(suspend)
        const send = await plan(outbox, [suspend])
        await outbox.add(other)
        await ports.stores.erasures.begin(documentHash, 'default')
        await outbox.settle(send, [absent], elsewhere(), 0n)
        expect(await queued()).toEqual([other, suspend])
      })

      test('always waits if it is a revocation', async () => {
        const documentHash = hash()
        const [revoke, suspend] = [revokeOf(documentHash), suspendOf(documentHash)]
        await outbox.add(revoke)
        const send = await plan(outbox, [revoke])
        await outbox.add(suspend)
        await outbox.settle(send, [absent], elsewhere(), 0n)
        expect(await queued()).toEqual([suspend, revoke])
      })
    })
  })

  describe('fees', () => {
    const settled = async (nonce: number, fee: bigint) => {
      const send = await outbox.plan({ account: ACCOUNT }, signed(nonce), [])
      await outbox.settle(send, [], elsewhere(), fee)
      return send
    }

    test('of all sends are added up, rounded up to gwei', async () => {
      expect(await outbox.feesSince(0)).toBe(0n)
      await settled(0, 5_000_000_000n)
      await settled(1, 1n)
      await settled(2, 0n)
      expect(await outbox.feesSince(Date.now() - 60_000)).toBe(6_000_000_000n)
      expect(await outbox.feesSince(Date.now() + 120_000)).toBe(0n)
    })

    test('are counted once when a reorg moves the transaction', async () => {
      const [action] = await added(1)
      const send = await plan(outbox, [action])
      const settle = async (blockNumber: number) => {
        const place = ownPlace(send, placeIn(blockNumber))
        await outbox.settle(send, [anchoredAt(place)], place, 5_000_000_000n)
        return place
      }
      await outbox.lose([await settle(5)])
      await settle(6)
      expect(await outbox.feesSince(0)).toBe(5_000_000_000n)
    })

    test('survive a restart', async () => {
      await settled(0, 10n ** 18n)
      await ports.reopen()
      outbox = ports.outbox
      expect(await outbox.feesSince(Date.now() - 60_000)).toBe(10n ** 18n)
    })
  })
})
