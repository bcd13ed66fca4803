import { beforeEach, describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { IssueAction } from '#promise/action.ts'
import { ABSENT, type Anchoring, type Outcome, UNSEEN } from '#promise/anchoring.ts'
import { carriedBy } from '#promise/send.ts'
import { describePorts } from '#test/support/databases.ts'
import { ACCOUNT, type WholeOutbox, waitingFor } from '#test/support/outbox.ts'
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
  signed,
  suspendOf,
} from './given.ts'

describePorts('the blocks of sends', (ports) => {
  let outbox: WholeOutbox
  beforeEach(() => {
    outbox = ports.outbox
  })

  const queued = async () => (await waitingFor(outbox)).map(({ action }) => action)
  const unseen = () => outbox.unseen(undefined, 100)
  const blockOf = ({ blockNumber, blockHash }: Anchoring) => ({ blockNumber, blockHash })
  const whereIs = async ({ documentHash }: Pick<IssueAction, 'documentHash'>) =>
    (await outbox.find('issue', documentHash))?.outcome
  const statusOf = async (documentHash: Hex) =>
    (await ports.stores.documentIndex.find(documentHash))?.status
  const eventsOf = async () => {
    const page = await ports.stores.events.read({ limit: 100 })
    if (page === 'unknown_event') throw new Error(page)
    return page.events.map(({ type, documentHash }) => [type, documentHash])
  }

  async function added(count: number): Promise<[IssueAction, IssueAction]> {
    const actions = Array.from({ length: count }, () => issueOf())
    for (const action of actions) await outbox.add(action)
    return actions as [IssueAction, IssueAction]
  }

  let nonces = 0
  /** Sends documents, one in each of these blocks. */
  async function sentIn(...blocks: Anchoring[]): Promise<IssueAction[]> {
    const all: IssueAction[] = []
    for (const block of blocks) {
      const actions = await added(1)
      await anchorAll(outbox, actions, { nonce: nonces++, block })
      all.push(...actions)
    }
    return all
  }

  describe('are watched', () => {
    test('each once, by number, and in parts', async () => {
      const [seven, five, six] = [placeIn(7), placeIn(5), placeIn(6)]
      await sentIn(seven, five, six, seven)
      const blocks = [five, six, seven].map(blockOf)
      expect(await unseen()).toEqual(blocks)
      expect(await outbox.unseen(undefined, 2)).toEqual(blocks.slice(0, 2))
      expect(await outbox.unseen(blocks[1], 2)).toEqual(blocks.slice(2))
      expect(await outbox.upTo(6, 9)).toEqual(blocks.slice(0, 2))
      expect(await outbox.upTo(9, 1)).toEqual(blocks.slice(0, 1))
    })

    test('and are known after a restart if they were seen', async () => {
      const [five, six] = [placeIn(5), placeIn(6)]
      await sentIn(five, six)
      await outbox.note([blockOf(five), blockOf(six)], true)
      await ports.reopen()
      outbox = ports.outbox
      expect(await unseen()).toEqual([])
      expect(await outbox.newestSeen(1)).toEqual([blockOf(six)])
      expect(await outbox.upTo(9, 9)).toHaveLength(2)
      await outbox.note([blockOf(six)], false)
      expect(await outbox.newestSeen(1)).toEqual([blockOf(five)])
      expect(await unseen()).toEqual([blockOf(six)])
    })

    test('also of a send without members', async () => {
      const send = await outbox.plan({ account: ACCOUNT }, signed(0), [])
      const place = ownPlace(send, placeIn(5))
      await outbox.settle(send, [], place, 0n)
      expect(await unseen()).toEqual([blockOf(place)])
      expect(await outbox.lose([place])).toBe(1)
      expect(await outbox.inFlight()).toMatchObject([{ id: send.id }])
    })

    test('but not sends in flight', async () => {
      await plan(outbox, await added(1))
      expect(await unseen()).toEqual([])
      expect(await outbox.newestSeen(1)).toEqual([])
    })
  })

  describe('become final', () => {
    test('with everything that their sends carry, once', async () => {
      const [one, other] = await added(2)
      const suspend = suspendOf(hash())
      await outbox.add(suspend)
      const [block, later] = [placeIn(5), placeIn(6)]
      const place = await anchorAll(outbox, [one], { nonce: 0, block })
      const changed = await anchorAll(outbox, [suspend], { nonce: 1, block })
      await anchorAll(outbox, [other], { nonce: 2, block: later })
      expect(await outbox.finish(block)).toEqual([
        { action: one, anchoring: place },
        { action: suspend, anchoring: changed },
      ])
      expect(await outbox.upTo(9, 9)).toEqual([blockOf(later)])
      const before = await eventsOf()
      expect(before).toEqual([
        ['document.issued', one.documentHash],
        ['document.suspended', suspend.documentHash],
        ['document.issued', other.documentHash],
        ['document.final', one.documentHash],
      ])
      expect(await outbox.finish(block)).toEqual([])
      // A repeat of its request finds it on the chain.
      await outbox.guard(one, place)
      expect(await outbox.finish(block)).toEqual([])
      expect(await eventsOf()).toEqual(before)
    })

    test('and their transactions are kept only for the history', async () => {
      const [one, other] = await added(2)
      const send = await plan(outbox, [one])
      await outbox.replace(send, signed(0), 1)
      const place = await settleAll(outbox, send)
      await plan(outbox, [other], { nonce: 1 })
      expect(await ports.count('attempt')).toBe(3)
      await outbox.finish(place)
      expect(await ports.count('attempt')).toBe(1)
      expect(await outbox.openNonces(ACCOUNT, 0)).toEqual([1])
      expect(await ports.stores.history.transactionOf(one.documentHash, 5)).toBe(
        place.transactionHash,
      )
      // The nonce of a final send is used: a new chain of nonces may begin.
      expect(await plan(outbox, await added(1), { nonce: 0 })).toMatchObject({ nonce: 0 })
    })

    test('and can no longer be lost', async () => {
      const [action] = await added(1)
      const place = await anchorAll(outbox, [action])
      await outbox.finish(place)
      expect(await outbox.lose([place])).toBe(0)
      expect(await outbox.inFlight()).toEqual([])
    })

    test('also for what is later found in a final transaction', async () => {
      const [action] = await added(1)
      const [known, place] = [issueOf(), placeIn(5)]
      await outbox.guard(known, place)
      await outbox.finish(place)
      await resolve(outbox, action, anchoredAt(place))
      await outbox.finish(place)
      expect(await eventsOf()).toContainEqual(['document.final', action.documentHash])
    })
  })

  describe('are lost in a reorg', () => {
    test('and the sends are in flight again, with their members and transactions', async () => {
      const [one, other] = await added(2)
      const first = await plan(outbox, [one, other])
      const send = await outbox.replace(first, signed(0), 2)
      const place = ownPlace(send, placeIn(5))
      await outbox.settle(send, [anchoredAt(place), anchoredAt(place)], place, 0n)
      const [kept] = await sentIn(placeIn(5))
      expect(await outbox.lose([place])).toBe(1)
      expect(await outbox.inFlight()).toEqual([send])
      for (const action of [one, other])
        expect(await whereIs(action)).toEqual({
          status: 'pending',
          transactionHash: place.transactionHash,
        })
      expect(await whereIs(kept ?? one)).toMatchObject({ status: 'anchored' })
      expect(await outbox.lose([place])).toBe(0)
      expect(await unseen()).toHaveLength(1)
    })

    test('and their sends get into another block, which is not counted again', async () => {
      const [action] = await added(1)
      const send = await plan(outbox, [action])
      await outbox.lose([await settleAll(outbox, send)])
      const place = await settleAll(outbox, send, placeIn(6))
      expect(await whereIs(action)).toEqual({ status: 'anchored', ...place })
      expect(await unseen()).toEqual([blockOf(place)])
      expect(await eventsOf()).toHaveLength(2)
      expect(await ports.stores.tallies.since(0, null)).toMatchObject([{ count: 1 }])
    })

    test('and what another send brings into a block later is not counted again', async () => {
      const [action] = await added(1)
      const send = await plan(outbox, [action])
      await outbox.lose([await settleAll(outbox, send)])
      await outbox.settle(send, [ABSENT], { ...placeIn(6), transactionHash: null }, 0n)
      await anchorAll(outbox, [action], { nonce: 1, block: placeIn(7) })
      expect(await ports.stores.tallies.since(0, null)).toMatchObject([{ count: 1 }])
    })

    test('and the statuses of changes are undone', async () => {
      const [one, other] = await sentIn(placeIn(4), placeIn(4))
      if (!one || !other) throw new Error('two')
      const changes = [suspendOf(one.documentHash), revokeOf(other.documentHash, 4)]
      for (const change of changes) await outbox.add(change)
      const place = await anchorAll(outbox, changes, { nonce: nonces++ })
      const statuses = async () => [
        await statusOf(one.documentHash),
        await statusOf(other.documentHash),
      ]
      expect(await statuses()).toEqual(['suspended', 'superseded'])
      await outbox.lose([place])
      expect(await statuses()).toEqual([null, null])
    })

    test('and a released document is suspended again', async () => {
      const [one] = await sentIn(placeIn(3))
      if (!one) throw new Error('one')
      const { documentHash } = one
      await outbox.add(suspendOf(documentHash))
      await anchorAll(outbox, [suspendOf(documentHash)], { nonce: nonces++, block: placeIn(4) })
      await outbox.add(releaseOf(documentHash))
      const place = await anchorAll(outbox, [releaseOf(documentHash)], { nonce: nonces++ })
      expect(await statusOf(documentHash)).toBeNull()
      await outbox.lose([place])
      expect(await statusOf(documentHash)).toBe('suspended')
    })

    test('and what another gateway has sent stays until it is read again', async () => {
      const action = issueOf()
      const place = placeIn(5)
      await outbox.guard(action, place)
      expect(await outbox.lose([place])).toBe(0)
      expect(await whereIs(action)).toEqual({ status: 'anchored', ...place })
    })
  })

  describe('of transactions of others', () => {
    const block = placeIn(5)

    /** Documents that were found in a transaction of another gateway in block 5. */
    async function found(count: number): Promise<IssueAction[]> {
      const actions = await added(count)
      for (const action of actions) await resolve(outbox, action, anchoredAt(block))
      return actions
    }
    /** Writes what was read about all members of the only such send. */
    async function move(of: Anchoring, ...outcomes: Outcome[]): Promise<void> {
      const [send] = await outbox.ofOthers(of)
      if (!send) throw new Error('none')
      await outbox.move(send.id, send.members, outcomes)
    }
    const sends = () => ports.count('send')

    test('are found by number', async () => {
      const [one, other] = await found(2)
      const [own] = await added(1)
      await anchorAll(outbox, [own], { block })
      const [send, ...more] = await outbox.ofOthers(block)
      expect(more).toEqual([])
      expect(send?.members.map(({ action }) => action)).toEqual([one, other])
      expect(await outbox.ofOthers(placeIn(5))).toEqual([])
    })

    test('change when the transaction is in another block', async () => {
      const actions = await found(2)
      const now = { ...placeIn(6), transactionHash: block.transactionHash }
      await outbox.note([block], true)
      await move(block, anchoredAt(now), anchoredAt(now))
      for (const action of actions)
        expect(await whereIs(action)).toEqual({ status: 'anchored', ...now })
      expect(await unseen()).toEqual([blockOf(now)])
      expect(await sends()).toBe(1)
      expect(await eventsOf()).toHaveLength(4)
    })

    test('are known once a node has their transactions', async () => {
      const [action] = await added(1)
      const unknown = { blockNumber: 5, blockHash: UNSEEN, transactionHash: null }
      await resolve(outbox, action, anchoredAt(unknown))
      const now = placeIn(5)
      await move(unknown, anchoredAt(now))
      expect(await whereIs(action)).toEqual({ status: 'anchored', ...now })
      expect(await unseen()).toEqual([blockOf(now)])
      expect(await sends()).toBe(1)
      // Learning its hash is no event.
      expect(await eventsOf()).toHaveLength(1)
    })

    test('are known once a node has their hash', async () => {
      const [action] = await added(1)
      const unknown = { blockNumber: 5, blockHash: UNSEEN, transactionHash: null }
      await resolve(outbox, action, anchoredAt(unknown))
      const now = { ...placeIn(5), transactionHash: null }
      await move(unknown, anchoredAt(now))
      expect(await unseen()).toEqual([blockOf(now)])
      expect(await sends()).toBe(1)
    })

    test('are those of the transaction that now has each member', async () => {
      const [one, other] = await found(2)
      if (!one || !other) throw new Error('two')
      const [first, second] = [placeIn(6), placeIn(6)]
      await move(block, anchoredAt(first), anchoredAt(second))
      expect(await whereIs(one)).toEqual({ status: 'anchored', ...first })
      expect(await whereIs(other)).toEqual({ status: 'anchored', ...second })
      // The send that has no members any more is gone.
      expect(await unseen()).toHaveLength(2)
      expect(await sends()).toBe(2)
    })

    test('are those of a send of ours that now has a member', async () => {
      const [action] = await found(1)
      const [own] = await added(1)
      const send = await plan(outbox, [own])
      const place = await settleAll(outbox, send, placeIn(6))
      await move(block, anchoredAt(place))
      expect(await whereIs(action ?? own)).toEqual({ status: 'anchored', ...place })
      expect(await outbox.ofOthers(place)).toEqual([])
      expect(await outbox.lose([place])).toBe(1)
      const [again] = await outbox.inFlight()
      const actions = again?.members.map((member) => member.action)
      expect(new Set(actions)).toEqual(new Set([own, action]))
    })

    test('join a send of ours after what its transaction carries', async () => {
      await found(1)
      const [own] = await added(1)
      const place = await settleAll(outbox, await plan(outbox, [own]), placeIn(6))
      await move(block, anchoredAt(place))
      await outbox.lose([place])
      const carried = (await outbox.inFlight()).flatMap(carriedBy)
      expect(carried.map(({ action }) => action)).toEqual([own])
    })

    test('lose what waits again, for any account, and what can never be issued', async () => {
      const [waits, refused] = await found(2)
      if (!waits || !refused) throw new Error('two')
      await move(block, ABSENT, { status: 'conflict' })
      expect(await waitingFor(outbox)).toMatchObject([{ action: waits, wasSent: true }])
      expect(await waitingFor(outbox, `0x${'b'.repeat(40)}`)).toHaveLength(1)
      expect(await outbox.carriers()).toEqual([])
      expect(await whereIs(refused)).toBeUndefined()
      expect(await unseen()).toEqual([])
      expect(await sends()).toBe(0)
      expect((await eventsOf()).at(-1)).toEqual(['document.failed', refused.documentHash])
    })

    test('lose a suspension that a later release has made void', async () => {
      const documentHash = hash()
      await outbox.add(suspendOf(documentHash))
      await resolve(outbox, suspendOf(documentHash), anchoredAt(block))
      await outbox.add(releaseOf(documentHash))
      await move(block, ABSENT)
      expect(await queued()).toEqual([releaseOf(documentHash)])
      expect(await sends()).toBe(0)
    })

    test('do not change for members that have left, or are final, since the read', async () => {
      const [one, other] = await found(2)
      const [read] = await outbox.ofOthers(block)
      if (!one || !other || !read) throw new Error('two')
      const now = placeIn(6)
      await move(block, anchoredAt(now), anchoredAt(block))
      await outbox.move(read.id, read.members, [ABSENT, anchoredAt(block)])
      expect(await whereIs(one)).toEqual({ status: 'anchored', ...now })
      await outbox.finish(block)
      await outbox.move(read.id, read.members, [ABSENT, ABSENT])
      expect(await queued()).toEqual([])
      await outbox.move(99, read.members, [ABSENT, ABSENT])
      expect(await queued()).toEqual([])
      expect(await sends()).toBe(2)
    })

    test('get a new reason when a reorg lets another account revoke first', async () => {
      const { documentHash } = (await found(1))[0] ?? issueOf()
      const action = revokeOf(documentHash, 4)
      await outbox.add(action)
      const foreign = { ...placeIn(6), reason: 1 }
      await resolve(outbox, action, anchoredAt(foreign))
      expect(await statusOf(documentHash)).toBe('revoked')
      const now = { ...placeIn(7), reason: 4 }
      await move(foreign, anchoredAt(now))
      expect(await statusOf(documentHash)).toBe('superseded')
      expect((await outbox.find('revoke', documentHash))?.action).toEqual(action)
    })

    test('get a new reason also in a block of the same number', async () => {
      const { documentHash } = (await found(1))[0] ?? issueOf()
      const action = revokeOf(documentHash, 4)
      await outbox.add(action)
      const foreign = { ...placeIn(6), reason: 1 }
      await resolve(outbox, action, anchoredAt(foreign))
      const now = { ...placeIn(6), reason: 4 }
      await move(foreign, anchoredAt(now))
      expect(await statusOf(documentHash)).toBe('superseded')
    })
  })

  describe('and the history', () => {
    const kept = ({ documentHash }: IssueAction, blockNumber: number) =>
      ports.stores.history.transactionOf(documentHash, blockNumber)

    test('keeps the transaction of a document that is final', async () => {
      const [action] = await added(1)
      const place = await anchorAll(outbox, [action])
      expect(await kept(action, 5)).toBe(place.transactionHash)
      await outbox.finish(place)
      expect(await kept(action, 5)).toBe(place.transactionHash)
      expect(await kept(action, 6)).toBeNull()
    })

    test.each([5, 4, 6])('follows a document that a reorg moves to block %i', async (to) => {
      const [action] = await added(1)
      const send = await plan(outbox, [action])
      const place = await settleAll(outbox, send)
      await outbox.lose([place])
      const second = await outbox.replace(send, signed(0), 1)
      const now = await settleAll(outbox, second, placeIn(to))
      expect(await kept(action, to)).toBe(now.transactionHash)
      expect(now.transactionHash).not.toBe(place.transactionHash)
      if (to !== 5) expect(await kept(action, 5)).toBeNull()
    })

    test('drops a document that a reorg drops', async () => {
      const [action] = await added(1)
      await outbox.lose([await anchorAll(outbox, [action])])
      expect(await kept(action, 5)).toBeNull()
    })

    test('keeps the transaction of a document that another gateway issued', async () => {
      const action = issueOf()
      const place = placeIn(7)
      await outbox.guard(action, place)
      expect(await kept(action, 7)).toBe(place.transactionHash)
    })
  })
})
