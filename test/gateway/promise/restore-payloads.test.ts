import { randomBytes } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import type { PromisedPayload } from '#promise/payload.ts'
import type { PayloadStore } from '#promise/ports.ts'
import { restorePayloads } from '#promise/restore-payloads.ts'

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
