import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import { type EventType, parseEventId } from '#events/events.ts'
import { startCourier } from '#modules/webhooks/courier.ts'
import { createDeliveries } from '#modules/webhooks/deliveries-store.ts'
import type { Attempt } from '#modules/webhooks/receivers.ts'
import { RETRY_PERIOD_MS } from '#modules/webhooks/retries.ts'
import { createWebhookSecrets } from '#modules/webhooks/secrets.ts'
import { createWebhooks } from '#modules/webhooks/store.ts'
import type { Webhook, Webhooks } from '#modules/webhooks/webhook.ts'
import { LockLost } from '#promise/lock.ts'
import { type SqliteDatabase as Database, openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createEventLog } from '#store/events.ts'
import { onConnection } from '#test/support/on-connection.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const hash = (): Hex => toHex(randomBytes(32))
const secrets = createWebhookSecrets([hash()])
const URL = 'https://receiver.test/'

let dir: string
let database: Database
let webhooks: Webhooks
type Outcome = Attempt['outcome']
/** What was sent, in order: documentHash and type. */
let sent: { id: string; documentHash: Hex; type: EventType; outcome: Outcome; at: number }[]
let answer: (documentHash: Hex, type: EventType) => Outcome | Promise<Outcome>
/** What the receiver asks for in its failures; milliseconds. */
let retryAfterMs: number | undefined
let counts: Record<string, number>
let stop: () => Promise<void>
let isDiskFull: boolean
let isElsewhere: boolean
/** How far the clock is ahead; milliseconds. */
let ahead: number
let isCertain: boolean
let turns: { quick: number; slow: number; waiting: number }

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'courier-'))
  open()
  ;[sent, counts, isDiskFull, isElsewhere] = [[], {}, false, false]
  ;[ahead, isCertain] = [0, true]
  answer = () => 'delivered'
  retryAfterMs = undefined
})
afterEach(async () => {
  await close()
  rmSync(dir, { recursive: true })
})

function open(): void {
  database = openSqlite(join(dir, 'gateway.db'))
  webhooks = createWebhooks(database)
  const deliveries = createDeliveries(database)
  stop = startCourier({
    deliveries: {
      ...deliveries,
      record: (turn, result) =>
        isDiskFull
          ? Promise.reject(new Error('the disk is full'))
          : deliveries.record(turn, result),
    },
    secrets,
    log,
    async assertHeld() {
      if (isElsewhere) throw new LockLost()
    },
    send: async (_, { id, body }) => {
      const { type, data } = JSON.parse(body)
      const outcome = await answer(data.documentHash, type)
      sent.push({ id, documentHash: data.documentHash, type, outcome, at: performance.now() })
      return { outcome, ...(retryAfterMs !== undefined && { retryAfterMs }) }
    },
    count: (outcome) => {
      counts[outcome] = (counts[outcome] ?? 0) + 1
    },
    clock: { now: () => Date.now() + ahead },
    certainTime: async () => (isCertain ? Date.now() : undefined),
    showTurns: (now) => {
      turns = now
    },
  })
}

async function close(): Promise<void> {
  await stop()
  await database.close()
}

async function add(changed: Partial<Webhook> = {}): Promise<Webhook> {
  const webhook: Webhook = {
    id: `wh_${randomBytes(8).toString('hex')}`,
    tenant: 'default',
    createdBy: 'key',
    createdAt: Date.now(),
    url: URL,
    types: null,
    secrets: [secrets.create()],
    disabledReason: null,
    failingSince: null,
    ...changed,
  }
  expect(await webhooks.add(webhook)).toBe(true)
  return webhook
}

function happen(documentHash: Hex, type: EventType, tenant = 'default'): Promise<void> {
  return database.write(
    onConnection(() => {
      database.sqlite
        .prepare('INSERT INTO event (type, time, document_hash, tenant) VALUES (?, ?, ?, ?)')
        .run(type, Date.now(), Buffer.from(documentHash.slice(2), 'hex'), tenant)
    }),
  )
}

const typesOf = (documentHash: Hex, outcome: Outcome = 'delivered') =>
  sent
    .filter((one) => one.documentHash === documentHash && one.outcome === outcome)
    .map(({ type }) => type)
