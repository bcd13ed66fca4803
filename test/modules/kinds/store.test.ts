import { expect, test } from 'vitest'
import type { KindUpdate } from '#modules/kinds/ports.ts'
import { createKindStore } from '#modules/kinds/store.ts'
import { describePorts } from '#test/support/databases.ts'

const most = { kinds: 2, versions: 4 }
const bytesOf = (text: string) => new TextEncoder().encode(text)
const put = (text: string, basedOn?: number): KindUpdate => ({
  next: (version) => bytesOf(`${text} ${version}`),
  ...(basedOn !== undefined && { basedOn }),
  most,
})
const end: KindUpdate = { next: () => 'end', most }

describePorts('kinds', (ports) => {
  const store = () => createKindStore(ports.stores.database)

  test('each change makes a version, and all are kept', async () => {
    const first = await store().update('diploma', put('a'))
    expect(first).toMatchObject({ category: 'diploma', version: 1, bytes: bytesOf('a 1') })
    const second = await store().update('diploma', put('b', 1))
    expect(second).toMatchObject({ version: 2, bytes: bytesOf('b 2') })
    await ports.reopen()
    expect(await store().list()).toEqual([second])
    expect(await store().current()).toEqual([{ category: 'diploma', version: 2 }])
    expect(await store().get('diploma')).toEqual(second)
    expect(await store().get('diploma', 1)).toEqual(first)
    expect(await store().get('diploma', 3)).toBeUndefined()
    expect(await store().get('permit')).toBeUndefined()
  })

  test('a removed kind no longer applies, and its number is not used again', async () => {
    const before = Date.now() - 1
    await store().update('diploma', put('a'))
    const held = Date.now()
    while (Date.now() === held);
    expect(await store().update('diploma', end)).toBeUndefined()
    expect(await store().list()).toEqual([])
    expect(await store().list(held)).toMatchObject([{ version: 1 }])
    expect(await store().list(before)).toEqual([])
    expect(await store().get('diploma', 1)).toMatchObject({ version: 1 })
    expect(await store().update('diploma', put('b', 0))).toMatchObject({ version: 2 })
  })

  test('one of many concurrent changes succeeds', async () => {
    const updates = await Promise.all(
      ['a', 'b', 'c'].map((text) => store().update('x', put(text, 0))),
    )
    expect(updates.filter((one) => one === 'changed')).toHaveLength(2)
    expect(await store().update('x', put('d', 2))).toBe('changed')
    expect(await store().update('x', { ...put('d'), next: () => 'keep' })).toMatchObject({
      version: 1,
    })
  })

  test('enforces the limits, and can still remove', async () => {
    await store().update('a', put('a'))
    await store().update('b', put('b'))
    expect(await store().update('c', put('c'))).toBe('too_many')
    await store().update('b', put('b'))
    await store().update('b', put('b'))
    expect(await store().update('b', put('b'))).toBe('too_many')
    expect(await store().update('b', end)).toBeUndefined()
    expect(await store().current()).toEqual([{ category: 'a', version: 1 }])
  })
})
