import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import type { DatabaseStores } from '#store/stores.ts'
import { describePorts } from '#test/support/databases.ts'

const NONE: ReadonlySet<Hex> = new Set()

function newBlock() {
  const hash = new Uint8Array(randomBytes(32))
  return { hash, documentHash: toHex(hash), bytes: new Uint8Array(randomBytes(300)) }
}

describePorts('erasures', (ports) => {
  let stores: DatabaseStores
  beforeEach(() => {
    stores = ports.stores
  })

  test('an erased payload is gone, does not return, and has a receipt', async () => {
    const { embedded, erasures, isErased } = stores
    const { hash, documentHash, bytes } = newBlock()
    await embedded.put(hash, bytes)
    expect(await isErased(hash)).toBe(false)
    const begun = await erasures.begin(documentHash, 'default')
    const remains = expect.arrayContaining(['backups'])
    expect(begun).toEqual({ documentHash, erasedAt: null, removed: ['database'], remains })
    expect(await isErased(hash)).toBe(true)
    await embedded.put(hash, bytes)
    expect(await embedded.get(hash)).toEqual({ status: 'missing' })
    expect(await erasures.unfinished()).toEqual([documentHash])
    await erasures.finish([documentHash], new Set([documentHash]))
    expect(await erasures.unfinished()).toEqual([])
    expect(await erasures.find(documentHash)).toEqual({
      documentHash,
      erasedAt: expect.any(Number),
      removed: ['database', 'kubo'],
      remains,
    })
  })

  test('erases the payload of a promise, also of a later one', async () => {
    const { erasures, outbox, embedded } = stores
    const [early, late] = [newBlock(), newBlock()]
    const add = ({ documentHash, bytes }: typeof early) =>
      outbox.add({ kind: 'issue', documentHash, validUntil: 0 }, { payload: { bytes } })
    await add(early)
    await erasures.begin(early.documentHash, 'default')
    await erasures.begin(late.documentHash, 'default')
    await add(late)
    for (const { hash } of [early, late])
      expect(await embedded.get(hash)).toEqual({ status: 'missing' })
  })

  test('a finished erasure is one event', async () => {
    const { erasures, events } = stores
    const { documentHash } = newBlock()
    await erasures.begin(documentHash, 'default')
    await erasures.finish([documentHash], NONE)
    await erasures.begin(documentHash, 'default')
    await erasures.finish([documentHash], NONE)
    const page = await events.read({ limit: 10 })
    expect(page).toMatchObject({ events: [{ type: 'document.erased', documentHash }] })
  })

  test('repeats an erasure that is in the list and not in the database', async () => {
    const { documentHash, hash, bytes } = newBlock()
    await stores.erasures.begin(documentHash, 'default')
    await ports.forgetErasures()
    await stores.embedded.put(hash, bytes)
    expect((await stores.embedded.get(hash)).status).toBe('found')
    await ports.reopen()
    expect((await ports.stores.embedded.get(hash)).status).toBe('missing')
    expect(await ports.stores.erasures.unfinished()).toEqual([documentHash])
  })
})
