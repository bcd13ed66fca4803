import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import { createStatusSlots } from '#modules/wallets/store.ts'
import { MAX_LISTED } from '#store/lost-lists.ts'
import { describePorts } from '#test/support/databases.ts'

const hash = (): Hex => toHex(randomBytes(32))

describePorts('the places in status lists', (ports) => {
  test('default: a document keeps its place', async () => {
    const statusSlots = createStatusSlots(ports.stores.database)
    const [documentHash, root] = [hash(), hash()]
    expect(await statusSlots.take({ documentHash }, () => [7, 8])).toEqual({ list: 1, index: 7 })
    // In a batch, it is another document.
    const inBatch = { documentHash, root }
    expect(await statusSlots.take(inBatch, () => [7, 8])).toEqual({ list: 1, index: 8 })
    await ports.reopen()
    const again = await createStatusSlots(ports.stores.database).take({ documentHash }, () => [9])
    expect(again).toEqual({ list: 1, index: 7 })
    expect(await createStatusSlots(ports.stores.database).entries(1)).toEqual({
      entries: [
        { index: 7, documentHash, erased: false },
        { index: 8, documentHash, root, erased: false },
      ],
      isLost: false,
    })
    expect(await createStatusSlots(ports.stores.database).entries(2)).toBeUndefined()
  })

  test('behavior: a taken place leads to the next one, or to the next list', async () => {
    const statusSlots = createStatusSlots(ports.stores.database)
    const take = () => statusSlots.take({ documentHash: hash() }, (list) => [list, list + 1])
    expect(await take()).toEqual({ list: 1, index: 1 })
    expect(await take()).toEqual({ list: 1, index: 2 })
    expect(await take()).toEqual({ list: 2, index: 2 })
    expect(await take()).toEqual({ list: 2, index: 3 })
  })

  test('behavior: documents that come together have places of their own', async () => {
    const statusSlots = createStatusSlots(ports.stores.database)
    const all = Array.from({ length: 20 }, hash)
    const offered = Array.from({ length: 20 }, (_, i) => i)
    const taken = await Promise.all(
      [...all, ...all].map((documentHash) => statusSlots.take({ documentHash }, () => offered)),
    )
    expect(new Set(taken.map(({ index }) => index)).size).toBe(20)
    expect(taken.slice(0, 20)).toEqual(taken.slice(20))
  })

  test('behavior: a list that is full or lost takes no more documents', async () => {
    const take = () =>
      createStatusSlots(ports.stores.database).take({ documentHash: hash() }, () => [5, 6])
    await ports.run(`INSERT INTO status_list (list, used, lost) VALUES (1, 3, true)`)
    await ports.run(`INSERT INTO status_list (list, used, lost) VALUES (2, ${MAX_LISTED}, false)`)
    expect(await take()).toEqual({ list: 3, index: 5 })
    expect(await createStatusSlots(ports.stores.database).entries(1)).toEqual({
      entries: [],
      isLost: true,
    })
  })

  test('behavior: knows the documents of the index that are on the chain', async () => {
    const { outbox, database } = ports.stores
    const statusSlots = createStatusSlots(database)
    const [pending, anchored] = [hash(), hash()]
    for (const documentHash of [pending, anchored])
      await outbox.add(
        { kind: 'issue', documentHash, validUntil: 0 },
        {
          payload: {
            entry: { issuedOn: 1, validUntil: 0, subject: 1n, category: 1n, tenant: 1n },
          },
        },
      )
    await ports.run(
      `UPDATE document SET block_number = 5 WHERE id = (SELECT max(id) FROM document)`,
    )
    const known = await statusSlots.known()
    expect(known).toMatchObject({ alone: 1, batches: 0 })
    expect(known.documents.map(({ documentHash }) => documentHash).sort()).toEqual(
      [pending, anchored].sort(),
    )
  })

  test('behavior: knows which documents were erased', async () => {
    const { erasures, database } = ports.stores
    const statusSlots = createStatusSlots(database)
    const documentHash = hash()
    await statusSlots.take({ documentHash }, () => [1])
    await erasures.begin(documentHash, 'one')
    const { entries } = (await statusSlots.entries(1)) ?? {}
    expect(entries).toEqual([{ index: 1, documentHash, erased: true }])
  })
})
