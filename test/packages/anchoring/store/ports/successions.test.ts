import { beforeEach, describe, expect, test } from 'vitest'
import { fromHex, type Hex } from '#document/hex.ts'
import type { IssueAction } from '#promise/action.ts'
import { ABSENT } from '#promise/anchoring.ts'
import type { Added } from '#promise/ports.ts'
import { describePorts } from '#test/support/databases.ts'
import { type WholeOutbox, waitingFor } from '#test/support/outbox.ts'
import { SUPERSEDED } from '#verifier/reasons.ts'
import {
  anchorAll,
  ENTRY,
  hash,
  issueOf,
  placeIn,
  plan,
  resolve,
  revokeOf,
  suspendOf,
} from './given.ts'

describePorts('documents and their successors', (ports) => {
  let outbox: WholeOutbox
  let old: IssueAction
  beforeEach(async () => {
    outbox = ports.outbox
    old = issueOf()
    await outbox.add(old)
    await outbox.finish(await anchorAll(outbox, [old]))
  })

  /** Asks for a successor, whose payload is in the database. */
  function supersede(action = issueOf(), more: { supersededRoot?: Hex } = {}): Promise<Added> {
    const sealed = { documentHash: fromHex(action.documentHash), bytes: new Uint8Array(40) }
    const entry = { ...ENTRY, supersedes: old.documentHash, ...more }
    return ports.stores.outbox.add(action, { payload: { ...sealed, entry } })
  }
  const queued = async () => (await waitingFor(outbox)).map(({ action }) => action)
  const revocation = async () => outbox.find('revoke', old.documentHash)
  const successor = () => ports.stores.successions.successorOf(old.documentHash)

  test('a document has one successor', async () => {
    const [one, other] = [issueOf(), issueOf()]
    expect(await successor()).toBeUndefined()
    expect(await supersede(one)).toBe(true)
    expect(await supersede(one)).toBe(false)
    expect(await supersede(other)).toBe('has_successor')
    expect((await ports.stores.embedded.get(fromHex(other.documentHash))).status).toBe('missing')
    expect(await successor()).toBe(one.documentHash)
    await outbox.finish(await anchorAll(outbox, [one], { nonce: 1 }))
    expect(await supersede(other)).toBe('has_successor')
    expect(await successor()).toBe(one.documentHash)
  })

  test('one of several concurrent requests adds a successor', async () => {
    const answers = await Promise.all(Array.from({ length: 9 }, () => supersede()))
    expect(answers.filter((answer) => answer === true)).toHaveLength(1)
    expect(answers.filter((answer) => answer === 'has_successor')).toHaveLength(8)
    expect(await ports.count('record')).toBe(2)
    expect(await ports.count('change')).toBe(1)
  })

  test('the revocation is stored at once, and waits until the successor is in a block', async () => {
    const one = issueOf()
    await supersede(one)
    const action = revokeOf(old.documentHash, SUPERSEDED)
    const pending = { status: 'pending', transactionHash: null }
    expect(await revocation()).toEqual({ action, outcome: pending })
    expect(await queued()).toMatchObject([one])
    expect(await outbox.count(0, 9)).toEqual({ queued: 2, held: 0 })
    const place = await anchorAll(outbox, [one], { nonce: 1 })
    expect(await queued()).toEqual([action])
    // A reorg: not before the successor is there again.
    await outbox.lose([place])
    expect(await queued()).toEqual([])
  })

  test('the revocation belongs to the batch, and to who requested the successor', async () => {
    const [supersededRoot, one] = [hash(), issueOf({ tenant: 'one', actor: 'key k' })]
    const entry = { ...ENTRY, tenant: 'one', supersedes: old.documentHash, supersededRoot }
    await outbox.add(one, { payload: { entry } })
    expect((await revocation())?.action).toEqual({
      ...revokeOf(old.documentHash, SUPERSEDED),
      root: supersededRoot,
      tenant: 'one',
    })
    expect(await ports.stores.acts.of(old.documentHash)).toMatchObject([
      { kind: 'issue' },
      { kind: 'supersede', actor: { kind: 'key', id: 'k' }, tenant: 'one' },
    ])
  })

  describe('a successor that can never be issued', () => {
    test('frees the document for another, and drops the waiting revocation', async () => {
      const refused = issueOf()
      await supersede(refused)
      await resolve(outbox, refused, { status: 'conflict' })
      expect(await successor()).toBeUndefined()
      expect(await revocation()).toBeUndefined()
      expect(await outbox.count(0, 9)).toEqual({ queued: 0, held: 0 })
      expect(await supersede()).toBe(true)
      expect(await revocation()).toMatchObject({ outcome: { status: 'pending' } })
    })

    test('drops no revocation that was requested before', async () => {
      const revoke = revokeOf(old.documentHash)
      await outbox.add(revoke)
      const refused = issueOf()
      await supersede(refused)
      expect(await ports.count('change')).toBe(1)
      await resolve(outbox, refused, { status: 'conflict' })
      expect(await queued()).toEqual([revoke])
    })

    test('drops no revocation that was requested meanwhile', async () => {
      const revoke = revokeOf(old.documentHash)
      const refused = issueOf()
      await supersede(refused)
      await outbox.add(revoke)
      await resolve(outbox, refused, { status: 'conflict' })
      expect(await queued()).toEqual([revoke])
    })
  })

  describe('a request to revoke', () => {
    test('does not wait for the successor, and its reason counts', async () => {
      const one = issueOf()
      await supersede(one)
      const revoke = { ...revokeOf(old.documentHash), tenant: 'two', actor: 'key other' }
      expect(await outbox.add(revoke)).toBe(true)
      const { actor: _, ...action } = revoke
      expect(await queued()).toMatchObject([one, action])
      expect(await ports.count('change')).toBe(1)
    })

    test('does not change the reason of a change in a transaction', async () => {
      const one = issueOf()
      await supersede(one)
      await anchorAll(outbox, [one], { nonce: 1 })
      const action = revokeOf(old.documentHash, SUPERSEDED)
      await plan(outbox, [action], { nonce: 2 })
      await outbox.add(revokeOf(old.documentHash))
      expect(await revocation()).toMatchObject({ action })
      expect((await outbox.inFlight()).flatMap(({ members }) => members)).toMatchObject([
        { action },
      ])
    })
  })

  test('finds the revocation beside a suspension that is on the chain', async () => {
    await supersede()
    await outbox.add(suspendOf(old.documentHash))
    await anchorAll(outbox, [suspendOf(old.documentHash)], { nonce: 1 })
    expect(await revocation()).toMatchObject({ outcome: { status: 'pending' } })
  })

  test('a revocation whose transaction failed waits again', async () => {
    const one = issueOf()
    await supersede(one)
    await anchorAll(outbox, [one], { nonce: 1 })
    const action = revokeOf(old.documentHash, SUPERSEDED)
    const send = await plan(outbox, [action], { nonce: 2 })
    await outbox.settle(send, [ABSENT], { ...placeIn(6), transactionHash: null }, 0n)
    expect(await queued()).toEqual([action])
  })

  describe('a successor that another gateway has issued', () => {
    test('is the successor here too', async () => {
      const one = issueOf()
      const entry = { ...ENTRY, supersedes: old.documentHash }
      await outbox.guard(one, placeIn(6), { entry })
      expect(await successor()).toBe(one.documentHash)
      expect(await supersede()).toBe('has_successor')
    })

    test('is protected and listed like one that was requested here', async () => {
      const [one, other] = [issueOf(), issueOf()]
      await supersede(one)
      await outbox.guard(other, placeIn(6), {
        entry: { ...ENTRY, supersedes: old.documentHash },
      })
      expect(await successor()).toBe(one.documentHash)
      expect(await outbox.find('issue', other.documentHash)).toBeDefined()
      expect(await ports.stores.documentIndex.find(other.documentHash)).toBeDefined()
    })
  })
})
