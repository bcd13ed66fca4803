import { beforeEach, describe, expect, test } from 'vitest'
import { UNSEEN } from '#promise/anchoring.ts'
import { placeBatch } from '#store/sends/write.ts'
import { describePorts } from '#test/support/databases.ts'
import { type WholeOutbox, waitingFor } from '#test/support/outbox.ts'
import {
  anchorAll,
  anchoredAt,
  hash,
  issueOf,
  ownPlace,
  placeIn,
  plan,
  releaseOf,
  resolve,
  revokeOf,
  settleAll,
  suspendOf,
} from './given.ts'

describePorts('outbox', (ports) => {
  let outbox: WholeOutbox
  beforeEach(() => {
    outbox = ports.outbox
  })

  const queued = async () => (await waitingFor(outbox)).map(({ action }) => action)

  /** Of a caller that has seen a change after the one in block 5. */
  const UNDONE = { changedBlock: 6 }

  test('adding a change again does not alter it', async () => {
    const action = issueOf()
    expect(await outbox.add(action)).toBe(true)
    expect(await outbox.add(action)).toBe(false)
    expect(await waitingFor(outbox)).toEqual([
      { action, place: expect.any(Number), tries: 0, wasSent: false },
    ])
  })

  test('a document is found from its promise on until its block is final', async () => {
    const action = issueOf({ tenant: 'one' })
    const { documentHash } = action
    expect(await outbox.find('issue', documentHash)).toBeUndefined()
    await outbox.add(action)
    const pending = { status: 'pending', transactionHash: null }
    expect(await outbox.find('issue', documentHash)).toEqual({ action, outcome: pending })
    const send = await plan(outbox, [action])
    const transactionHash = send.attempts[0]?.hash
    expect(await outbox.find('issue', documentHash)).toEqual({
      action,
      outcome: { ...pending, transactionHash },
    })
    const place = await settleAll(outbox, send)
    expect(await outbox.find('issue', documentHash)).toEqual({
      action,
      outcome: { status: 'anchored', ...place },
    })
    await outbox.finish(place)
    expect(await outbox.find('issue', documentHash)).toBeUndefined()
    expect(await outbox.add(action)).toBe(false)
    expect(await queued()).toEqual([])
  })

  describe('suspending and releasing', () => {
    const documentHash = hash()
    const [suspend, release] = [suspendOf(documentHash), releaseOf(documentHash)]

    test('a document can be suspended and released any number of times', async () => {
      for (let nonce = 0; nonce < 6; nonce++) {
        const action = nonce % 2 === 0 ? suspend : release
        const block = placeIn(nonce + 1)
        expect(await outbox.add(action, { changedBlock: nonce })).toBe(true)
        expect(await queued()).toEqual([action])
        await anchorAll(outbox, [action], { nonce, block })
        expect(await outbox.find(action.kind, documentHash)).toMatchObject({
          action,
          outcome: { status: 'anchored', blockNumber: nonce + 1 },
        })
      }
    })

    test('adds a change again that a later one has undone, whatever the caller saw', async () => {
      for (const [nonce, action] of [suspend, release].entries()) {
        await outbox.add(action)
        await anchorAll(outbox, [action], { nonce, block: placeIn(nonce + 1) })
      }
      // As with a node that is behind.
      expect(await outbox.add(suspend)).toBe(true)
      expect(await queued()).toEqual([suspend])
    })

    test('holds the same change once while it is open', async () => {
      await outbox.add(suspend)
      await outbox.add(suspend, UNDONE)
      const send = await plan(outbox, [suspend])
      await outbox.add(suspend, UNDONE)
      expect(await queued()).toEqual([])
      expect(await ports.count('change')).toBe(1)
      await settleAll(outbox, send)
      await outbox.add(suspend)
      expect(await queued()).toEqual([])
      await outbox.add(suspend, UNDONE)
      expect(await queued()).toEqual([suspend])
    })

    test('a change is refused while its opposite waits or is in flight', async () => {
      await outbox.add(suspend)
      expect(await outbox.add(release)).toBe(false)
      const send = await plan(outbox, [suspend])
      expect(await outbox.add(release)).toBe(false)
      expect(await outbox.find('release', documentHash)).toBeUndefined()
      const elsewhere = { ...placeIn(5), transactionHash: null }
      await outbox.settle(send, [{ status: 'absent' }], elsewhere, 0n)
      expect(await outbox.add(release)).toBe(false)
      expect(await queued()).toEqual([suspend])
    })

    test('the opposite stays until the new change is on the chain', async () => {
      await outbox.add(suspend)
      await anchorAll(outbox, [suspend])
      const statusOfSuspension = async () =>
        (await outbox.find('suspend', documentHash))?.outcome.status
      await outbox.add(release)
      expect(await statusOfSuspension()).toBe('anchored')
      await resolve(outbox, release, { status: 'moot' })
      expect(await statusOfSuspension()).toBe('anchored')
      await outbox.add(release)
      await anchorAll(outbox, [release], { nonce: 1 })
      expect(await statusOfSuspension()).toBeUndefined()
    })

    test('documents are separate, and so are suspensions and revocations', async () => {
      const [other, revoke] = [releaseOf(hash()), revokeOf(documentHash)]
      await outbox.add(suspend)
      expect(await outbox.add(other)).toBe(true)
      expect(await outbox.add(revoke)).toBe(true)
      expect(await queued()).toEqual([suspend, other, revoke])
    })

    test('finds a waiting revocation beside a suspension on the chain', async () => {
      const revoke = revokeOf(documentHash)
      await outbox.add(revoke)
      await outbox.add(suspend)
      await anchorAll(outbox, [suspend])
      expect(await queued()).toEqual([revoke])
      expect(await outbox.find('revoke', documentHash)).toMatchObject({
        action: revoke,
        outcome: { status: 'pending' },
      })
    })
  })

  describe('revoking for two reasons', () => {
    const documentHash = hash()
    const revoke = (reason: number) => revokeOf(documentHash, reason)

    /** Adds two revocations, and settles the send of the first one in block 5. */
    async function anchorFirst(more: { reason?: number } = {}) {
      await outbox.add(revoke(1))
      await outbox.add(revoke(2))
      expect(await queued()).toEqual([revoke(1)])
      const send = await plan(outbox, [revoke(1)])
      const place = ownPlace(send, placeIn(5))
      await outbox.settle(send, [anchoredAt({ ...place, ...more })], place, 0n)
      return place
    }

    test.each([
      ['no change', 0],
      ['a change before it', 4],
    ])('adds nothing to what is on the chain when the caller saw %s', async (_, seen) => {
      const place = await anchorFirst()
      expect(await outbox.add(revoke(2), { changedBlock: seen })).toBe(true)
      expect(await queued()).toEqual([])
      expect(await outbox.find('revoke', documentHash)).toMatchObject({
        action: revoke(1),
        outcome: { status: 'anchored' },
      })
      // A reorg that removes it: the first one is carried out.
      await outbox.lose([place])
      const [again] = await outbox.inFlight()
      expect(again?.members).toMatchObject([{ action: revoke(1) }])
    })

    test('the new reason counts when the caller saw the first one undone', async () => {
      await anchorFirst()
      await outbox.add(revoke(2), UNDONE)
      expect(await queued()).toEqual([revoke(2)])
    })

    test('keeps its own reason when another account revoked first', async () => {
      const place = await anchorFirst({ reason: 3 })
      expect((await outbox.find('revoke', documentHash))?.action).toEqual(revoke(1))
      await outbox.lose([place])
      const [again] = await outbox.inFlight()
      expect(again?.members).toMatchObject([{ action: revoke(1) }])
    })
  })

  describe('a document that another gateway has issued', () => {
    test('is protected from then on, once', async () => {
      const action = issueOf({ tenant: 'one' })
      const place = placeIn(8)
      await outbox.guard(action, place)
      await outbox.guard(action, placeIn(9))
      expect(await outbox.find('issue', action.documentHash)).toEqual({
        action,
        outcome: { status: 'anchored', ...place },
      })
      expect(await outbox.upTo(9, 9)).toMatchObject([{ blockNumber: 8 }])
      expect(await outbox.inFlight()).toEqual([])
    })

    test('is found by the hash of its transaction in a send of ours', async () => {
      const [own, adopted] = [issueOf(), issueOf()]
      await outbox.add(own)
      const place = await anchorAll(outbox, [own])
      await outbox.guard(adopted, place)
      expect(await ports.count('send')).toBe(1)
      expect(await outbox.ofOthers(place)).toEqual([])
    })

    // As `recover` and `issue-again` find them, when no node has the events of a block.
    test('can be in an unknown transaction beside a batch of the same number', async () => {
      const unknown = { blockNumber: 5, blockHash: UNSEEN, transactionHash: null }
      await outbox.guard(issueOf(), unknown)
      const { batchDrafts, database } = ports.stores
      const batch = { root: hash(), size: 1, manifest: hash(), tenant: 'one' }
      await batchDrafts.index(new Uint8Array(32), batch, [])
      await database.write(() => placeBatch(batch.root, unknown))
      expect(await ports.count('member')).toBe(2)
    })

    test('does not change when it waits here', async () => {
      const action = issueOf()
      await outbox.add(action)
      await outbox.guard(action, placeIn(8))
      expect(await queued()).toEqual([action])
      expect(await outbox.upTo(9, 9)).toEqual([])
    })
  })
})