const waiting = () => database.sqlite.prepare('SELECT count(*) AS n FROM delivery').get()?.n
const only = async () => (await webhooks.list())[0]
/** Lets waits be over, as if this much time had passed. */
const pass = (milliseconds: number) =>
  database.write(
    onConnection(() =>
      database.sqlite.exec(`UPDATE delivery SET next_at = next_at - ${milliseconds},
      failed_since = failed_since - ${milliseconds};
      UPDATE webhook SET failing_since = failing_since - ${milliseconds}`),
    ),
  )

describe('deliveries', () => {
  test('sends events of its tenant and types since its creation', async () => {
    const [early, a, other] = [hash(), hash(), hash()]
    await happen(early, 'document.issued')
    await add({ types: ['document.issued', 'document.revoked'] })
    await happen(a, 'document.issued')
    await happen(a, 'document.final')
    await happen(other, 'document.issued', 'another')
    await happen(a, 'document.revoked')
    await expect.poll(() => sent.length).toBe(2)
    expect(typesOf(a)).toEqual(['document.issued', 'document.revoked'])
    await expect.poll(() => counts).toEqual({ delivered: 2 })
  })

  test('stops once another gateway delivers', async () => {
    await add()
    answer = () => {
      isElsewhere = true
      return 'delivered'
    }
    const one = hash()
    await happen(one, 'document.issued')
    await happen(one, 'document.revoked')
    await expect.poll(() => sent.length).toBe(1)
    await stop()
    expect(typesOf(one)).toEqual(['document.issued'])
    expect((await only())?.failingSince).toBe(null)
  })

  test('a webhook of all tenants gets all events', async () => {
    await add({ tenant: null })
    await happen(hash(), 'document.issued', 'one')
    await happen(hash(), 'document.issued', 'another')
    await expect.poll(() => sent.length).toBe(2)
  })

  test('a failed delivery holds back later ones of its document only', async () => {
    await add()
    const [bad, good] = [hash(), hash()]
    answer = (documentHash) => (documentHash === bad ? 'failed' : 'delivered')
    await happen(bad, 'document.issued')
    await happen(good, 'document.issued')
    await happen(bad, 'document.final')
    await expect.poll(() => typesOf(good)).toEqual(['document.issued'])
    await happen(bad, 'document.suspended')
    await happen(good, 'document.final')
    await expect.poll(() => typesOf(good)).toHaveLength(2)
    expect(typesOf(bad, 'failed')).toEqual(['document.issued'])
    await expect.poll(waiting).toBe(3)

    answer = () => 'delivered'
    await pass(60_000)
    await expect.poll(() => typesOf(bad)).toHaveLength(3)
    expect(typesOf(bad)).toEqual(['document.issued', 'document.final', 'document.suspended'])
    await expect.poll(waiting).toBe(0)
  })

  test('tries again with the same id, also after a restart', async () => {
    await add()
    answer = () => 'failed'
    await happen(hash(), 'document.issued')
    await expect.poll(waiting).toBe(1)
    await close()
    answer = () => 'delivered'
    open()
    await pass(60_000)
    await expect.poll(() => sent.map(({ outcome }) => outcome)).toEqual(['failed', 'delivered'])
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
  })

  test('sends an event again whose result was not stored', async () => {
    await add()
    const [begun, sending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    answer = async (): Promise<Outcome> => {
      begun.resolve()
      await sending.promise
      return 'delivered'
    }
    await happen(hash(), 'document.issued')
    await begun.promise
    const stopped = stop()
    sending.resolve()
    await stopped
    expect(sent).toHaveLength(1)
    await database.close()
    answer = () => 'delivered'
    open()
    await expect.poll(() => sent.length).toBe(2)
    expect(sent[0]?.id).toBe(sent[1]?.id)
  })

  test('gives up an event that fails for three days, and sends later ones', async () => {
    await add()
    const [bad, good] = [hash(), hash()]
    answer = (documentHash, type) =>
      documentHash === bad && type === 'document.issued' ? 'failed' : 'delivered'
    await happen(bad, 'document.issued')
    await happen(bad, 'document.final')
    await expect.poll(waiting).toBe(2)
    await happen(good, 'document.issued')
    await expect.poll(() => typesOf(good)).toHaveLength(1)
    // It was released, and failed again.
    await expect.poll(() => counts.failed).toBe(2)
    await happen(good, 'document.final')
    await expect.poll(async () => (await only())?.failingSince).toBeNull()
    await pass(RETRY_PERIOD_MS)
    await expect.poll(() => typesOf(bad)).toEqual(['document.final'])
    await expect.poll(() => counts).toMatchObject({ given_up: 1 })
    expect((await only())?.disabledReason).toBeNull()
  })

  test('disables a receiver that accepts nothing for three days, and keeps its events', async () => {
    const { id } = await add()
    answer = () => 'failed'
    await happen(hash(), 'document.issued')
    await expect.poll(async () => (await only())?.failingSince).not.toBeNull()
    await pass(RETRY_PERIOD_MS)
    await expect.poll(async () => (await only())?.disabledReason).toBe('failing')
    const before = sent.length
    await happen(hash(), 'document.issued')
    answer = () => 'delivered'
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(sent).toHaveLength(before)
    await webhooks.change(id, () => ({ disabledReason: null, failingSince: null }))
    await expect.poll(() => sent.length).toBe(before + 2)
  })

  test('does not contact a receiver before its Retry-After', async () => {
    await add()
    answer = () => 'failed'
    retryAfterMs = 1_500
    const [first, second] = [hash(), hash()]
    await happen(first, 'document.issued')
    await expect.poll(() => sent.length).toBe(1)
    answer = () => 'delivered'
    await happen(second, 'document.issued')
    await expect.poll(() => typesOf(second)).toEqual(['document.issued'])
    expect((sent[1]?.at ?? 0) - (sent[0]?.at ?? 0)).toBeGreaterThanOrEqual(1_500)
    // It is back: what failed before is due at once.
    await expect.poll(() => typesOf(first)).toEqual(['document.issued'])
  })

  test('disables a webhook at once after a 410', async () => {
    await add()
    answer = () => 'gone'
    await happen(hash(), 'document.issued')
    await expect.poll(async () => (await only())?.disabledReason).toBe('gone')
    expect(sent).toHaveLength(1)
  })

  test('makes one attempt at a time to a receiver that is down', async () => {
    await add()
    answer = () => 'failed'
    for (let i = 0; i < 200; i++) await happen(hash(), 'document.issued')
    await expect.poll(() => sent.length).toBeGreaterThanOrEqual(5)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    // What was in its turns when it went down.
    expect(sent.length).toBeLessThanOrEqual(54)
  })

  test('a disk that refuses results does not cause a flood of repeats', async () => {
    await add()
    isDiskFull = true
    await happen(hash(), 'document.issued')
    await expect.poll(() => sent.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(sent).toHaveLength(1)
    isDiskFull = false
    await expect.poll(() => sent.length).toBe(2)
    expect(sent[0]?.id).toBe(sent[1]?.id)
  })

  test('slow receivers of one tenant do not block those of another', async () => {
    const sending = Promise.withResolvers<void>()
    answer = (_, type) =>
      type === 'document.issued' ? sending.promise.then(() => 'delivered') : 'delivered'
    for (let i = 0; i < 12; i++)
      await add({ id: `wh_slow_${i}`, tenant: 'slow', types: ['document.issued'] })
    await happen(hash(), 'document.issued', 'slow')
    await expect.poll(() => turns).toEqual({ quick: 8, slow: 0, waiting: 4 })
    const id = 'wh_of_another_tenant'
    await add({ id })
    await happen(hash(), 'document.final')
    await expect.poll(() => sent.map(({ type }) => type)).toEqual(['document.final'])
    sending.resolve()
    await expect.poll(() => sent.length).toBe(13)
  })

  test('a turn ends after a second, and later turns send the rest', async () => {
    await add()
    answer = () => new Promise((resolve) => setTimeout(resolve, 600, 'delivered'))
    const hashes = Array.from({ length: 20 }, hash)
    for (const one of hashes) await happen(one, 'document.issued')
    for (const one of hashes) await happen(one, 'document.final')
    await expect.poll(() => counts.delivered).toBeGreaterThanOrEqual(8)
    expect(counts.delivered).toBeLessThan(20)
    await expect.poll(() => counts).toEqual({ delivered: 40 })
    for (const one of hashes) expect(typesOf(one)).toEqual(['document.issued', 'document.final'])
    await expect.poll(waiting).toBe(0)
  })

  test('a success releases once the events that failed before it', async () => {
    await add()
    answer = () => 'failed'
    const [first, second] = [hash(), hash()]
    await happen(first, 'document.issued')
    await expect.poll(() => counts.failed).toBe(1)
    await pass(60_000)
    await expect.poll(() => counts.failed).toBe(2)
    await pass(600_000)
    await expect.poll(() => counts.failed).toBe(3)
    // It waits for half an hour now.
    answer = (documentHash) => (documentHash === first ? 'failed' : 'delivered')
    await happen(second, 'document.issued')
    await expect.poll(() => counts.failed).toBe(4)
    await happen(second, 'document.final')
    await expect.poll(() => counts.delivered).toBe(2)
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(counts.failed).toBe(4)
    const nextAt = database.sqlite.prepare('SELECT next_at FROM delivery').get()?.next_at
    expect(Number(nextAt) - Date.now()).toBeLessThanOrEqual(300_000)
  })

  test('a clock that jumps ahead neither drops nor postpones an event', async () => {
    await add()
    answer = () => 'failed'
    await happen(hash(), 'document.issued')
    await expect.poll(() => counts.failed).toBe(1)
    ahead = 31 * 86_400_000
    isCertain = false
    await expect.poll(() => counts.failed).toBe(2)
    await expect.poll(async () => (await only())?.failingSince).not.toBeNull()
    expect(await only()).toMatchObject({ disabledReason: null })
    ahead = 0
    answer = () => 'delivered'
    await expect.poll(() => counts).toEqual({ failed: 2, delivered: 1 })
  })

  test('a slow receiver does not delay the others', async () => {
    await add({ id: 'wh_slow', types: ['document.issued'] })
    await add({ id: 'wh_fast', types: ['document.final'] })
    const sending = Promise.withResolvers<void>()
    answer = (_, type) =>
      type === 'document.issued' ? sending.promise.then(() => 'failed') : 'delivered'
    await happen(hash(), 'document.issued')
    await happen(hash(), 'document.final')
    await expect.poll(() => sent.map(({ type }) => type)).toEqual(['document.final'])
    sending.resolve()
  })
})

describe('replay', () => {
  test('sends the events after a given one again, with the same ids', async () => {
    const { id } = await add()
    for (let i = 0; i < 3; i++) await happen(hash(), 'document.issued')
    await expect.poll(() => counts.delivered).toBe(3)
    const [first, ...rest] = sent.map((one) => one.id)
    const after = parseEventId(first ?? '')
    if (!after) throw new Error('an id')
    expect(await webhooks.replay(id, { after })).toBe('replayed')
    await expect.poll(() => counts.delivered).toBe(5)
    expect(sent.slice(3).map((one) => one.id)).toEqual(rest)
  })

  test('sends the events since a time again, as far as they are kept', async () => {
    const { id } = await add()
    await happen(hash(), 'document.issued')
    await expect.poll(() => counts.delivered).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 5))
    const since = Date.now()
    await happen(hash(), 'document.issued')
    await expect.poll(() => counts.delivered).toBe(2)
    await webhooks.replay(id, { since })
    await expect.poll(() => counts.delivered).toBe(3)
    expect(sent[2]?.id).toBe(sent[1]?.id)
    await webhooks.replay(id, { since: 0 })
    await expect.poll(() => counts.delivered).toBe(5)
    await webhooks.replay(id, { since: Date.now() + 60_000 })
    await happen(hash(), 'document.issued')
    await expect.poll(() => counts.delivered).toBe(6)
  })

  test('reports an event that is not in the log as unknown', async () => {
    const { id } = await add()
    expect(await webhooks.replay(id, { after: { time: 1, number: 1 } })).toBe('unknown_event')
  })

  test('deletes old events with their deliveries once the webhook is disabled', async () => {
    await add()
    answer = () => 'failed'
    await happen(hash(), 'document.issued')
    await expect.poll(waiting).toBe(1)
    await happen(hash(), 'document.issued')
    await expect.poll(waiting).toBe(2)
    const log = createEventLog(database)
    await log.prune(Date.now() + 1)
    expect(waiting()).toBe(2)
    await log.leaveBehind(Date.now() + 1)
    await log.prune(Date.now() + 1)
    expect(waiting()).toBe(1)
  })
})
