import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createDeadline } from '#base/deadline.ts'
import { type Hex, toHex } from '#document/hex.ts'
import type { Sealed } from '#document/sealed.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { IssueError } from '#promise/errors.ts'
import type { IssueIntent } from '#promise/intent.ts'
import { persistInOrder, restorePayloads, untilAnswered } from '#promise/persistence.ts'
import type { PayloadStore, PromisedPayload } from '#promise/ports.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createPersistence } from '#store/outbox.ts'
import { createPayloadStore } from '#store/payloads.ts'
import { withOlder } from '#store/tombstones.ts'
import { createWholeOutbox, waitingFor } from '#test/support/outbox.ts'

/**
 * What a gateway has in one folder. With `separate`, its payloads are in a database of their own.
 */
function open(dir: string, separate: boolean) {
  const database = openSqlite(join(dir, 'gateway.db'))
  const outbox = createWholeOutbox(database)
  const embedded = createPayloadStore(database)
  if (!separate) {
    const persistence = createPersistence(embedded, outbox)
    return { persistence, store: embedded, lose: embedded.delete, outbox, close: database.close }
  }
  const other = openSqlite(join(dir, 'payloads.db'))
  const payloads = createPayloadStore(other)
  const store = withOlder(payloads, embedded)
  const persistence = persistInOrder(store, outbox)
  const close = async () => {
    await database.close()
    await other.close()
  }
  return { persistence, store, lose: payloads.delete, outbox, close }
}

function newDocument(): { intent: IssueIntent; sealed: Sealed } {
  const documentHash = new Uint8Array(randomBytes(32))
  return {
    intent: { kind: 'issue', documentHash: toHex(documentHash), validUntil: 0 },
    sealed: { documentHash, bytes: new Uint8Array(randomBytes(300)) },
  }
}

describe.each([
  ['in the database of the outbox', false],
  ['in a store of its own', true],
])('payloads %s', (_, separate) => {
  let dir: string
  let gateway: ReturnType<typeof open>
  const { intent, sealed } = newDocument()
  const statusOf = async () => (await gateway.store.get(sealed.documentHash)).status

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'persistence-'))
    gateway = open(dir, separate)
  })
  afterEach(async () => {
    await gateway.close()
    rmSync(dir, { recursive: true })
  })
  const restart = async () => {
    await gateway.close()
    gateway = open(dir, separate)
  }
  /** Writes what became of the document, which waits. */
  async function resolve(outcome: Outcome): Promise<void> {
    const waiting = await waitingFor(gateway.outbox)
    await gateway.outbox.resolve(waiting.map((one) => ({ ...one, outcome })))
  }
  /** The document is on the chain and final. */
  async function acknowledge(): Promise<void> {
    const block = { blockNumber: 5, blockHash: toHex(randomBytes(32)) }
    await gateway.persistence.add(intent, sealed)
    await resolve({ status: 'anchored', ...block, transactionHash: toHex(randomBytes(32)) })
    await gateway.outbox.finish(block)
  }

  test('a promise and its payload survive a restart', async () => {
    await gateway.persistence.add(intent, sealed)
    await restart()
    expect(await gateway.outbox.find('issue', intent.documentHash)).toMatchObject({ intent })
    expect(await gateway.store.get(sealed.documentHash)).toEqual({
      status: 'found',
      bytes: sealed.bytes,
    })
  })

  test('of several concurrent promises of one document, one is new', async () => {
    const both = await Promise.all([
      gateway.persistence.add(intent, sealed),
      gateway.persistence.add(intent, sealed),
    ])
    expect(both.sort()).toEqual([false, true])
    await restart()
    expect(await gateway.persistence.add(intent, sealed)).toBe(false)
    expect(await waitingFor(gateway.outbox)).toMatchObject([{ intent }])
  })

  test('a kept promise is not new when repeated, and nothing waits', async () => {
    await acknowledge()
    await restart()
    expect(await gateway.persistence.add(intent, sealed)).toBe(false)
    expect(await waitingFor(gateway.outbox)).toEqual([])
    expect(await statusOf()).toBe('found')
  })

  test('a document that can never be anchored is new again, and keeps its payload', async () => {
    for (let request = 0; request < 2; request++) {
      expect(await gateway.persistence.add(intent, sealed)).toBe(true)
      await resolve({ status: 'conflict' })
      await restart()
      expect(await gateway.outbox.find('issue', intent.documentHash)).toBeUndefined()
      expect(await statusOf()).toBe('found')
    }
  })

  test('restores a payload that the store lost, once the chain has the document', async () => {
    await acknowledge()
    await gateway.lose(sealed.documentHash)
    expect(await statusOf()).toBe('missing')
    await gateway.persistence.restore(sealed)
    expect(await gateway.store.get(sealed.documentHash)).toEqual({
      status: 'found',
      bytes: sealed.bytes,
    })
  })

  test('keeps a payload that is restored while another request promises it', async () => {
    await acknowledge()
    await gateway.lose(sealed.documentHash)
    const added = gateway.persistence.add(intent, sealed)
    await Promise.all([added, gateway.persistence.restore(sealed)])
    await restart()
    expect(await statusOf()).toBe('found')
  })
})

