import { expect, test } from 'vitest'
import { ANSWER_TTL_MS, createIdentityCache, FAILURE_TTL_MS } from '#chain/identity-cache.ts'
import { parseRegistryId } from '#document/registry-id.ts'
import { createDidDocument, type IdentityAddress } from '#verifier/identity.ts'
import type { IdentityRead } from '#verifier/ports.ts'

const at = (host: string): IdentityAddress => ({
  did: `did:web:${host}`,
  url: `https://${host}/.well-known/did.json`,
  domain: host,
})
const EDU = at('example.edu')
const NOT_ASKED = { status: 'not_asked' }
const answer = (text: string): IdentityRead => ({
  status: 'found',
  bytes: new TextEncoder().encode(text),
})
const settle = () => new Promise((resolve) => setTimeout(resolve))

/** A source that answers on command, and a clock. */
function world() {
  const asked: { url: string; signal: AbortSignal | undefined }[] = []
  const waiting: ((read: IdentityRead | Error) => void)[] = []
  let time = 0
  const cache = createIdentityCache(
    {
      read: ({ url }, { signal } = {}) => {
        asked.push({ url, signal })
        return new Promise((resolve, reject) => {
          waiting.push((read) => (read instanceof Error ? reject(read) : resolve(read)))
        })
      },
    },
    () => time,
  )
  return {
    cache,
    asked,
    answer: async (read: IdentityRead | Error) => {
      waiting.shift()?.(read)
      await settle()
    },
    pass: (milliseconds: number) => {
      time += milliseconds
    },
  }
}

test('answers "not asked" until it knows, then remembers for an hour', async () => {
  const { cache, asked, answer: give, pass } = world()
  expect(await cache.read(EDU)).toEqual(NOT_ASKED)
  expect(await cache.read(EDU)).toEqual(NOT_ASKED)
  expect(asked).toHaveLength(1)
  await give(answer('1'))
  expect(await cache.read(EDU)).toEqual(answer('1'))
  pass(ANSWER_TTL_MS - 1)
  expect(await cache.read(EDU)).toEqual(answer('1'))
  expect(asked).toHaveLength(1)
  pass(1)
  expect(await cache.read(EDU)).toEqual(NOT_ASKED)
  await give(answer('2'))
  expect(await cache.read(EDU)).toEqual(answer('2'))
})

test('remembers a failure for a minute, not as a denial', async () => {
  const { cache, asked, answer: give, pass } = world()
  await cache.read(EDU)
  await give(new Error('down'))
  await expect(cache.read(EDU)).rejects.toThrow('the domain cannot be reached')
  pass(FAILURE_TTL_MS - 1)
  await expect(cache.read(EDU)).rejects.toThrow()
  expect(asked).toHaveLength(1)
  pass(1)
  expect(await cache.read(EDU)).toEqual(NOT_ASKED)
  await give(answer('1'))
  expect(await cache.read(EDU)).toEqual(answer('1'))
})

test('refreshing asks again at once, with one request for all callers', async () => {
  const { cache, asked, answer: give } = world()
  await cache.read(EDU)
  const both = Promise.all([cache.refresh(EDU), cache.refresh(EDU)])
  await give(answer('1'))
  expect(await both).toEqual([answer('1'), answer('1')])
  expect(asked).toHaveLength(1)
  const again = cache.refresh(EDU)
  await give(answer('2'))
  expect(await again).toEqual(answer('2'))
  expect(await cache.read(EDU)).toEqual(answer('2'))
})

test('keeps domains apart', async () => {
  const { cache, answer: give } = world()
  await cache.read(EDU)
  await cache.read(at('example.org'))
  await give(answer('edu'))
  expect(await cache.read(at('example.org'))).toEqual(NOT_ASKED)
  await give(answer('org'))
  expect(await cache.read(EDU)).toEqual(answer('edu'))
  expect(await cache.read(at('example.org'))).toEqual(answer('org'))
})

test('limits the domains that it remembers and asks at once', async () => {
  const { cache, asked, answer: give } = world()
  for (let i = 0; i < 100; i++) await cache.read(at(`${i}.example.org`))
  expect(asked).toHaveLength(8)
  for (let i = 0; i < 8; i++) await give(answer('x'))
  for (let i = 0; i < 1_000; i++) {
    await cache.read(at(`a${i}.example.org`))
    await give(answer('x'))
  }
  // The first ones are evicted.
  expect(await cache.read(at('0.example.org'))).toEqual(NOT_ASKED)
  expect(await cache.read(at('a999.example.org'))).toEqual(answer('x'))
})

test('stopping aborts the requests under way', async () => {
  const { cache, asked } = world()
  await cache.read(EDU)
  cache.stop()
  expect(asked[0]?.signal?.aborted).toBe(true)
})

test('reads a DID document once, and keeps a malformed one unchanged', async () => {
  const { cache, answer: give } = world()
  const { did } = EDU
  const { registry } = parseRegistryId(`eip155:1:0x${'ab'.repeat(20)}`)
  const good = answer(JSON.stringify(createDidDocument({ did, registry, issuerId: 7 })))
  await cache.read(EDU)
  await give(good)
  const statement = { registries: [{ registry, issuerId: 7 }], accounts: [], keys: [] }
  expect(await cache.read(EDU)).toEqual({ ...good, statement })
  const other = at('example.org')
  await cache.read(other)
  await give(good)
  expect(await cache.read(other)).toEqual(good)
})
