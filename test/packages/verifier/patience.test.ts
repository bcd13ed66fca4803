import { expect, test } from 'vitest'
import { HttpStatusError } from '#verifier/errors.ts'
import type { BlockRead } from '#verifier/ports.ts'
import { patientSource } from '#verifier/readers/patience.ts'

const HASH = new Uint8Array(32)

test('many requests pause together, as long as the source asks', async () => {
  const waits: number[] = []
  /** The requests that the source answers before it refuses the next ones. */
  let quota = 0
  const found: BlockRead = { status: 'found', bytes: HASH }
  const source = patientSource(
    {
      async get() {
        if (quota-- > 0) return found
        throw new HttpStatusError(429, 1_500)
      },
    },
    async (ms) => {
      waits.push(ms)
      quota = 40
    },
  )
  const reads = await Promise.all(Array.from({ length: 100 }, () => source.get(HASH)))
  expect(reads.every((read) => read === found)).toBe(true)
  expect(waits).toEqual([1_500, 1_500, 1_500])
})

test('waits once for a source that never answers', async () => {
  let waited = 0
  let asked = 0
  const source = patientSource(
    {
      async get() {
        asked++
        throw new HttpStatusError(503)
      },
    },
    async (ms) => {
      waited += ms
    },
  )
  for (let i = 0; i < 50; i++) await expect(source.get(HASH)).rejects.toThrow('HTTP 503')
  expect(waited).toBe(500 * (1 + 2 + 4 + 8 + 16 + 32) + 2 * 30_000)
  expect(asked).toBe(50 + 8)

  // Nothing asks for a pause after a time-out.
  const silent = patientSource({ get: () => Promise.reject(new Error('timeout')) }, async () => {
    throw new Error('waits')
  })
  await expect(silent.get(HASH)).rejects.toThrow('timeout')
})
