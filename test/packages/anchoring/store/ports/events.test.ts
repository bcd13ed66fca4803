import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import {
  type DocumentEvent,
  type EventLog,
  type EventPage,
  type EventQuery,
  parseEventId,
} from '#events/events.ts'
import { type Anchoring, UNSEEN } from '#promise/anchoring.ts'
import type { Intent, IssueIntent } from '#promise/intent.ts'
import { type Lock, lockOfBatch } from '#promise/lock.ts'
import { blindTenant, describePorts } from '#test/support/databases.ts'
import { ACCOUNT, type WholeOutbox } from '#test/support/outbox.ts'
import { REVOCATION_REASONS } from '#verifier/reasons.ts'

const hash = (): Hex => toHex(randomBytes(32))
const issue = (tenant = 'default'): IssueIntent => ({
  kind: 'issue',
  documentHash: hash(),
  validUntil: 0,
  tenant,
})
const inBlock = (blockNumber: number): Anchoring => ({
  blockNumber,
  blockHash: hash(),
  transactionHash: hash(),
})
const NOTHING = { final: [], gone: [], moved: [], dropped: [] }

describePorts('events', (ports) => {
  let outbox: WholeOutbox
  let log: EventLog
  beforeEach(() => {
    outbox = ports.outbox
    log = ports.stores.events
  })

  async function anchor(intent: Intent, anchoring = inBlock(5)) {
    await outbox.add(intent)
    await outbox.resolve({ anchored: [{ intent, anchoring }], gone: [] })
    return { intent, anchoring }
  }

  const entryOf = (tenant: string) => {
    const [owner = 0n] = blindTenant(tenant)
    return { issuedOn: 1, validUntil: 0, subject: 1n, category: 1n, tenant: owner }
  }

  /** @returns A document that the index knows as the tenant's. */
  async function indexed(tenant: string): Promise<Hex> {
    const documentHash = hash()
    const entry = entryOf(tenant)
    await outbox.add({ kind: 'issue', documentHash, validUntil: 0 }, { payload: { entry } })
    return documentHash
  }

  /** @returns The root of a batch that the index knows as the tenant's. */
  async function indexedBatch(tenant: string): Promise<Hex> {
    const { batchDrafts, batchLog, shared } = ports.stores
    const request = new Uint8Array(randomBytes(32))
    const batch = { root: hash(), size: 2, manifest: hash(), tenant }
    const entry = { ...entryOf(tenant), batchBlock: hash() }
    const documents = [hash(), hash()].map((documentHash) => ({ documentHash, entry }))
    await batchLog.claim(request, { content: new Uint8Array(32), checkedAt: 1 })
    await batchDrafts().index(request, batch, documents)
    const lock = (await shared.locks.take(lockOfBatch(batch.root))) as Lock
    await batchLog.promise(request, batch, lock)
    await lock.release()
    return batch.root
  }

  async function page(query: Partial<EventQuery> = {}): Promise<EventPage> {
    const found = await log.read({ limit: 100, ...query })
    if (found === 'unknown_event') throw new Error(found)
    return found
  }
  const events = async () => (await page()).events
  const typesOf = (some: readonly DocumentEvent[]) => some.map(({ type }) => type)
  const types = async () => typesOf(await events())

  describe('what is written', () => {
    test('default: an issued document is an event with its block, transaction and tenant', async () => {
      const before = Date.now()
      const { intent, anchoring } = await anchor(issue('office'))
      const [event, ...others] = await events()
      expect(others).toEqual([])
      const { documentHash } = intent
      expect(event).toMatchObject({
        type: 'document.issued',
        documentHash,
        tenant: 'office',
        ...anchoring,
      })
      expect(event?.time).toBeGreaterThanOrEqual(before - 1)
      expect(event?.time).toBeLessThanOrEqual(Date.now())
    })

    test('default: all documents of a plan are events', async () => {
      const intents = [issue(), issue(), issue()]
      for (const intent of intents) await outbox.add(intent)
      const transaction = { nonce: 1, hash: hash(), raw: hash(), gasLimit: 1n }
      const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
      const plan = await outbox.plan(ACCOUNT, { ...transaction, ...fees }, intents)
      const anchoring = inBlock(7)
      const anchored = intents.map((intent) => ({ intent, anchoring }))
      expect(await events()).toEqual([])
      await outbox.settle(plan, { anchored, gone: [] }, 0n)
      const hashes = (await events()).map(({ documentHash }) => documentHash)
      expect(hashes).toEqual(intents.map(({ documentHash }) => documentHash))
    })

    test('behavior: each kind of change has its type', async () => {
      const { documentHash } = (await anchor(issue())).intent
      await anchor({ kind: 'suspend', documentHash })
      await anchor({ kind: 'release', documentHash })
      await anchor({ kind: 'revoke', documentHash, reason: REVOCATION_REASONS.keyCompromise })
      const other = (await anchor(issue())).intent
      const { superseded } = REVOCATION_REASONS
      await anchor({ kind: 'revoke', documentHash: other.documentHash, reason: superseded })
      expect(await types()).toEqual([
        'document.issued',
        'document.suspended',
        'document.released',
        'document.revoked',
        'document.issued',
        'document.superseded',
      ])
    })

    test('behavior: a revocation that somebody else made first has the reason of the chain', async () => {
      const { keyCompromise, superseded } = REVOCATION_REASONS
      const { documentHash } = (await anchor(issue())).intent
      const revocation = { kind: 'revoke', documentHash, reason: superseded } as const
      const foreign = { ...inBlock(5), reason: keyCompromise }
      const first = await anchor(revocation, foreign)
      // A reorg: its own comes first now, in a block of the same number, and later another one.
      const own = { ...inBlock(5), reason: superseded }
      await outbox.review({ ...NOTHING, moved: [{ ...first, now: own }] })
      const again = { ...inBlock(6), reason: keyCompromise }
      const [intent, anchoring] = [first.intent, own]
      await outbox.review({ ...NOTHING, moved: [{ intent, anchoring, now: again }] })
      const found = (await events()).slice(1)
      expect(found).toMatchObject(
        [
          { type: 'document.revoked', anchoring: foreign },
          { type: 'document.superseded', anchoring: own },
          { type: 'document.revoked', anchoring: again },
        ].map(({ type, anchoring: { reason: _, ...place } }) => ({ type, ...place })),
      )
    })

    test('behavior: learning the block hash of a revocation is not an event', async () => {
      const { documentHash } = (await anchor(issue())).intent
      const unread = { ...inBlock(5), blockHash: UNSEEN, transactionHash: null, reason: 1 }
      const one = await anchor({ kind: 'revoke', documentHash, reason: 1 }, unread)
      await outbox.review({ ...NOTHING, moved: [{ ...one, now: { ...inBlock(5), reason: 1 } }] })
      expect(await types()).toEqual(['document.issued', 'document.revoked'])
    })

    test('behavior: a document is issued again in each block that a reorg moves it to', async () => {
      const one = await anchor(issue())
      const now = inBlock(6)
      await outbox.review({ ...NOTHING, moved: [{ ...one, now }] })
      await outbox.review({ ...NOTHING, dropped: [{ ...one, anchoring: now }] })
      const again = inBlock(8)
      await outbox.resolve({ anchored: [{ intent: one.intent, anchoring: again }], gone: [] })
      const places = (await events()).map(({ type, blockHash }) => ({ type, blockHash }))
      expect(places).toEqual(
        [one.anchoring, now, again].map(({ blockHash }) => ({
          type: 'document.issued',
          blockHash,
        })),
      )
    })

    test('behavior: an unknown block hash is null, and learning it is not an event', async () => {
      const one = await anchor(issue(), { ...inBlock(5), blockHash: UNSEEN, transactionHash: null })
      expect(await events()).toMatchObject([{ blockNumber: 5, blockHash: null }])
      await outbox.review({ ...NOTHING, moved: [{ ...one, now: inBlock(5) }] })
      expect(await events()).toHaveLength(1)
    })

    test('behavior: final comes once, also if a repeat guards the document again', async () => {
      const one = await anchor(issue())
      const revocation = await anchor({ kind: 'suspend', documentHash: one.intent.documentHash })
      await outbox.review({ ...NOTHING, final: [one, revocation] })
      const { intent, anchoring } = one
      const before = ['document.issued', 'document.suspended', 'document.final']
      expect(await types()).toEqual(before)
      expect((await events()).at(-1)).toMatchObject(anchoring)

      await outbox.adopt(intent as IssueIntent, anchoring)
      await outbox.review({ ...NOTHING, final: [one] })
      expect(await types()).toEqual(before)
    })

    test('behavior: a document that another gateway issued is issued and final', async () => {
      const [intent, anchoring] = [issue(), inBlock(5)]
      await outbox.adopt(intent, anchoring)
      await outbox.adopt(intent, anchoring)
      await outbox.review({ ...NOTHING, final: [{ intent, anchoring }] })
      expect(await types()).toEqual(['document.issued', 'document.final'])
    })

    test('behavior: what can never be anchored has failed, whether a transaction carried it or not', async () => {
      const [refused, carried] = [issue(), issue()]
      await outbox.add(refused)
      await outbox.add(carried)
      const fees = { gasLimit: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
      const transaction = { nonce: 0, hash: hash(), raw: '0x02', ...fees } as const
      const plan = await outbox.plan(ACCOUNT, transaction, [carried])
      await outbox.settle(plan, { anchored: [], gone: [carried] }, 0n)
      await outbox.resolve({ anchored: [], gone: [refused] })
      const broken = await anchor(issue())
      await outbox.review({ ...NOTHING, gone: [broken] })
      const failed = (await events()).filter(({ type }) => type === 'document.failed')
      expect(failed).toMatchObject([
        { documentHash: carried.documentHash, blockNumber: null, transactionHash: null },
        { documentHash: refused.documentHash, blockNumber: null, transactionHash: null },
        { documentHash: broken.intent.documentHash, ...broken.anchoring },
      ])
    })
  })

  describe('reading', () => {
    test('default: pages go on after the last event of the one before', async () => {
      for (let i = 0; i < 5; i++) await anchor(issue())
      const all = await events()
      const first = await page({ limit: 2 })
      expect(first.events).toEqual(all.slice(0, 2))
      expect(first.hasMore).toBe(true)
      const second = await page({ limit: 3, ...(first.next && { after: first.next }) })
      expect(second.events).toEqual(all.slice(2))
      expect(second.hasMore).toBe(false)
      const end = await page({ ...(second.next && { after: second.next }) })
      expect(end).toEqual({ events: [], next: second.next, hasMore: false })
    })

    test('default: an empty log has no next place', async () => {
      expect(await page()).toEqual({ events: [], next: undefined, hasMore: false })
    })

    test('behavior: filters by tenant and by types', async () => {
      const { documentHash } = (await anchor(issue('a'))).intent
      await anchor({ kind: 'suspend', documentHash, tenant: 'b' })
      await anchor({ kind: 'release', documentHash })
      expect(typesOf((await page({ tenant: 'a' })).events)).toEqual(['document.issued'])
      expect(typesOf((await page({ tenant: 'b' })).events)).toEqual(['document.suspended'])
      const some = await page({ types: ['document.issued', 'document.released'] })
      expect(typesOf(some.events)).toEqual(['document.issued', 'document.released'])
      expect(some.events.map(({ tenant }) => tenant)).toEqual(['a', null])
    })

    test("behavior: a change of a tenant's document or batch is theirs alone, whoever requests it", async () => {
      const [hashes, roots] = [[] as Hex[], [] as Hex[]]
      for (const tenant of ['abc', 'other']) {
        const documentHash = await indexed(tenant)
        const root = await indexedBatch(tenant)
        await anchor({ kind: 'suspend', documentHash, tenant: 'operator' })
        await anchor({ kind: 'revoke', documentHash: root, root, reason: 1, tenant: 'operator' })
        hashes.push(documentHash)
        roots.push(root)
      }
      expect((await page({ tenant: 'abc' })).events).toMatchObject([
        { type: 'document.suspended', documentHash: hashes[0], tenant: 'operator' },
        { type: 'batch.revoked', documentHash: roots[0], tenant: 'operator' },
      ])
      expect((await page({ tenant: 'operator' })).events).toEqual([])
      expect(await types()).toHaveLength(4)
    })

    test('behavior: a change of what the index does not know is of the tenant that requests it', async () => {
      const [documentHash, root] = [hash(), hash()]
      await anchor({ kind: 'suspend', documentHash, tenant: 'operator' })
      await anchor({ kind: 'suspend', documentHash: root, root, tenant: 'operator' })
      expect(typesOf((await page({ tenant: 'operator' })).events)).toEqual([
        'document.suspended',
        'batch.suspended',
      ])
      expect((await page({ tenant: 'abc' })).events).toEqual([])
    })

    test('behavior: the end of an erasure is of the tenant that issued the document', async () => {
      const documentHash = await indexed('abc')
      await ports.stores.erasures.begin(documentHash, 'operator')
      await ports.stores.erasures.finish([documentHash], new Set())
      expect(typesOf((await page({ tenant: 'abc' })).events)).toEqual(['document.erased'])
      expect((await page({ tenant: 'operator' })).events).toEqual([])
    })

    test('behavior: a page ends after a bounded number of events that do not match', async () => {
      await ports.fillEvents(12_000)
      await anchor({ kind: 'suspend', documentHash: hash() })
      let [found, pages]: [EventPage | undefined, number] = [undefined, 0]
      do {
        const after = found?.next
        found = await page({ types: ['document.suspended'], ...(after && { after }) })
        pages++
      } while (found.hasMore)
      expect(pages).toBe(3)
      expect(typesOf(found.events)).toEqual(['document.suspended'])
    })

    test('error: an event that is not in the log, or is another of that number, is unknown', async () => {
      await anchor(issue())
      const [event] = await events()
      const place = parseEventId(event?.id ?? '')
      if (!place) throw new Error('an id that does not parse')
      const read = (after: { time: number; number: number }) => log.read({ after, limit: 1 })
      expect(await read(place)).toMatchObject({ events: [] })
      expect(await read({ ...place, number: place.number + 1 })).toBe('unknown_event')
      expect(await read({ ...place, time: place.time + 1 })).toBe('unknown_event')
    })

    test('behavior: old events are deleted in slices, and the newest stays', async () => {
      await ports.fillEvents(1_200)
      expect(await log.prune(1_001)).toBe(true)
      expect(await log.prune(1_001)).toBe(true)
      expect(await log.prune(1_001)).toBe(false)
      expect((await page({ limit: 1 })).events).toMatchObject([{ time: 1_001 }])
      expect(await log.prune(Date.now())).toBe(false)
      expect(await events()).toMatchObject([{ time: 1_200 }])
    })
  })
})
