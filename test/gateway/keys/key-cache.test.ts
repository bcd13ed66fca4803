import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createKeyCache, createLastUses } from '#keys/key-cache.ts'
import { createKeys, type Keys } from '#keys/keys.ts'
import type { ApiKey, KeyReader } from '#keys/ports.ts'
import type { KeySettings } from '#keys/settings.ts'
import { type KeyFolder, makeKeyFolder } from '../../support/key-file.ts'

const SETTINGS: KeySettings = { scopes: ['verify'], tenant: 'default' }

let folder: KeyFolder
/** What another process changes. */
let elsewhere: Keys
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.UTC(2026, 0, 31) })
  folder = makeKeyFolder()
  elsewhere = createKeys(folder.open())
})
afterEach(() => {
  vi.useRealTimers()
  folder.remove()
})

/** A cache that counts its reads, and whose store can be made to fail. */
function openCache() {
  const store = folder.open()
  const seen = { versions: 0, lists: 0, used: [] as string[], errors: [] as unknown[] }
  let failure: Error | undefined
  const reader: KeyReader = {
    version() {
      seen.versions++
      return failure ? Promise.reject(failure) : store.version()
    },
    list() {
      seen.lists++
      return store.list()
    },
  }
  const { find, poll } = createKeyCache(
    reader,
    ({ id }) => seen.used.push(id),
    (error) => seen.errors.push(error),
  )
  return {
    find,
    poll,
    seen,
    fail(error: Error | undefined) {
      failure = error
    },
  }
}

test('finds a key by its secret, and records its use', async () => {
  const { key, secret } = await elsewhere.create(SETTINGS)
  const { find, seen } = openCache()
  expect(await find(secret)).toMatchObject({ id: key.id, ...SETTINGS })
  expect(await find('drk_unknown')).toBeUndefined()
  expect(seen.used).toEqual([key.id])
})

test('does not read a known key again within a second', async () => {
  const { secret } = await elsewhere.create(SETTINGS)
  const { find, seen } = openCache()
  await find(secret)
  const before = { ...seen }
  vi.advanceTimersByTime(900)
  for (let i = 0; i < 100; i++) await find(secret)
  expect(seen).toMatchObject({ versions: before.versions, lists: before.lists })
  vi.advanceTimersByTime(200)
  await find(secret)
  // Nothing has changed, so the keys are not read.
  expect(seen).toMatchObject({ versions: before.versions + 1, lists: before.lists })
})

test('finds a key that another process has just made', async () => {
  const { find } = openCache()
  expect(await find('drk_unknown')).toBeUndefined()
  const { secret } = await elsewhere.create(SETTINGS)
  expect(await find(secret)).toBeDefined()
})

test('sees a revocation or change by another process after a second', async () => {
  const [revoked, changed] = [await elsewhere.create(SETTINGS), await elsewhere.create(SETTINGS)]
  const { find } = openCache()
  for (const { secret } of [revoked, changed]) expect(await find(secret)).toBeDefined()
  await elsewhere.revoke(revoked.key.id)
  await elsewhere.change(changed.key.id, { scopes: ['documents:read'] })
  vi.advanceTimersByTime(1_001)
  expect(await find(revoked.secret)).toBeUndefined()
  expect(await find(changed.secret)).toMatchObject({ scopes: ['documents:read'] })
})

test('sees every change at once after a poll', async () => {
  const { key, secret } = await elsewhere.create(SETTINGS)
  const { find, poll } = openCache()
  await find(secret)
  await elsewhere.revoke(key.id)
  await poll()
  expect(await find(secret)).toBeUndefined()
})

test('a key ends at its expiry, without another read', async () => {
  const expiresAt = new Date(Date.now() + 500).toISOString()
  const { secret } = await elsewhere.create({ ...SETTINGS, expiresAt })
  const { find } = openCache()
  expect(await find(secret)).toBeDefined()
  vi.advanceTimersByTime(500)
  expect(await find(secret)).toBeUndefined()
})

