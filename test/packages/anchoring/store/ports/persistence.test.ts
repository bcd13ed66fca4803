import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { toHex } from '#document/hex.ts'
import type { IndexEntry } from '#promise/document-index.ts'
import type { DatabaseStores } from '#store/stores.ts'
import { describePorts } from '#test/support/databases.ts'

const ENTRY: IndexEntry = { issuedOn: 1, validUntil: 0, subject: 1n, category: 2n, tenant: 3n }

function newDocument(entry: Partial<IndexEntry> = {}) {
  const documentHash = new Uint8Array(randomBytes(32))
  const bytes = new Uint8Array(randomBytes(300))
  return {
    intent: { kind: 'issue', documentHash: toHex(documentHash), validUntil: 0 } as const,
    sealed: { documentHash, bytes, entry: { ...ENTRY, ...entry } },
  }
}
const place = (blockNumber: number) => ({
  blockNumber,
  blockHash: toHex(randomBytes(32)),
  transactionHash: toHex(randomBytes(32)),
})

describePorts('payloads and promises', (ports) => {
  let stores: DatabaseStores
  beforeEach(() => {
    stores = ports.stores
  })
  const statusOf = async ({ sealed }: ReturnType<typeof newDocument>) =>
    (await stores.embedded.get(sealed.documentHash)).status

  test('default: of concurrent requests for a document one adds it', async () => {
    const { intent, sealed } = newDocument()
    const added = await Promise.all(
      Array.from({ length: 20 }, () => stores.embeddedPersistence.add(intent, sealed)),
    )
    expect(added.filter(Boolean)).toEqual([true])
    expect(await ports.count('document')).toBe(1)
  })

  test('behavior: a promise that was kept is not new, and a repeat leaves its payload', async () => {
    const final = newDocument()
    await stores.embeddedPersistence.add(final.intent, final.sealed)
    const anchored = { intent: final.intent, anchoring: place(5) }
    await ports.outbox.resolve({ anchored: [anchored], gone: [] })
    await ports.outbox.review({ final: [anchored], gone: [], moved: [], dropped: [] })
    expect(await ports.outbox.find('issue', final.intent.documentHash)).toBeUndefined()
    expect(await stores.embeddedPersistence.add(final.intent, final.sealed)).toBe(false)
    await ports.outbox.resolve({ anchored: [], gone: [final.intent] })
    expect(await statusOf(final)).toBe('found')
  })

  test('behavior: a document has one successor, whose anchoring promises its revocation', async () => {
    const old = newDocument()
    const supersedes = old.intent.documentHash
    const [one, other] = [newDocument({ supersedes }), newDocument({ supersedes })]
    const { embeddedPersistence: persistence, successions } = stores
    const { outbox } = ports
    expect(await persistence.add(one.intent, one.sealed)).toBe(true)
    expect(await persistence.add(other.intent, other.sealed)).toBe('has_successor')
    expect(await statusOf(other)).toBe('missing')
    expect(await successions.successorOf(supersedes)).toBe(one.intent.documentHash)
    expect(await outbox.find('revoke', supersedes)).toBeUndefined()
    await outbox.resolve({ anchored: [{ intent: one.intent, anchoring: place(5) }], gone: [] })
    expect(await outbox.find('revoke', supersedes)).toMatchObject({
      intent: { kind: 'revoke', reason: 4 },
    })
  })

  test('behavior: a successor that can never be issued leaves the document without one', async () => {
    const supersedes = newDocument().intent.documentHash
    const [one, other] = [newDocument({ supersedes }), newDocument({ supersedes })]
    await stores.embeddedPersistence.add(one.intent, one.sealed)
    await ports.outbox.resolve({ anchored: [], gone: [one.intent] })
    expect(await stores.successions.successorOf(supersedes)).toBeUndefined()
    expect(await stores.embeddedPersistence.add(other.intent, other.sealed)).toBe(true)
  })
})
