import { expect, test } from 'vitest'
import { createStatusSlots } from '#modules/wallets/store.ts'
import { MAX_LISTED } from '#store/lost-lists.ts'
import {
  anchoredAt,
  ENTRY,
  hash,
  issueOf,
  placeIn,
  plan,
  resolve,
} from '#test/packages/anchoring/store/ports/given.ts'
import { describePorts } from '#test/support/databases.ts'

describePorts('indexes in status lists', (ports) => {
  test('a document keeps its index', async () => {
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

  test('a used index leads to the next one, or to the next list', async () => {
    const statusSlots = createStatusSlots(ports.stores.database)
    const take = () => statusSlots.take({ documentHash: hash() }, (list) => [list, list + 1])
    expect(await take()).toEqual({ list: 1, index: 1 })
    expect(await take()).toEqual({ list: 1, index: 2 })
    expect(await take()).toEqual({ list: 2, index: 2 })
    expect(await take()).toEqual({ list: 2, index: 3 })
  })

  test('documents that are added together get different indexes', async () => {
    const statusSlots = createStatusSlots(ports.stores.database)
    const all = Array.from({ length: 20 }, hash)
    const offered = Array.from({ length: 20 }, (_, i) => i)
    const taken = await Promise.all(
      [...all, ...all].map((documentHash) => statusSlots.take({ documentHash }, () => offered)),
    )
    expect(new Set(taken.map(({ index }) => index)).size).toBe(20)
    expect(taken.slice(0, 20)).toEqual(taken.slice(20))
  })

  test('a list that is full or lost gets no more documents', async () => {
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

  test('returns the indexed documents that are on the chain', async () => {
    const { database } = ports.stores
    const { outbox } = ports
    const statusSlots = createStatusSlots(database)
    const [waiting, inFlight, anchored] = [issueOf(), issueOf(), issueOf()]
    for (const action of [waiting, inFlight, anchored])
      await outbox.add(action, { payload: { entry: ENTRY } })
    await plan(outbox, [inFlight])
    await resolve(outbox, anchored, anchoredAt(placeIn(5)))
    const known = await statusSlots.known()
    expect(known).toMatchObject({ alone: 1, batches: 0 })
    expect(known.documents.map(({ documentHash }) => documentHash).sort()).toEqual(
      [waiting, inFlight, anchored].map(({ documentHash }) => documentHash).sort(),
    )
  })

  test('returns which documents were erased', async () => {
    const { erasures, database } = ports.stores
    const statusSlots = createStatusSlots(database)
    const documentHash = hash()
    await statusSlots.take({ documentHash }, () => [1])
    await erasures.begin(documentHash, 'one')
    const { entries } = (await statusSlots.entries(1)) ?? {}
    expect(entries).toEqual([{ index: 1, documentHash, erased: true }])
  })
})
