import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { toHex } from '#document/hex.ts'
import type { IndexEntry } from '#promise/document-index.ts'
import type { DatabaseStores } from '#store/stores.ts'
import { describePorts } from '#test/support/databases.ts'
import { anchorAll, placeIn, resolve } from './given.ts'

const ENTRY: IndexEntry = { issuedOn: 1, validUntil: 0, subject: 1n, category: 2n, tenant: 'three' }

function newDocument(entry: Partial<IndexEntry> = {}) {
  const documentHash = new Uint8Array(randomBytes(32))
  const bytes = new Uint8Array(randomBytes(300))
  return {
    action: { kind: 'issue', documentHash: toHex(documentHash), validUntil: 0 } as const,
    sealed: { documentHash, bytes, entry: { ...ENTRY, ...entry } },
  }
}
describePorts('payloads and promises', (ports) => {
  let stores: DatabaseStores
  beforeEach(() => {
    stores = ports.stores
  })
  const statusOf = async ({ sealed }: ReturnType<typeof newDocument>) =>
    (await stores.embedded.get(sealed.documentHash)).status

  test('one of several concurrent requests for a document adds it', async () => {
    const { action, sealed } = newDocument()
    const added = await Promise.all(
      Array.from({ length: 20 }, () => stores.outbox.add(action, { payload: sealed })),
    )
    expect(added.filter(Boolean)).toEqual([true])
    expect(await ports.count('record')).toBe(1)
  })

  test('a kept promise is not new, and a repeat does not restore its payload', async () => {
    const final = newDocument()
    await stores.outbox.add(final.action, { payload: final.sealed })
    await ports.outbox.finish(await anchorAll(ports.outbox, [final.action]))
    expect(await ports.outbox.find('issue', final.action.documentHash)).toBeUndefined()
    expect(await stores.outbox.add(final.action, { payload: final.sealed })).toBe(false)
    expect(await statusOf(final)).toBe('found')
  })

  test('a document that can never be anchored is new again, and keeps its payload', async () => {
    const document = newDocument()
    for (let request = 0; request < 2; request++) {
      expect(await stores.outbox.add(document.action, { payload: document.sealed })).toBe(true)
      await resolve(ports.outbox, document.action, { status: 'conflict' })
      expect(await ports.outbox.find('issue', document.action.documentHash)).toBeUndefined()
      expect(await statusOf(document)).toBe('found')
    }
  })

  test('a document that another gateway has issued is stored without its payload', async () => {
    const { action, sealed } = newDocument()
    await stores.outbox.guard(action, placeIn(5), sealed)
    expect(await ports.outbox.find('issue', action.documentHash)).toBeDefined()
    expect(await stores.documentIndex.find(action.documentHash)).toMatchObject({ tenant: 'three' })
    await stores.embedded.put(sealed.documentHash, sealed.bytes)
    expect(await stores.embedded.get(sealed.documentHash)).toMatchObject({ status: 'found' })
  })
})
