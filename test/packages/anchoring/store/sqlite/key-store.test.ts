import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openKeysFile } from '#store/drivers/sqlite/keys-file.ts'

import { BARE, FULL } from '#test/support/api-keys.ts'
import { type KeyFolder, makeKeyFolder } from '#test/support/key-file.ts'

let folder: KeyFolder
beforeEach(() => {
  folder = makeKeyFolder()
})
afterEach(() => folder.remove())

test('returns keys as they were put, the oldest first, in every process', async () => {
  const [store, other] = [folder.open(), folder.open()]
  await store.put(FULL)
  await other.put(BARE)
  expect(await store.list()).toEqual([FULL, BARE])
  await store.put({ ...FULL, label: 'changed' })
  expect(await other.list()).toEqual([{ ...FULL, label: 'changed' }, BARE])
})

test('the version grows with every change, but not with a use', async () => {
  const [store, other] = [folder.open(), folder.open()]
  const versions = [await store.version()]
  await other.put(BARE)
  versions.push(await store.version())
  await other.update('bare', (key) => [{ ...key, label: 'x' }])
  versions.push(await store.version())
  await other.remove('bare')
  versions.push(await store.version())
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
  await other.put(BARE)
  const before = await store.version()
  await other.markUsed(new Map([['bare', '2026-03-01T00:00:00.000Z']]))
  expect(await store.version()).toBe(before)
  expect(await store.list()).toMatchObject([{ lastUsedAt: '2026-03-01T00:00:00.000Z' }])
})

test('a use of an unknown key changes nothing', async () => {
  const store = folder.open()
  await store.markUsed(new Map([['nobody', '2026-03-01T00:00:00.000Z']]))
  expect(await store.list()).toEqual([])
})

test('an update that throws changes nothing, and the store still works', async () => {
  const store = folder.open()
  await store.put(BARE)
  const refusal = new Error('no')
  await expect(
    store.update('bare', () => {
      throw refusal
    }),
  ).rejects.toBe(refusal)
  expect(await store.list()).toEqual([BARE])
  expect(await store.update('nobody', (key) => [key])).toBe(false)
  expect(await store.remove('nobody')).toBe(false)
  expect(await store.remove('bare')).toBe(true)
})

test('remembers that there was a key', async () => {
  const store = folder.open()
  expect(await store.hadKeys()).toBe(false)
  await store.put(BARE)
  await store.remove('bare')
  expect(await folder.open().hadKeys()).toBe(true)
})

test('the files are readable by their owner only', async () => {
  const store = folder.open()
  await store.put(BARE)
  for (const path of [folder.path, `${folder.path}-wal`, `${folder.path}-shm`]) {
    expect(existsSync(path)).toBe(true)
    expect(statSync(path).mode & 0o077).toBe(0)
  }
})

test('a write that another process blocks is an outage, and changes nothing', async () => {
  const store = folder.open()
  await store.put(BARE)
  const blocker = new DatabaseSync(folder.path)
  blocker.exec('BEGIN IMMEDIATE')
  try {
    await expect(store.remove('bare')).rejects.toMatchObject({ code: 'store_unavailable' })
    // Reads go on.
    expect(await store.list()).toEqual([BARE])
  } finally {
    blocker.close()
  }
  expect(await store.remove('bare')).toBe(true)
})

test('names a damaged file', () => {
  writeFileSync(folder.path, 'not a database, and long enough to be read as one '.repeat(100))
  chmodSync(folder.path, 0o600)
  expect(() => openKeysFile(folder.path)).toThrow(folder.path)
})

test('refuses a file of another version', () => {
  openKeysFile(folder.path).close()
  const file = new DatabaseSync(folder.path)
  file.exec('PRAGMA user_version = 99')
  file.close()
  expect(() => openKeysFile(folder.path)).toThrow(/99/)
})