test('both keys are valid during the overlap of a rotation, then only the new one', async () => {
  const old = await elsewhere.create(SETTINGS)
  const made = await elsewhere.rotate(old.key.id, { overlapSeconds: 60 })
  const { find } = openCache()
  vi.advanceTimersByTime(59_000)
  expect(await find(old.secret)).toBeDefined()
  expect(await find(made.secret)).toBeDefined()
  vi.advanceTimersByTime(1_000)
  expect(await find(old.secret)).toBeUndefined()
  expect(await find(made.secret)).toBeDefined()
})

test('an outage keeps known keys valid, and no key is reported as unknown', async () => {
  const { secret } = await elsewhere.create(SETTINGS)
  const { find, seen, fail } = openCache()
  await find(secret)
  const outage = new Error('the disk is gone')
  fail(outage)
  vi.advanceTimersByTime(1_001)
  expect(await find(secret)).toBeDefined()
  expect(seen.errors).toEqual([outage])
  await expect(find('drk_new')).rejects.toBe(outage)
  fail(undefined)
  expect(await find('drk_new')).toBeUndefined()
})

test('reports an outage once a minute at most', async () => {
  const { secret } = await elsewhere.create(SETTINGS)
  const { find, seen, fail } = openCache()
  await find(secret)
  fail(new Error('the disk is gone'))
  for (let second = 0; second < 90; second++) {
    vi.advanceTimersByTime(1_001)
    await Promise.all(Array.from({ length: 20 }, () => find(secret)))
  }
  expect(seen.errors).toHaveLength(2)
})

test('many unknown keys share reads, none older than its request', async () => {
  const { find, seen } = openCache()
  const unknown = Array.from({ length: 50 }, (_, i) => find(`drk_${i}`))
  const { secret } = await elsewhere.create(SETTINGS)
  const known = find(secret)
  expect(await Promise.all(unknown)).toEqual(unknown.map(() => undefined))
  expect(await known).toBeDefined()
  expect(seen.versions).toBeLessThanOrEqual(4)
})

describe('last uses', () => {
  const NOW = Date.UTC(2026, 0, 31)
  const at = (milliseconds: number) => new Date(milliseconds).toISOString()
  const keyOf = (id: string, lastUsedAt?: string): ApiKey => ({
    id,
    tenant: 'default',
    scopes: ['verify'],
    digest: '',
    createdAt: at(NOW),
    ...(lastUsedAt !== undefined && { lastUsedAt }),
  })

  beforeEach(() => {
    vi.useFakeTimers({ now: NOW })
  })

  /** Last uses with what they write. */
  function open(failure?: Error) {
    const written: [string, string][][] = []
    const errors: unknown[] = []
    const uses = createLastUses(
      {
        async markUsed(times) {
          if (failure) throw failure
          written.push([...times])
        },
      },
      (error) => errors.push(error),
    )
    return { uses, written, errors }
  }

  test('writes the use of several keys together, after a second', async () => {
    const { uses, written } = open()
    uses.note(keyOf('a'))
    uses.note(keyOf('b'))
    expect(written).toEqual([])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(written).toEqual([
      [
        ['a', at(NOW)],
        ['b', at(NOW)],
      ],
    ])
  })

  test('writes a key in use once a minute', async () => {
    const { uses, written } = open()
    for (let second = 0; second < 120; second++) {
      // A new object, as after a change of any key.
      uses.note(keyOf('a'))
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(written).toEqual([[['a', at(NOW)]], [['a', at(NOW + 60_000)]]])
  })

  test('writes nothing when the stored use is less than a minute old', async () => {
    const { uses, written } = open()
    uses.note(keyOf('a', at(NOW - 59_000)))
    await uses.stop()
    expect(written).toEqual([])
  })

  test('writes pending uses when it stops', async () => {
    const { uses, written } = open()
    uses.note(keyOf('a'))
    await uses.stop()
    expect(written).toEqual([[['a', at(NOW)]]])
  })

  test('reports a use that cannot be written', async () => {
    const failure = new Error('disk full')
    const { uses, errors } = open(failure)
    uses.note(keyOf('a'))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(errors).toEqual([failure])
  })
})
