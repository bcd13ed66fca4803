import { beforeEach, expect, test } from 'vitest'
import type { KeyStore } from '#keys/ports.ts'
import { BARE, FULL } from '#test/support/api-keys.ts'
import { describePorts } from '#test/support/databases.ts'

describePorts('API keys', (ports) => {
  let store: KeyStore
  beforeEach(() => {
    store = ports.stores.keys
  })

  test('returns keys as they were put, the oldest first', async () => {
    await store.put(FULL)
    await store.put(BARE)
    expect(await store.list()).toEqual([FULL, BARE])
    await store.put({ ...FULL, label: 'changed' })
    expect(await store.list()).toEqual([{ ...FULL, label: 'changed' }, BARE])
  })

  test('the version grows with every change, but not with a use', async () => {
    const versions = [await store.version()]
    const note = async () => versions.push(await store.version())
    await store.put(BARE)
    await note()
    await store.update('bare', (key) => [{ ...key, label: 'x' }])
    await note()
    expect(await store.remove('bare')).toBe(true)
    await note()
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
    await store.put(BARE)
    const before = await store.version()
    await store.markUsed(new Map([['bare', '2026-03-01T00:00:00.000Z']]))
    expect(await store.version()).toBe(before)
    expect(await store.list()).toMatchObject([{ lastUsedAt: '2026-03-01T00:00:00.000Z' }])
  })

  test('changes nothing when the change throws, or the key is unknown', async () => {
    await store.put(BARE)
    const failing = store.update('bare', () => {
      throw new TypeError('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    expect(await store.update('other', (key) => [key])).toBe(false)
    expect(await store.remove('other')).toBe(false)
    expect(await store.list()).toEqual([BARE])
  })
})
