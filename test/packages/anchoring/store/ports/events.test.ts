import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import {
  type DocumentEvent,
  type EventLog,
  type EventPage,
  type EventQuery,
  parseEventId,
} from '#events/events.ts'
import type { Action, IssueAction } from '#promise/action.ts'
import { ABSENT, type Anchoring, UNSEEN } from '#promise/anchoring.ts'
import { actionOfBatch } from '#promise/batch-log.ts'
import { type Lock, lockOfBatch } from '#promise/lock.ts'
import { describePorts } from '#test/support/databases.ts'
import type { WholeOutbox } from '#test/support/outbox.ts'
import { REVOCATION_REASONS } from '#verifier/reasons.ts'
import {
  anchorAll,
  anchoredAt,
  hash,
  ownPlace,
  placeIn,
  plan,
  releaseOf,
  resolve,
  revokeOf,
  settleAll,
  suspendOf,
} from './given.ts'

const issue = (tenant = 'default'): IssueAction => ({
  kind: 'issue',
  documentHash: hash(),
  validUntil: 0,
  tenant,
})

describePorts('events', (ports) => {
  let outbox: WholeOutbox
  let log: EventLog
  beforeEach(() => {
    outbox = ports.outbox
    log = ports.stores.events
  })

  /** Asks for something that another gateway has done in this place. */
  async function anchor<T extends Action>(action: T, anchoring = placeIn(5)) {
    await outbox.add(action)
    await resolve(outbox, action, anchoredAt(anchoring))
    return { action, anchoring }
  }
  /** Notes where all of the only send of another gateway in a block is now. */
  async function move(from: Anchoring, now: Anchoring): Promise<void> {
    const [send] = await outbox.ofOthers(from)
    if (!send) throw new Error('a send')
    const outcomes = send.members.map(() => anchoredAt(now))
    await outbox.move(send.id, send.members, outcomes)
  }

  const entryOf = (tenant: string) => ({
    issuedOn: 1,
    validUntil: 0,
    subject: 1n,
    category: 1n,
    tenant,
  })

  /** @returns A document on the chain that the index knows as the tenant's. */
  async function indexed(tenant: string): Promise<Hex> {
    const action = issue(tenant)
    await outbox.add(action, { payload: { entry: entryOf(tenant) } })
    await resolve(outbox, action, anchoredAt(placeIn(4)))
    return action.documentHash
  }

  /** @returns The root of a batch on the chain that the index knows as the tenant's. */
  async function indexedBatch(tenant: string): Promise<Hex> {
    const { batchDrafts, batchLog, shared } = ports.stores
    const request = new Uint8Array(randomBytes(32))
    const batch = { root: hash(), size: 2, manifest: hash(), tenant }
    const entry = { ...entryOf(tenant), batchBlock: hash() }
    const documents = [hash(), hash()].map((documentHash) => ({ documentHash, entry }))
    await batchLog.claim(request, { content: new Uint8Array(32), checkedAt: 1 })
    await batchDrafts.index(request, batch, documents)
    const lock = (await shared.locks.take(lockOfBatch(batch.root))) as Lock
    await batchLog.promise(request, batch, lock)
    await lock.release()
    await resolve(outbox, actionOfBatch(batch), anchoredAt(placeIn(4)))
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

  describe('writing', () => {
    test('an issued document is an event with its block, transaction and tenant', async () => {
      const before = Date.now()
      const { action, anchoring } = await anchor(issue('office'))
      const [event, ...others] = await events()
      expect(others).toEqual([])
      const { documentHash } = action
      expect(event).toMatchObject({
        type: 'document.issued',
        documentHash,
        tenant: 'office',
        ...anchoring,
      })
      expect(event?.time).toBeGreaterThanOrEqual(before - 1)
      expect(event?.time).toBeLessThanOrEqual(Date.now())
    })

    test('all documents of a send are events', async () => {
      const actions = [issue(), issue(), issue()]
      for (const action of actions) await outbox.add(action)
      const send = await plan(outbox, actions)
      expect(await events()).toEqual([])
      const place = await settleAll(outbox, send, placeIn(7))
      const found = await events()
      expect(found.map(({ documentHash }) => documentHash)).toEqual(
        actions.map(({ documentHash }) => documentHash),
      )
      expect(found).toMatchObject(actions.map(() => place))
    })

    test('each kind of change has its type', async () => {
      const { documentHash } = (await anchor(issue())).action
      await anchor(suspendOf(documentHash))
      await anchor(releaseOf(documentHash))
      await anchor(revokeOf(documentHash, REVOCATION_REASONS.keyCompromise))
      const other = (await anchor(issue())).action
      await anchor(revokeOf(other.documentHash, REVOCATION_REASONS.superseded))
      expect(await types()).toEqual([
        'document.issued',
        'document.suspended',
        'document.released',
        'document.revoked',
        'document.issued',
        'document.superseded',
      ])
    })

    test('a revocation that another account made first has the reason of the chain', async () => {
      const { keyCompromise, superseded } = REVOCATION_REASONS
      const { documentHash } = (await anchor(issue())).action
      const revocation = revokeOf(documentHash, superseded)
      const foreign = { ...placeIn(5), reason: keyCompromise }
      await anchor(revocation, foreign)
      // A reorg: its own comes first now, in a block of the same number, and later another one.
      const own = { ...placeIn(5), reason: superseded }
      await move(foreign, own)
      const again = { ...placeIn(6), reason: keyCompromise }
      await move(own, again)
      const found = (await events()).slice(1)
      expect(found).toMatchObject(
        [
          { type: 'document.revoked', anchoring: foreign },
          { type: 'document.superseded', anchoring: own },
          { type: 'document.revoked', anchoring: again },
        ].map(({ type, anchoring: { reason: _, ...place } }) => ({ type, ...place })),
      )
    })

    test('a block hash of a revocation that becomes known is no event', async () => {
      const { documentHash } = (await anchor(issue(), placeIn(4))).action
      const unread = { ...placeIn(5), blockHash: UNSEEN, transactionHash: null, reason: 1 }
      await anchor(revokeOf(documentHash), unread)
      await move(unread, { ...placeIn(5), reason: 1 })
      expect(await types()).toEqual(['document.issued', 'document.revoked'])
    })

    test('a document is issued again in each block that a reorg moves it to', async () => {
      const { action, anchoring } = await anchor(issue())
      const [now, again] = [placeIn(6), placeIn(8)]
      await move(anchoring, now)
      const [send] = await outbox.ofOthers(now)
      if (!send) throw new Error('a send')
      await outbox.move(send.id, send.members, [ABSENT])
      await resolve(outbox, action, anchoredAt(again))
      const places = (await events()).map(({ type, blockHash }) => ({ type, blockHash }))
      expect(places).toEqual(
        [anchoring, now, again].map(({ blockHash }) => ({
          type: 'document.issued',
          blockHash,
        })),
      )
    })

    test('a send that a reorg puts in flight again is an event in its next block', async () => {
      const action = issue()
      await outbox.add(action)
      const send = await plan(outbox, [action])
      const first = await settleAll(outbox, send)
      await outbox.lose([first])
      const second = await settleAll(outbox, send, placeIn(5))
      expect(await events()).toMatchObject([
        { type: 'document.issued', ...first },
        { type: 'document.issued', ...second },
      ])
    })

    test('each of twenty tenants sees its own documents before and after a reorg', async () => {
      const tenants = Array.from({ length: 20 }, (_, i) => `office-${i}`)
      // Each has another number of them, and those of all are mixed.
      const actions = tenants
        .flatMap((tenant, i) => Array.from({ length: 1 + (i % 3) }, () => issue(tenant)))
        .toSorted((a, b) => a.documentHash.localeCompare(b.documentHash))
      for (const action of actions) await outbox.add(action)
      const send = await plan(outbox, actions)
      const before = await settleAll(outbox, send)
      await outbox.lose([before])
      const after = await settleAll(outbox, send, { ...placeIn(9), blockHash: hash() })
      for (const tenant of tenants) {
        const own = actions.filter((action) => action.tenant === tenant)
        const wanted = [before, after].flatMap(({ blockHash }) =>
          own.map(({ documentHash }) => ({ type: 'document.issued', documentHash, blockHash })),
        )
        const found: DocumentEvent[] = []
        let last: EventPage | undefined
        while (last?.hasMore ?? true) {
          last = await page({ tenant, limit: 2, ...(last?.next && { after: last.next }) })
          found.push(...last.events)
        }
        expect(found).toMatchObject(wanted)
      }
    })

    test('an unknown block hash is null, and makes no event when it becomes known', async () => {
      const unread = { ...placeIn(5), blockHash: UNSEEN, transactionHash: null }
      await anchor(issue(), unread)
      expect(await events()).toMatchObject([{ blockNumber: 5, blockHash: null }])
      await move(unread, placeIn(5))
      expect(await events()).toHaveLength(1)
    })

    test('a document becomes final once, also after a repeat', async () => {
      const action = issue()
      await outbox.add(action)
      const place = await anchorAll(outbox, [action])
      await outbox.add(suspendOf(action.documentHash))
      await anchorAll(outbox, [suspendOf(action.documentHash)], { nonce: 1, block: place })
      await outbox.finish(place)
      const before = ['document.issued', 'document.suspended', 'document.final']
      expect(await types()).toEqual(before)
      expect((await events()).at(-1)).toMatchObject(place)

      await outbox.guard(action, place)
      await outbox.finish(place)
      expect(await types()).toEqual(before)
    })

    test('a document that another gateway issued is issued and final', async () => {
      const [action, place] = [issue(), placeIn(5)]
      await outbox.guard(action, place)
      await outbox.guard(action, place)
      await outbox.finish(place)
      expect(await types()).toEqual(['document.issued', 'document.final'])
    })

    test('what can never be issued has failed, with or without a transaction', async () => {
      const [refused, carried] = [issue(), issue()]
      await outbox.add(refused)
      await outbox.add(carried)
      const send = await plan(outbox, [carried])
      const place = ownPlace(send, placeIn(5))
      await outbox.settle(send, [{ status: 'conflict' }], place, 0n)
      await resolve(outbox, refused, { status: 'distrusted' })
      const broken = await anchor(issue())
      const [foreign] = await outbox.ofOthers(broken.anchoring)
      if (!foreign) throw new Error('a send')
      await outbox.move(foreign.id, foreign.members, [{ status: 'distrusted' }])
      const failed = (await events()).filter(({ type }) => type === 'document.failed')
      expect(failed).toMatchObject(
        [carried, refused, broken.action].map(({ documentHash }) => ({
          documentHash,
          tenant: 'default',
          blockNumber: null,
          transactionHash: null,
        })),
      )
    })
  })

  describe('reading', () => {
    test('a page continues after the last event of the previous one', async () => {
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

    test('an empty log has no next cursor', async () => {
      expect(await page()).toEqual({ events: [], next: undefined, hasMore: false })
    })

    test('filters by tenant and by types', async () => {
      await anchor(issue('a'))
      const documentHash = hash()
      await anchor({ kind: 'suspend', documentHash, tenant: 'b' })
      await anchor(releaseOf(documentHash))
      expect(typesOf((await page({ tenant: 'a' })).events)).toEqual(['document.issued'])
      expect(typesOf((await page({ tenant: 'b' })).events)).toEqual(['document.suspended'])
      const some = await page({ types: ['document.issued', 'document.released'] })
      expect(typesOf(some.events)).toEqual(['document.issued', 'document.released'])
      expect(some.events.map(({ tenant }) => tenant)).toEqual(['a', null])
    })

    test('a change of a document or batch belongs only to its tenant, whoever requests it', async () => {
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
        { type: 'document.issued', documentHash: hashes[0], tenant: 'abc' },
        { type: 'batch.issued', documentHash: roots[0], tenant: 'abc' },
        { type: 'document.suspended', documentHash: hashes[0], tenant: 'abc' },
        { type: 'batch.revoked', documentHash: roots[0], tenant: 'abc' },
      ])
      expect((await page({ tenant: 'operator' })).events).toEqual([])
      expect(await types()).toHaveLength(8)
    })

    test('a change of an unknown document belongs to the tenant that requests it', async () => {
      const [documentHash, root] = [hash(), hash()]
      await anchor({ kind: 'suspend', documentHash, tenant: 'operator' })
      await anchor({ kind: 'suspend', documentHash: root, root, tenant: 'operator' })
      expect(typesOf((await page({ tenant: 'operator' })).events)).toEqual([
        'document.suspended',
        'batch.suspended',
      ])
      expect((await page({ tenant: 'abc' })).events).toEqual([])
    })

    test('the end of an erasure belongs to the tenant that issued the document', async () => {
      const documentHash = await indexed('abc')
      await ports.stores.erasures.begin(documentHash, 'operator')
      await ports.stores.erasures.finish([documentHash], new Set())
      expect(typesOf((await page({ tenant: 'abc' })).events)).toEqual([
        'document.issued',
        'document.erased',
      ])
      expect((await page({ tenant: 'operator' })).events).toEqual([])
    })

    test('a page ends after a limited number of events that do not match', async () => {
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

    test('a tenant with few events gets them at once, beside many of others', async () => {
      await anchor(issue('a'))
      await ports.fillEvents(12_000)
      await anchor(issue('a'))
      const found = await page({ tenant: 'a' })
      expect(typesOf(found.events)).toEqual(['document.issued', 'document.issued'])
      expect(found.hasMore).toBe(false)
      expect(await page({ tenant: 'a', ...(found.next && { after: found.next }) })).toEqual({
        events: [],
        next: found.next,
        hasMore: false,
      })
      const [first] = (await page({ tenant: 'a', limit: 1 })).events
      const after = parseEventId(first?.id ?? '')
      expect(await page({ tenant: 'a', ...(after && { after }) })).toMatchObject({ events: [{}] })
    })

    test("an event that is not in the log, or whose number is another's, is unknown", async () => {
      await anchor(issue())
      const [event] = await events()
      const place = parseEventId(event?.id ?? '')
      if (!place) throw new Error('an id that does not parse')
      const read = (after: { time: number; number: number }) => log.read({ after, limit: 1 })
      expect(await read(place)).toMatchObject({ events: [] })
      expect(await read({ ...place, number: place.number + 1 })).toBe('unknown_event')
      expect(await read({ ...place, time: place.time + 1 })).toBe('unknown_event')
    })

    test('deletes old events in slices, and keeps the newest', async () => {
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
