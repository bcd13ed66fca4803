import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLastUses } from '#keys/last-uses.ts'
import type { ApiKey } from '#keys/ports.ts'

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
afterEach(() => {
  vi.useRealTimers()
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

test('default: writes the use of several keys together, after a second', async () => {
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

test('behavior: writes a key in use once a minute', async () => {
  const { uses, written } = open()
  for (let second = 0; second < 120; second++) {
    // A new object, as after a change of any key.
    uses.note(keyOf('a'))
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(written).toEqual([[['a', at(NOW)]], [['a', at(NOW + 60_000)]]])
})

test('behavior: writes nothing when the stored use is less than a minute old', async () => {
  const { uses, written } = open()
  uses.note(keyOf('a', at(NOW - 59_000)))
  await uses.stop()
  expect(written).toEqual([])
})

test('behavior: writes what has gathered when it is stopped', async () => {
  const { uses, written } = open()
  uses.note(keyOf('a'))
  await uses.stop()
  expect(written).toEqual([[['a', at(NOW)]]])
})

test('error: a use that cannot be written is reported', async () => {
  const failure = new Error('disk full')
  const { uses, errors } = open(failure)
  uses.note(keyOf('a'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(errors).toEqual([failure])
})
