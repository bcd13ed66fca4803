import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import type { Sealed } from '#document/sealed.ts'
import type { Intent } from '#promise/intent.ts'
import { persistInOrder, restorePayloads } from '#promise/persistence.ts'
import type { PayloadStore, PromisedPayload } from '#promise/ports.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createOutbox, createPersistence } from '#store/outbox.ts'
import { createPayloadStore } from '#store/payloads.ts'
import { withOlder } from '#store/tombstones.ts'

/**
 * What a gateway has in one folder. With `separate`, its payloads are in a database of their own.
 */
function open(dir: string, separate: boolean) {
  const database = openSqlite(join(dir, 'gateway.db'))
  const outbox = createOutbox(database)
  const embedded = createPayloadStore(database)
  if (!separate) {
    const persistence = createPersistence(database, embedded, outbox)
    return { persistence, store: embedded, outbox, close: database.close }
  }
  const other = openSqlite(join(dir, 'payloads.db'))
  const store = withOlder(createPayloadStore(other), embedded)
  const failures: unknown[] = []
  const persistence = persistInOrder(store, outbox, (error) => failures.push(error))
  const close = async () => {
    await database.close()
    await other.close()
    expect(failures).toEqual([])
  }
  return { persistence, store, embedded, outbox, close }
}

function newDocument(): { intent: Intent; sealed: Sealed } {
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
  /** The document is on the chain and final. */
  const acknowledge = async () => {
    await gateway.persistence.add(intent, sealed)
    await gateway.outbox.resolve({ anchored: [], gone: [intent] })
  }

  test('default: a payload goes with the intent that inserted it', async () => {
    await gateway.persistence.add(intent, sealed)
    expect(await statusOf()).toBe('found')
    await gateway.persistence.withdraw([intent])
    expect(await gateway.outbox.find('issue', intent.documentHash)).toBeUndefined()
    await expect.poll(statusOf).toBe('missing')
  })

  test('behavior: an intent that is added twice keeps its payload as its own', async () => {
    await gateway.persistence.add(intent, sealed)
    await gateway.persistence.add(intent, sealed)
    await restart()
    await gateway.persistence.withdraw([intent])
    await expect.poll(statusOf).toBe('missing')
  })

  test('default: of several concurrent promises of one document, one is new', async () => {
    const both = await Promise.all([
      gateway.persistence.add(intent, sealed),
      gateway.persistence.add(intent, sealed),
    ])
    expect(both.sort()).toEqual([false, true])
    await restart()
    expect(await gateway.persistence.add(intent, sealed)).toBe(false)
    await gateway.persistence.withdraw([intent])
    await expect.poll(statusOf).toBe('missing')
    expect(await gateway.persistence.add(intent, sealed)).toBe(true)
  })

  test('behavior: a fulfilled promise is not new, although its row is gone', async () => {
    await acknowledge()
    await restart()
    expect(await gateway.persistence.add(intent, sealed)).toBe(false)
  })

  test('error: a refused repeat leaves the payload of an acknowledged document', async () => {
    await acknowledge()
    await gateway.persistence.add(intent, sealed)
    await gateway.persistence.withdraw([intent])
    await restart()
    expect(await statusOf()).toBe('found')
  })

  test('error: a repeat withdrawn after a restart leaves it too', async () => {
    await acknowledge()
    await restart()
    await gateway.persistence.add(intent, sealed)
    await restart()
    await gateway.persistence.withdraw([intent])
    await restart()
    expect(await statusOf()).toBe('found')
  })

  test('behavior: restores a payload that the store lost, once the chain has the document', async () => {
    await acknowledge()
    await gateway.store.remove(sealed.documentHash)
    expect(await statusOf()).toBe('missing')
    await gateway.persistence.restore(sealed)
    expect(await gateway.store.get(sealed.documentHash)).toEqual({
      status: 'found',
      bytes: sealed.bytes,
    })
  })

  test('error: keeps a payload restored while another request promises it and is withdrawn', async () => {
    await acknowledge()
    await gateway.store.remove(sealed.documentHash)
    const added = gateway.persistence.add(intent, sealed)
    await Promise.all([added, gateway.persistence.restore(sealed)])
    await gateway.persistence.withdraw([intent])
    await restart()
    expect(await statusOf()).toBe('found')
  })

  test('behavior: keeps a restored payload, whatever becomes of the intent that inserted it', async () => {
    await gateway.persistence.add(intent, sealed)
    await gateway.persistence.restore(sealed)
    await gateway.persistence.withdraw([intent])
    await restart()
    expect(await statusOf()).toBe('found')
  })
})

test('error: removes nothing from a store that another has replaced', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'persistence-'))
  const { persistence, embedded, close } = open(dir, true)
  const { intent, sealed } = newDocument()
  await embedded?.put(sealed.documentHash, sealed.bytes)
  await persistence.add(intent, sealed)
  await persistence.withdraw([intent])
  await close()
  const again = open(dir, true)
  expect((await again.store.get(sealed.documentHash)).status).toBe('found')
  await again.close()
  rmSync(dir, { recursive: true })
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
      return true
    },
    get: () => Promise.reject(new Error('not called')),
    async missing(hashes) {
      asked.push(hashes.length)
      return hashes.filter((hash) => missing.has(toHex(hash)))
    },
    remove: () => Promise.reject(new Error('not called')),
  }
  return { store, asked, restored }
}

test('default: asks the store once for each group, and puts back what it lost', async () => {
  const [first, second] = [payloads(3), payloads(2)]
  const lost = [...first.slice(1, 2), ...second]
  const { store, asked, restored } = storeWithout(lost)
  await restorePayloads({ outbox: outboxOf([first, second]), store, signal: never(), log })
  expect(asked).toEqual([3, 2])
  const expected = lost.map(({ documentHash, sealed }) => [documentHash, sealed] as const)
  expect(restored).toEqual(new Map(expected))
  expect(log.info).toHaveBeenCalledWith('payloads_restored', { blocks: 3 })
})

test('behavior: tries again when the store does not answer', async () => {
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

test('behavior: ends when it is aborted while the store does not answer', async () => {
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
