import { beforeEach, describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { Action, IssueAction } from '#promise/action.ts'
import type { Anchoring } from '#promise/anchoring.ts'
import type { DocumentIndex, IndexEntry, IndexQuery } from '#promise/document-index.ts'
import type { Send } from '#promise/send.ts'
import { describePorts } from '#test/support/databases.ts'
import { type WholeOutbox, waitingFor } from '#test/support/outbox.ts'
import {
  anchoredAt,
  hash,
  placeIn,
  plan,
  releaseOf,
  resolve,
  revokeOf,
  settleAll,
  suspendOf,
} from './given.ts'

const ENTRY: IndexEntry = {
  issuedOn: 20_000,
  validUntil: 0,
  subject: -(2n ** 63n),
  category: 2n ** 63n - 1n,
  tenant: 'three',
}

describePorts('document index', (ports) => {
  test('finds nothing for an unknown batch, whatever the other filters', async () => {
    const { documentIndex } = ports.stores
    const query = { batch: `0x${'ab'.repeat(32)}`, tenant: 'one', limit: 5 } as const
    for (const more of [{}, { status: 'revoked' }, { status: 'valid', createdFrom: 1 }] as const)
      expect(await documentIndex.page({ ...query, ...more })).toEqual({ documents: [], next: null })
  })

  let outbox: WholeOutbox
  let index: DocumentIndex
  beforeEach(() => {
    outbox = ports.outbox
    index = ports.stores.documentIndex
  })

  async function promised(entry: Partial<IndexEntry> = {}): Promise<IssueAction> {
    const action = { kind: 'issue', documentHash: hash(), validUntil: 0 } as const
    await outbox.add(action, { payload: { entry: { ...ENTRY, ...entry } } })
    return action
  }

  let nonces = 0
  /** Sends what waits, in a block. */
  async function anchor(
    action: Action,
    blockNumber: number,
  ): Promise<{ send: Send; place: Anchoring }> {
    const send = await plan(outbox, [action], { nonce: nonces++ })
    return { send, place: await settleAll(outbox, send, placeIn(blockNumber)) }
  }
  /** Asks for a change, and sends it in a block. */
  async function change(action: Action, blockNumber: number) {
    await outbox.add(action, { changedBlock: blockNumber - 1 })
    return anchor(action, blockNumber)
  }

  async function issued(entry: Partial<IndexEntry> = {}): Promise<Hex> {
    const action = await promised(entry)
    await resolve(outbox, action, anchoredAt(placeIn(5)))
    return action.documentHash
  }
  /** @returns A document that is final. */
  async function final(): Promise<IssueAction> {
    const action = await promised()
    await outbox.finish((await anchor(action, 5)).place)
    return action
  }

  async function hashesOf(query: Partial<IndexQuery> = {}): Promise<Hex[]> {
    const { documents } = await index.page({ limit: 100, ...query })
    return documents.map(({ documentHash }) => documentHash)
  }

  /** Follows pages to the end. */
  async function allOf(query: IndexQuery): Promise<Hex[]> {
    const hashes: Hex[] = []
    for (let before = query.before; ; ) {
      const { documents, next } = await index.page({ ...query, before })
      hashes.push(...documents.map(({ documentHash }) => documentHash))
      if (next === null) return hashes
      before = next
    }
  }

  describe('after a change of the outbox', () => {
    test('has a document from its promise on, pending until it is in a block', async () => {
      const action = await promised()
      const { documentHash } = action
      const pending = { place: 1, documentHash, batchBlock: null, blockNumber: null, status: null }
      expect(await index.find(documentHash)).toMatchObject(pending)
      const send = await plan(outbox, [action], { nonce: nonces++ })
      expect(await index.find(documentHash)).toMatchObject(pending)
      expect(await hashesOf({ status: 'pending' })).toEqual([documentHash])
      await settleAll(outbox, send)
      expect(await index.find(documentHash)).toMatchObject({ ...pending, blockNumber: 5 })
      expect(await hashesOf({ status: 'pending' })).toEqual([])
    })

    test('follows a document that a reorg moves or drops', async () => {
      const [moved, dropped] = [await promised(), await promised()]
      const { send, place } = await anchor(moved, 5)
      await outbox.lose([place])
      await settleAll(outbox, send, placeIn(6))
      await outbox.lose([(await anchor(dropped, 5)).place])
      expect(await index.find(moved.documentHash)).toMatchObject({ blockNumber: 6 })
      expect(await index.find(dropped.documentHash)).toMatchObject({ blockNumber: null })
      expect(await hashesOf({ status: 'pending' })).toEqual([dropped.documentHash])
    })

    test('keeps a document whose block is final', async () => {
      const { documentHash } = await final()
      expect(await hashesOf()).toEqual([documentHash])
      expect(await hashesOf({ status: 'valid' })).toEqual([documentHash])
    })

    test('drops a document that can never be issued', async () => {
      const action = await promised()
      await resolve(outbox, action, { status: 'conflict' })
      expect(await hashesOf()).toEqual([])
    })

    test('has a document once after a repeat or an issue elsewhere', async () => {
      const action = await final()
      await outbox.guard(action, placeIn(5), { entry: ENTRY })
      const adopted = { ...action, documentHash: hash() }
      await outbox.guard(adopted, placeIn(4), { entry: ENTRY })
      expect(await hashesOf()).toEqual([adopted.documentHash, action.documentHash])
      expect(await index.find(adopted.documentHash)).toMatchObject({ blockNumber: 4 })
    })

    test('a repeat does not change the time of the first promise', async () => {
      const before = Math.floor(Date.now() / 1000)
      const action = await promised()
      const { place } = await anchor(action, 5)
      const createdAt = async () => (await index.find(action.documentHash))?.createdAt
      expect(await createdAt()).toBeGreaterThanOrEqual(before)
      expect(await createdAt()).toBeLessThanOrEqual(Date.now() / 1000)
      await ports.run('UPDATE record SET created_at = 7')
      await outbox.finish(place)
      await outbox.add(action, { payload: { entry: ENTRY } })
      await outbox.guard(action, placeIn(6), { entry: ENTRY })
      expect(await createdAt()).toBe(7)
    })

    test('a repeat does not change the block of a final document', async () => {
      const action = await final()
      await outbox.add(action, { payload: { entry: ENTRY } })
      expect(await waitingFor(outbox)).toEqual([])
      expect(await index.find(action.documentHash)).toMatchObject({ blockNumber: 5 })
    })

    test('has suspensions, releases and revocations of this gateway', async () => {
      const documentHash = await issued()
      const status = async () => (await index.find(documentHash))?.status
      await outbox.add(suspendOf(documentHash))
      expect(await status()).toBe(null)
      const suspended = await anchor(suspendOf(documentHash), 6)
      expect(await status()).toBe('suspended')
      await outbox.lose([suspended.place])
      expect(await status()).toBe(null)
      await settleAll(outbox, suspended.send, placeIn(7))
      await change(releaseOf(documentHash), 8)
      expect(await status()).toBe(null)
      const revoked = await change(revokeOf(documentHash, 4), 9)
      expect(await status()).toBe('superseded')
      await outbox.lose([revoked.place])
      expect(await status()).toBe(null)
      await settleAll(outbox, revoked.send, placeIn(9))
      expect(await hashesOf({ status: 'superseded' })).toEqual([documentHash])
    })

    test('a suspension after a revocation changes nothing', async () => {
      const documentHash = await issued()
      await change(revokeOf(documentHash), 6)
      await change(suspendOf(documentHash), 7)
      expect(await hashesOf({ status: 'revoked' })).toEqual([documentHash])
    })

    test('has the status of the chain when another account revoked first', async () => {
      const documentHash = await issued()
      const action = revokeOf(documentHash, 4)
      await outbox.add(action)
      await resolve(outbox, action, anchoredAt({ ...placeIn(6), reason: 1 }))
      expect(await index.find(documentHash)).toMatchObject({ status: 'revoked' })
      expect(await hashesOf({ status: 'revoked' })).toEqual([documentHash])
    })

    test('an erased document keeps no blind index of its subject', async () => {
      const documentHash = await issued()
      await ports.stores.erasures.begin(documentHash, 'default')
      expect(await hashesOf({ subject: [ENTRY.subject] })).toEqual([])
      expect(await hashesOf({ category: [ENTRY.category] })).toEqual([])
      expect(await hashesOf()).toEqual([documentHash])
    })
  })

  describe('pages', () => {
    test('lists the newest first, in pages that neither repeat nor omit', async () => {
      const hashes: Hex[] = []
      for (let i = 0; i < 7; i++) hashes.unshift(await issued())
      const first = await index.page({ limit: 3 })
      expect(first.documents.map(({ documentHash }) => documentHash)).toEqual(hashes.slice(0, 3))
      // New documents do not move the pages behind.
      await issued()
      const rest = await allOf({ limit: 3, before: first.next ?? 0 })
      expect(rest).toEqual(hashes.slice(3))
    })

    test('finds by blind indexes, each of several for each field', async () => {
      const mine = await issued({ subject: 1n, category: 2n })
      const older = await issued({ subject: 11n, category: 12n })
      const other = await issued({ subject: 5n, category: 2n, tenant: 'nine' })
      expect(await hashesOf({ subject: [1n, 11n] })).toEqual([older, mine])
      expect(await hashesOf({ category: [2n, 12n] })).toEqual([other, older, mine])
      expect(await hashesOf({ category: [2n], tenant: 'three' })).toEqual([mine])
      expect(await hashesOf({ tenant: 'nine' })).toEqual([other])
      expect(await hashesOf({ subject: [1n], category: [3n] })).toEqual([])
      expect(await allOf({ category: [2n, 12n], limit: 1 })).toEqual([other, older, mine])
    })

    test('filters by day of issue, status and expiry', async () => {
      const now = Math.floor(Date.now() / 1000)
      const early = await issued({ issuedOn: 10 })
      const expired = await issued({ issuedOn: 20, validUntil: now - 1 })
      const revoked = await issued({ issuedOn: 30, validUntil: now + 1000 })
      await change(revokeOf(revoked), 6)
      const { documentHash: pending } = await promised({ issuedOn: 40 })
      expect(await hashesOf({ issuedFrom: 20, issuedTo: 30 })).toEqual([revoked, expired])
      expect(await hashesOf({ status: 'valid' })).toEqual([early])
      expect(await hashesOf({ status: 'expired' })).toEqual([expired])
      expect(await hashesOf({ status: 'revoked' })).toEqual([revoked])
      expect(await hashesOf({ status: 'revoked', category: [ENTRY.category] })).toEqual([revoked])
      expect(await hashesOf({ status: 'revoked', subject: [1n] })).toEqual([])
      expect(await hashesOf({ status: 'pending', tenant: 'three' })).toEqual([pending])
    })

    /** Documents that were promised on these days, in the order in which they were requested. */
    async function promisedOn(days: readonly number[]): Promise<Hex[]> {
      const hashes: Hex[] = []
      for (const day of days) {
        hashes.push(await issued({ subject: BigInt(day) }))
        await ports.run(`
          UPDATE record SET created_at = ${day * 86_400 + 86_399}
          WHERE id = (SELECT max(id) FROM record)`)
      }
      return hashes
    }

    test('filters by the day of the promise, whatever the order of rows', async () => {
      const [ten, thirty, twenty, next] = await promisedOn([10, 30, 20, 31])
      expect(await hashesOf({ createdFrom: 20 })).toEqual([next, twenty, thirty])
      expect(await hashesOf({ createdTo: 20 })).toEqual([twenty, ten])
      expect(await hashesOf({ createdFrom: 11, createdTo: 30 })).toEqual([twenty, thirty])
      expect(await hashesOf({ createdFrom: 21, createdTo: 29 })).toEqual([])
      expect(await allOf({ createdFrom: 20, limit: 1 })).toEqual([next, twenty, thirty])
      const others = { category: [ENTRY.category], status: 'valid' } as const
      expect(await hashesOf({ ...others, createdTo: 30 })).toEqual([twenty, thirty, ten])
      expect(await hashesOf({ subject: [20n], createdTo: 20 })).toEqual([twenty])
      expect(await hashesOf({ subject: [20n], createdTo: 19 })).toEqual([])
      expect(await hashesOf({ status: 'revoked', createdTo: 30 })).toEqual([])
    })

    test('finds an early day without reading later ones', async () => {
      const [first] = await promisedOn([10])
      const adding = Array.from({ length: 12_000 }, () => promised())
      await Promise.all(adding)
      const page = await index.page({ createdTo: 19, limit: 10 })
      expect(page).toMatchObject({ documents: [{ documentHash: first }], next: null })
    })

    test('lists a document of unknown time only without a filter by day', async () => {
      const documentHash = await issued()
      await ports.run('UPDATE record SET created_at = NULL')
      expect(await hashesOf({ createdFrom: 0 })).toEqual([])
      expect(await hashesOf({ createdTo: 100_000 })).toEqual([])
      const { documents } = await index.page({ limit: 1 })
      expect(documents).toMatchObject([{ documentHash, createdAt: null }])
    })

    test('reads some thousands of rows at most, and continues after them', async () => {
      const old = await issued({ issuedOn: 1 })
      const adopting = Array.from({ length: 12_000 }, () =>
        outbox.add(
          { kind: 'issue', documentHash: hash(), validUntil: 0 },
          { payload: { entry: ENTRY } },
        ),
      )
      await Promise.all(adopting)
      const query = { limit: 10, issuedTo: 1, category: [ENTRY.category, 1n] }
      const first = await index.page(query)
      expect(first.documents).toEqual([])
      expect(first.next).toBeGreaterThan(1)
      expect(await allOf(query)).toEqual([old])
    })

    test('corrects statuses that another account has changed', async () => {
      const documentHash = await issued()
      await index.correct([{ documentHash, status: 'distrusted' }])
      expect(await hashesOf({ status: 'distrusted' })).toEqual([documentHash])
      await index.correct([{ documentHash, status: null }])
      expect(await hashesOf({ status: 'valid' })).toEqual([documentHash])
    })

    test('a repeat sets the unknown tenant of a document to that of the request', async () => {
      const action = await promised({ tenant: null })
      for (const tenant of [ENTRY.tenant, 'four']) {
        await outbox.guard(action, placeIn(5), { entry: { ...ENTRY, tenant } })
        expect(await index.find(action.documentHash)).toMatchObject({ tenant: ENTRY.tenant })
      }
    })

    test('returns the tenant of a document, for a blind index of 64 bits', async () => {
      const [tenant, category] = ['Ada & co.', 2n ** 63n - 1n]
      const documentHash = await issued({ tenant, category })
      const owned = { documentHash, tenant, category, root: null, validUntil: expect.any(Number) }
      expect(await index.find(documentHash)).toMatchObject(owned)
      const unknown = await issued({ tenant: null })
      expect(await index.find(unknown)).toMatchObject({ documentHash: unknown, tenant: null })
      expect(await index.find(`0x${'ab'.repeat(32)}`)).toBeUndefined()
    })
  })
})
