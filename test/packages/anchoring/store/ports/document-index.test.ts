import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import type { Anchored } from '#promise/anchoring.ts'
import type { DocumentIndex, IndexEntry, IndexQuery } from '#promise/document-index.ts'
import type { IssueIntent, RevisionIntent } from '#promise/intent.ts'
import { describePorts } from '#test/support/databases.ts'
import type { WholeOutbox } from '#test/support/outbox.ts'

const hash = (): Hex => toHex(randomBytes(32))
const ENTRY: IndexEntry = {
  issuedOn: 20_000,
  validUntil: 0,
  subject: -(2n ** 63n),
  category: 2n ** 63n - 1n,
  tenant: 3n,
}
const place = (blockNumber: number) => ({
  blockNumber,
  blockHash: hash(),
  transactionHash: hash(),
})

describePorts('document index', (ports) => {
  test('behavior: finds nothing in a batch that is not there, whatever else is asked', async () => {
    const { documentIndex } = ports.stores
    const query = { batch: `0x${'ab'.repeat(32)}`, tenant: [1n], limit: 5 } as const
    for (const more of [{}, { status: 'revoked' }, { status: 'valid', createdFrom: 1 }] as const)
      expect(await documentIndex.page({ ...query, ...more })).toEqual({ documents: [], next: null })
  })

  let outbox: WholeOutbox
  let index: DocumentIndex
  beforeEach(() => {
    outbox = ports.outbox
    index = ports.stores.documentIndex
  })

  async function promised(entry: Partial<IndexEntry> = {}): Promise<IssueIntent> {
    const intent = { kind: 'issue', documentHash: hash(), validUntil: 0 } as const
    await outbox.add(intent, { payload: { entry: { ...ENTRY, ...entry } } })
    return intent
  }

  async function anchored(
    intent: IssueIntent | RevisionIntent,
    blockNumber: number,
  ): Promise<Anchored> {
    const one = { intent, anchoring: place(blockNumber) }
    await outbox.resolve({ anchored: [one], gone: [] })
    return one
  }

  const issued = async (entry: Partial<IndexEntry> = {}) =>
    (await anchored(await promised(entry), 5)).intent.documentHash

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

  describe('follows the outbox', () => {
    test('default: has a document from its promise on, pending until it is in a block', async () => {
      const intent = await promised()
      const { documentHash } = intent
      const pending = { place: 1, documentHash, batchBlock: null, blockNumber: null, status: null }
      expect(await index.find(documentHash)).toMatchObject(pending)
      await anchored(intent, 5)
      expect(await index.find(documentHash)).toMatchObject({ ...pending, blockNumber: 5 })
    })

    test('behavior: follows a document that a reorg moves, and one that it drops', async () => {
      const [moved, dropped] = [
        await anchored(await promised(), 5),
        await anchored(await promised(), 5),
      ]
      const now = place(6)
      await outbox.review({ final: [], gone: [], moved: [{ ...moved, now }], dropped: [dropped] })
      expect(await index.find(moved.intent.documentHash)).toMatchObject({ blockNumber: 6 })
      expect(await index.find(dropped.intent.documentHash)).toMatchObject({ blockNumber: null })
      expect(await hashesOf({ status: 'pending' })).toEqual([dropped.intent.documentHash])
    })

    test('behavior: keeps a document whose block is final', async () => {
      const final = await anchored(await promised(), 5)
      await outbox.review({ final: [], gone: [final], moved: [], dropped: [] })
      expect(await hashesOf()).toEqual([final.intent.documentHash])
    })

    test('behavior: forgets a document that can never be issued', async () => {
      const intent = await promised()
      await outbox.resolve({ anchored: [], gone: [intent] })
      expect(await hashesOf()).toEqual([])
    })

    test('behavior: has a document once that is repeated or adopted', async () => {
      const final = await anchored(await promised(), 5)
      await outbox.review({ final: [], gone: [final], moved: [], dropped: [] })
      const intent = final.intent as IssueIntent
      await outbox.adopt(intent, final.anchoring, { entry: ENTRY })
      const adopted = { ...intent, documentHash: hash() }
      await outbox.adopt(adopted, place(4), { entry: ENTRY })
      expect(await hashesOf()).toEqual([adopted.documentHash, intent.documentHash])
      expect(await index.find(adopted.documentHash)).toMatchObject({ blockNumber: 4 })
    })

    test('behavior: a repeat does not change the time of the first promise', async () => {
      const before = Math.floor(Date.now() / 1000)
      const final = await anchored(await promised(), 5)
      const { documentHash } = final.intent
      const createdAt = async () => (await index.find(documentHash))?.createdAt
      expect(await createdAt()).toBeGreaterThanOrEqual(before)
      expect(await createdAt()).toBeLessThanOrEqual(Date.now() / 1000)
      await ports.run('UPDATE document SET created_at = 7')
      await outbox.review({ final: [], gone: [final], moved: [], dropped: [] })
      await outbox.add(final.intent, { payload: { entry: ENTRY } })
      await outbox.adopt(final.intent as IssueIntent, place(6), { entry: ENTRY })
      expect(await createdAt()).toBe(7)
    })

    test('behavior: a repeat that can never be issued does not take a final document out', async () => {
      const final = await anchored(await promised(), 5)
      await outbox.review({ final: [], gone: [final], moved: [], dropped: [] })
      await outbox.add(final.intent, { payload: { entry: ENTRY } })
      await outbox.resolve({ anchored: [], gone: [final.intent] })
      expect(await index.find(final.intent.documentHash)).toMatchObject({ blockNumber: 5 })
    })

    test('behavior: knows suspensions, releases and revocations of this gateway', async () => {
      const documentHash = await issued()
      const status = async () => (await index.find(documentHash))?.status
      await outbox.add({ kind: 'suspend', documentHash })
      expect(await status()).toBe(null)
      const suspended = await anchored({ kind: 'suspend', documentHash }, 6)
      expect(await status()).toBe('suspended')
      await outbox.review({ final: [], gone: [], moved: [], dropped: [suspended] })
      expect(await status()).toBe(null)
      await anchored({ kind: 'suspend', documentHash }, 7)
      await outbox.add({ kind: 'release', documentHash })
      await anchored({ kind: 'release', documentHash }, 8)
      expect(await status()).toBe(null)
      await outbox.add({ kind: 'revoke', documentHash, reason: 4 })
      const revoked = await anchored({ kind: 'revoke', documentHash, reason: 4 }, 9)
      expect(await status()).toBe('superseded')
      await outbox.review({ final: [], gone: [], moved: [], dropped: [revoked] })
      expect(await status()).toBe(null)
      await anchored({ kind: 'revoke', documentHash, reason: 1 }, 9)
      expect(await hashesOf({ status: 'superseded' })).toEqual([documentHash])
    })

    test('behavior: has the status of the chain when somebody else revoked first', async () => {
      const documentHash = await issued()
      const status = async () => (await index.find(documentHash))?.status
      const intent = { kind: 'revoke', documentHash, reason: 4 } as const
      await outbox.add(intent)
      const foreign = { ...place(6), reason: 1 }
      await outbox.resolve({ anchored: [{ intent, anchoring: foreign }], gone: [] })
      expect(await status()).toBe('revoked')
      expect(await hashesOf({ status: 'revoked' })).toEqual([documentHash])
      // A reorg: its own comes first now, in a block of the same number.
      const moved = [{ intent, anchoring: foreign, now: { ...place(6), reason: 4 } }]
      await outbox.review({ final: [], gone: [], moved, dropped: [] })
      expect(await status()).toBe('superseded')
    })

    test('behavior: an erased document keeps no blind index of its subject', async () => {
      const documentHash = await issued()
      await ports.stores.erasures.begin(documentHash, 'default')
      expect(await hashesOf({ subject: [ENTRY.subject] })).toEqual([])
      expect(await hashesOf({ category: [ENTRY.category] })).toEqual([])
      expect(await hashesOf()).toEqual([documentHash])
    })
  })

  describe('pages', () => {
    test('default: lists the newest first, in parts that neither repeat nor leave out', async () => {
      const hashes: Hex[] = []
      for (let i = 0; i < 7; i++) hashes.unshift(await issued())
      const first = await index.page({ limit: 3 })
      expect(first.documents.map(({ documentHash }) => documentHash)).toEqual(hashes.slice(0, 3))
      // New documents do not move the pages behind.
      await issued()
      const rest = await allOf({ limit: 3, before: first.next ?? 0 })
      expect(rest).toEqual(hashes.slice(3))
    })

    test('default: finds by blind indexes, each of several for each field', async () => {
      const mine = await issued({ subject: 1n, category: 2n })
      const older = await issued({ subject: 11n, category: 12n })
      const other = await issued({ subject: 5n, category: 2n, tenant: 9n })
      expect(await hashesOf({ subject: [1n, 11n] })).toEqual([older, mine])
      expect(await hashesOf({ category: [2n, 12n] })).toEqual([other, older, mine])
      expect(await hashesOf({ category: [2n], tenant: [3n] })).toEqual([mine])
      expect(await hashesOf({ tenant: [9n] })).toEqual([other])
      expect(await hashesOf({ subject: [1n], category: [3n] })).toEqual([])
      expect(await allOf({ category: [2n, 12n], limit: 1 })).toEqual([other, older, mine])
    })

    test('default: filters by day of issue, status and expiry', async () => {
      const now = Math.floor(Date.now() / 1000)
      const early = await issued({ issuedOn: 10 })
      const expired = await issued({ issuedOn: 20, validUntil: now - 1 })
      const revoked = await issued({ issuedOn: 30, validUntil: now + 1000 })
      await outbox.add({ kind: 'revoke', documentHash: revoked, reason: 1 })
      await anchored({ kind: 'revoke', documentHash: revoked, reason: 1 }, 6)
      const { documentHash: pending } = await promised({ issuedOn: 40 })
      expect(await hashesOf({ issuedFrom: 20, issuedTo: 30 })).toEqual([revoked, expired])
      expect(await hashesOf({ status: 'valid' })).toEqual([early])
      expect(await hashesOf({ status: 'expired' })).toEqual([expired])
      expect(await hashesOf({ status: 'revoked' })).toEqual([revoked])
      expect(await hashesOf({ status: 'revoked', category: [ENTRY.category] })).toEqual([revoked])
      expect(await hashesOf({ status: 'revoked', subject: [1n] })).toEqual([])
      expect(await hashesOf({ status: 'pending', tenant: [3n] })).toEqual([pending])
    })

    /** Documents that were promised on these days, in the order in which they were requested. */
    async function promisedOn(days: readonly number[]): Promise<Hex[]> {
      const hashes: Hex[] = []
      for (const day of days) {
        hashes.push(await issued({ subject: BigInt(day) }))
        await ports.run(`
          UPDATE document SET created_at = ${day * 86_400 + 86_399}
          WHERE id = (SELECT max(id) FROM document)`)
      }
      return hashes
    }

    test('default: filters by the day of the promise, whatever the order of rows', async () => {
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

    test('behavior: finds an early day without looking through the later ones', async () => {
      const [first] = await promisedOn([10])
      const adding = Array.from({ length: 12_000 }, () => promised())
      await Promise.all(adding)
      const page = await index.page({ createdTo: 19, limit: 10 })
      expect(page).toMatchObject({ documents: [{ documentHash: first }], next: null })
    })

    test('behavior: a document whose time is unknown is of no day, and is in other lists', async () => {
      const documentHash = await issued()
      await ports.run('UPDATE document SET created_at = NULL')
      expect(await hashesOf({ createdFrom: 0 })).toEqual([])
      expect(await hashesOf({ createdTo: 100_000 })).toEqual([])
      const { documents } = await index.page({ limit: 1 })
      expect(documents).toMatchObject([{ documentHash, createdAt: null }])
    })

    test('behavior: looks through some thousands of rows at most, and goes on after them', async () => {
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

    test('behavior: corrects statuses that another account has changed', async () => {
      const documentHash = await issued()
      await index.correct([{ documentHash, status: 'distrusted' }])
      expect(await hashesOf({ status: 'distrusted' })).toEqual([documentHash])
      await index.correct([{ documentHash, status: null }])
      expect(await hashesOf({ status: 'valid' })).toEqual([documentHash])
    })

    test('behavior: a repeat gives a document of an unknown tenant to that of the request', async () => {
      const intent = await promised({ tenant: null })
      for (const tenant of [ENTRY.tenant, 4n]) {
        await outbox.adopt(intent, place(5), { entry: { ...ENTRY, tenant } })
        expect(await index.find(intent.documentHash)).toMatchObject({ tenant: ENTRY.tenant })
      }
    })

    test('default: tells whose a document is, with blind indexes of 64 bits', async () => {
      const [tenant, category] = [-(2n ** 63n), 2n ** 63n - 1n]
      const documentHash = await issued({ tenant, category })
      const owned = { documentHash, tenant, category, root: null, validUntil: expect.any(Number) }
      expect(await index.find(documentHash)).toMatchObject(owned)
      const unknown = await issued({ tenant: null })
      expect(await index.find(unknown)).toMatchObject({ documentHash: unknown, tenant: null })
      expect(await index.find(`0x${'ab'.repeat(32)}`)).toBeUndefined()
    })
  })
})
