import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Document } from '#document/document.ts'
import { toHex } from '#document/hex.ts'
import { createOpenedDocuments } from '#documents/opened-documents.ts'

const HASH = toHex(new Uint8Array(32).fill(0x5a))
const OTHER_HASH = toHex(new Uint8Array(32).fill(0x5b))
const KEY = new Uint8Array(16).fill(0xa5)
const OTHER_KEY = new Uint8Array(16).fill(0xa6)
const MINUTES = 60_000
const document: Document = {
  subjectName: 'Ада Лавлейс 👩‍🔬',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
  metadata: { place: 'London', '2': 'two', '10': 'ten', constructor: 'kept' },
  registry: `eip155:31337:0x${'a'.repeat(40)}`,
  issuerId: 1,
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('finds a document by its hash and key, with its members in order', async () => {
  const opened = createOpenedDocuments(async () => false)
  await opened.add(HASH, KEY, document)
  expect(JSON.stringify(await opened.get(HASH, KEY))).toBe(JSON.stringify(document))
  // A key that is a part of other bytes.
  const larger = new Uint8Array(48).fill(1)
  larger.set(KEY, 16)
  expect(await opened.get(HASH, larger.subarray(16, 32))).toEqual(document)
})

test('finds nothing with another hash or another key', async () => {
  const opened = createOpenedDocuments(async () => false)
  await opened.add(HASH, KEY, document)
  expect(await opened.get(HASH, OTHER_KEY)).toBeUndefined()
  expect(await opened.get(OTHER_HASH, KEY)).toBeUndefined()
})

test('does not find an erased document', async () => {
  const erased = new Set<string>()
  const opened = createOpenedDocuments(async (hash) => erased.has(toHex(hash)))
  await opened.add(HASH, KEY, document)
  expect(await opened.get(HASH, KEY)).toEqual(document)
  erased.add(HASH)
  expect(await opened.get(HASH, KEY)).toBeUndefined()
})

test('finds nothing before it knows which documents were erased', async () => {
  const opened = createOpenedDocuments(async () => {
    throw new Error('disk I/O error')
  })
  await opened.add(HASH, KEY, document)
  expect(await opened.get(HASH, KEY)).toBeUndefined()
})

test('a caller that changes a document does not change the kept one', async () => {
  const opened = createOpenedDocuments(async () => false)
  await opened.add(HASH, KEY, document)
  const one = await opened.get(HASH, KEY)
  if (one) one.subjectName = 'Somebody else'
  expect(await opened.get(HASH, KEY)).toEqual(document)
})

test('drops a document that was not verified for twenty minutes', async () => {
  const opened = createOpenedDocuments(async () => false)
  await opened.add(HASH, KEY, document)
  await opened.add(OTHER_HASH, KEY, document)
  for (let i = 0; i < 10; i++) {
    vi.advanceTimersByTime(9 * MINUTES)
    expect(await opened.get(HASH, KEY)).toEqual(document)
  }
  expect(await opened.get(OTHER_HASH, KEY)).toBeUndefined()
  vi.advanceTimersByTime(21 * MINUTES)
  expect(await opened.get(HASH, KEY)).toBeUndefined()
  expect(vi.getTimerCount()).toBe(0)
  await opened.add(HASH, KEY, document)
  expect(vi.getTimerCount()).toBe(1)
})

test('limits the memory of all documents', async () => {
  const opened = createOpenedDocuments(async () => false)
  const keyOf = (i: number) => new Uint8Array(16).fill(i)
  const large = { ...document, metadata: { text: 'x'.repeat(32_000) } }
  const count = 2_000
  const hashOf = (i: number) => toHex(new Uint8Array(32).fill(i % 256).fill(i >> 8, 16))
  for (let i = 0; i < count; i++) await opened.add(hashOf(i), keyOf(1), large)
  const found = await Promise.all(
    Array.from({ length: count }, (_, i) => opened.get(hashOf(i), keyOf(1))),
  )
  const kept = found.filter((one) => one !== undefined).length
  expect(kept).toBeGreaterThan(300)
  expect(kept * 32_000).toBeLessThan(24 * 1024 * 1024)
})
