import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createKeys, type Keys } from '#keys/keys.ts'
import { digestOf } from '#keys/secret.ts'
import type { KeySettings } from '#keys/settings.ts'
import { type KeyFolder, makeKeyFolder } from '../../support/key-file.ts'

const NOW = Date.UTC(2026, 0, 31)
const DAY_MS = 86_400_000
const at = (milliseconds: number) => new Date(milliseconds).toISOString()

let folder: KeyFolder
let keys: Keys
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  folder = makeKeyFolder()
  keys = createKeys(folder.open())
})
afterEach(() => {
  vi.useRealTimers()
  folder.remove()
})

const SETTINGS: KeySettings = { scopes: ['documents:issue'], tenant: 'registry-office' }
const FULL: KeySettings = {
  ...SETTINGS,
  label: 'Front desk',
  categories: ['birth_certificate', 'diploma'],
  rateLimit: 5,
  expiresAt: at(NOW + 90 * DAY_MS),
}
const find = async (id: string) => (await keys.list()).find((key) => key.id === id)

test('stores the settings of a key and the digest of its secret', async () => {
  const { key, secret } = await keys.create(FULL)
  expect(secret).toMatch(/^drk_[\w-]{43}$/)
  expect(await keys.list()).toEqual([key])
  expect(key).toEqual({
    ...FULL,
    id: expect.stringMatching(/^[0-9a-f]{12}$/),
    digest: digestOf(secret),
    createdAt: at(NOW),
  })
})

test('omits settings that were not given', async () => {
  const { key } = await keys.create(SETTINGS)
  expect(await keys.list()).toEqual([
    { ...SETTINGS, id: key.id, digest: key.digest, createdAt: at(NOW) },
  ])
})

test('rotation makes a key of the same tenant and settings, and ends the old one', async () => {
  const { key: old } = await keys.create(FULL)
  vi.setSystemTime(NOW + DAY_MS)
  const { key, secret } = await keys.rotate(old.id, { overlapSeconds: 3_600 })
  expect(digestOf(secret)).toBe(key.digest)
  expect(await find(key.id)).toEqual({
    ...FULL,
    id: key.id,
    digest: key.digest,
    createdAt: at(NOW + DAY_MS),
    // As many days as the old one had.
    expiresAt: at(NOW + 91 * DAY_MS),
  })
  expect(await find(old.id)).toEqual({
    ...old,
    expiresAt: at(NOW + DAY_MS + 3_600_000),
    replacedBy: key.id,
  })
})

test('the overlap never extends a key', async () => {
  const expiresAt = at(NOW + 1_000)
  const { key: old } = await keys.create({ ...SETTINGS, expiresAt })
  await keys.rotate(old.id, { overlapSeconds: 3_600 })
  expect((await find(old.id))?.expiresAt).toBe(expiresAt)
})

test('rotates a key once', async () => {
  const { key: old } = await keys.create(SETTINGS)
  const { key } = await keys.rotate(old.id, { overlapSeconds: 0 })
  await expect(keys.rotate(old.id, { overlapSeconds: 0 })).rejects.toMatchObject({
    code: 'already_rotated',
    message: expect.stringContaining(key.id),
  })
  expect(await keys.list()).toHaveLength(2)
})

test('nothing extends or restores a rotated key', async () => {
  const { key: old } = await keys.create(SETTINGS)
  const { old: ended } = await keys.rotate(old.id, { overlapSeconds: 60 })
  const refused = { code: 'bad_fields', field: 'expiresAt' }
  for (const expiresAt of [null, at(NOW + 60_001)])
    await expect(keys.change(old.id, { expiresAt })).rejects.toMatchObject(refused)
  vi.setSystemTime(NOW + DAY_MS)
  await expect(keys.change(old.id, { expiresAt: at(NOW + 2 * DAY_MS) })).rejects.toMatchObject(
    refused,
  )
  expect(await find(old.id)).toEqual(ended)
  await keys.change(old.id, { label: 'Ended', expiresAt: at(NOW + 1) })
  expect(await find(old.id)).toMatchObject({ label: 'Ended', expiresAt: at(NOW + 1) })
})

test('changes only what is named; null removes a setting', async () => {
  const { key } = await keys.create(FULL)
  const changed = await keys.change(key.id, { label: null, scopes: ['verify'], expiresAt: null })
  const { label: _, expiresAt: __, ...rest } = key
  expect(changed).toEqual({ ...rest, scopes: ['verify'] })
  expect(await keys.list()).toEqual([changed])
})

test('refuses categories for a key that can make keys without them', async () => {
  const refused = { code: 'bad_fields', field: 'categories' }
  await expect(keys.create({ ...FULL, scopes: ['admin'] })).rejects.toMatchObject(refused)
  const { key } = await keys.create(FULL)
  await expect(keys.change(key.id, { scopes: ['admin'] })).rejects.toMatchObject(refused)
  expect(await keys.list()).toEqual([key])
})

test('reports an unknown key', async () => {
  const unknown = { code: 'not_found' }
  await expect(keys.rotate('nobody', { overlapSeconds: 0 })).rejects.toMatchObject(unknown)
  await expect(keys.change('nobody', {})).rejects.toMatchObject(unknown)
  await expect(keys.revoke('nobody')).rejects.toMatchObject(unknown)
})

test('a revoked key is removed', async () => {
  const { key } = await keys.create(SETTINGS)
  await keys.revoke(key.id)
  expect(await keys.list()).toEqual([])
  await expect(keys.revoke(key.id)).rejects.toMatchObject({ code: 'not_found' })
})

test('imports a secret once, and replaces the one before it', async () => {
  await keys.adopt('environment', 'first', SETTINGS)
  await keys.change('environment', { label: 'kept' })
  await keys.adopt('environment', 'first', SETTINGS)
  expect(await keys.list()).toMatchObject([{ digest: digestOf('first'), label: 'kept' }])
  await keys.adopt('environment', 'second', SETTINGS)
  expect(await keys.list()).toMatchObject([{ id: 'environment', digest: digestOf('second') }])
})