describe('a store of its own', () => {
  const { intent, sealed } = newDocument()
  const { documentHash, bytes } = sealed
  const never = () => Promise.reject(new Error('not called'))

  test('promises nothing when the payload is not stored', async () => {
    const store = { put: never, get: never, missing: never }
    const add = vi.fn()
    const persistence = persistInOrder(store, { add, find: never, adopt: never })
    await expect(persistence.add(intent, sealed)).rejects.toThrow()
    expect(add).not.toHaveBeenCalled()
  })

  test('keeps a payload whose promise could not be written', async () => {
    const payloads = new Map<Hex, Uint8Array>()
    const store: PayloadStore = {
      put: async (hash, bytes) => void payloads.set(toHex(hash), bytes),
      get: never,
      missing: never,
    }
    const error = new IssueError('outcome_unknown', 'cut')
    const persistence = persistInOrder(store, {
      add: () => Promise.reject(error),
      find: never,
      adopt: never,
    })
    await expect(persistence.add(intent, sealed)).rejects.toBe(error)
    expect([...payloads]).toEqual([[toHex(documentHash), bytes]])
  })
})

describe('a write without an answer', () => {
  const unknown = new IssueError('outcome_unknown', 'the connection broke')
  const away = new IssueError('store_unavailable', 'the database is away')

  test('runs once if the answer arrives', async () => {
    const write = vi.fn(async () => true)
    expect(await untilAnswered(createDeadline(1_000), write)).toBe(true)
    expect(write).toHaveBeenCalledTimes(1)
  })

  test('is not repeated if it was refused', async () => {
    const write = vi.fn(() => Promise.reject(away))
    await expect(untilAnswered(createDeadline(1_000), write)).rejects.toBe(away)
    expect(write).toHaveBeenCalledTimes(1)
  })

  test('is repeated until the store returns its result', async () => {
    const write = vi
      .fn(async () => 'new')
      .mockRejectedValueOnce(unknown)
      .mockRejectedValueOnce(away)
      .mockRejectedValueOnce(unknown)
    expect(await untilAnswered(createDeadline(10_000), write)).toBe('new')
    expect(write).toHaveBeenCalledTimes(4)
  })

  test.each([
    ['the store stays down', () => Promise.reject(away)],
    ['no repeat is answered', () => Promise.reject(unknown)],
    ['a repeat hangs', () => new Promise<never>(() => {})],
  ])('stays unknown at the deadline when %s', async (_, repeat) => {
    const write = vi.fn(repeat).mockRejectedValueOnce(unknown)
    const started = performance.now()
    await expect(untilAnswered(createDeadline(350), write)).rejects.toBe(unknown)
    expect(performance.now() - started).toBeGreaterThanOrEqual(349)
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(write.mock.calls.length).toBeGreaterThan(1)
    expect(write.mock.calls.length).toBeLessThan(10)
  })

  test('is not repeated when the deadline has passed', async () => {
    const write = vi.fn(() => Promise.reject(unknown))
    await expect(untilAnswered(createDeadline(0), write)).rejects.toBe(unknown)
    expect(write).toHaveBeenCalledTimes(1)
  })
})

const log = { debug() {}, info: vi.fn(), warn: vi.fn(), error() {} }
const never = () => new AbortController().signal

const payloads = (count: number): PromisedPayload[] =>
  Array.from({ length: count }, () => ({
    documentHash: toHex(randomBytes(32)),
    sealed: randomBytes(8),
  }))

const outboxOf = (groups: readonly PromisedPayload[][]) => ({
  async *payloads() {
    yield* groups
  },
})

/** @param lost What it does not have. */
function storeWithout(lost: readonly PromisedPayload[]) {
  const missing = new Set<Hex>(lost.map(({ documentHash }) => documentHash))
  const restored = new Map<Hex, Uint8Array>()
  const asked: number[] = []
  const store: PayloadStore = {
    async put(hash, bytes) {
      restored.set(toHex(hash), bytes)
    },
    get: () => Promise.reject(new Error('not called')),
    async missing(hashes) {
      asked.push(hashes.length)
      return hashes.filter((hash) => missing.has(toHex(hash)))
    },
  }
  return { store, asked, restored }
}

test('checks the store once for each group, and restores what it lost', async () => {
  const [first, second] = [payloads(3), payloads(2)]
  const lost = [...first.slice(1, 2), ...second]
  const { store, asked, restored } = storeWithout(lost)
  await restorePayloads({ outbox: outboxOf([first, second]), store, signal: never(), log })
  expect(asked).toEqual([3, 2])
  const expected = lost.map(({ documentHash, sealed }) => [documentHash, sealed] as const)
  expect(restored).toEqual(new Map(expected))
  expect(log.info).toHaveBeenCalledWith('payloads_restored', { blocks: 3 })
})

test('tries again when the store does not answer', async () => {
  const lost = payloads(1)
  const { store, restored } = storeWithout(lost)
  const { missing } = store
  store.missing = () => {
    store.missing = missing
    return Promise.reject(new Error('down'))
  }
  const done = restorePayloads({ outbox: outboxOf([lost]), store, signal: never(), log })
  await expect.poll(() => log.warn.mock.calls.length).toBeGreaterThan(0)
  expect(restored.size).toBe(0)
  await done
  expect(restored.size).toBe(1)
})

test('ends when it is aborted while the store does not answer', async () => {
  const { store } = storeWithout([])
  const stop = new AbortController()
  store.missing = () => Promise.reject(new Error('down'))
  const done = restorePayloads({
    outbox: outboxOf([payloads(1)]),
    store,
    signal: stop.signal,
    log,
  })
  stop.abort()
  await done
})
