import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRpcPool, type RpcPool } from '#chain/rpc.ts'
import { limitCalls } from '../support/rpc-proxy.ts'
import { ADA, type Stack, startStack } from '../support/stack.ts'

// Nodes of providers, which answer only so many calls a second.

let stack: Stack
beforeEach(async () => {
  stack = await startStack()
})
afterEach(() => stack.stop())

test('issues and verifies with ten calls a second, and no request fails', async () => {
  const { proxy } = stack
  const counts = limitCalls(proxy, 10)
  const statuses = new Map<number, number>()
  const requests = Array.from({ length: 40 }, async (_, i) => {
    await sleep(100 * i)
    const issued = await stack.issue({ ...ADA, subjectId: `${i}` })
    const { publicId } = issued.body.data
    const verified = await stack.verify(publicId)
    for (const { status } of [issued, verified])
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
  })
  await Promise.all(requests)
  expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([])
  expect(counts.refused).toBeGreaterThan(0)
  // A gateway that went on at its own pace would be refused most of its calls.
  expect(counts.refused).toBeLessThan(proxy.asked.length / 2)
})

test('sends nothing while the node asks for a pause', async () => {
  const { proxy } = stack
  const pool = createRpcPool([proxy.url], 5_000)
  proxy.limit = () => ({ status: 429, headers: { 'retry-after': '1' } })
  const asked = () => proxy.asked.filter((method) => method === 'eth_chainId').length
  const before = asked()
  const read = pool.request({ method: 'eth_chainId' })
  await expect.poll(asked).toBe(before + 1)
  proxy.limit = () => undefined
  const begun = performance.now()
  expect(await read).toBe('0x7a69')
  expect(performance.now() - begun).toBeGreaterThan(800)
  await pool.close()
})

test('uses another node meanwhile', async () => {
  const { proxy } = stack
  proxy.limit = () => ({ status: 429, headers: { 'retry-after': '60' } })
  const pool = createRpcPool([proxy.url, stack.chainUrl], 5_000)
  expect(await pool.request({ method: 'eth_chainId' })).toBe('0x7a69')
  const asked = proxy.asked.length
  expect(await pool.request({ method: 'eth_chainId' })).toBe('0x7a69')
  expect(proxy.asked.slice(asked)).not.toContain('eth_chainId')
  await pool.close()
})

test('pauses for at most a minute, whatever the node asks for', async () => {
  const { proxy } = stack
  proxy.limit = () => ({ status: 429, headers: { 'retry-after': '999999999' } })
  const pool = createRpcPool([proxy.url], 500)
  for (const retryAfter of [expect.any(Number), expect.closeTo(60_000, -4)])
    await expect(pool.request({ method: 'eth_chainId' })).rejects.toMatchObject({ retryAfter })
  await pool.close()
})

test('fails at once when the pause is longer than the time limit', async () => {
  const { proxy } = stack
  proxy.limit = () => ({ status: 429, headers: { 'retry-after': '60' } })
  const pool = createRpcPool([proxy.url], 500)
  const failed = (request: Promise<unknown>) =>
    expect(request).rejects.toMatchObject({ status: 429, retryAfter: expect.closeTo(60_000, -4) })
  await failed(pool.request({ method: 'eth_chainId' }))
  await failed(pool.request({ method: 'eth_sendRawTransaction', params: ['0x'] }))
  expect(proxy.asked).not.toContain('eth_sendRawTransaction')
  await pool.close()
})

test('recognises refusals that are JSON-RPC errors', async () => {
  const { proxy } = stack
  let pool: RpcPool | undefined
  for (const message of [
    'Too Many Requests',
    'daily request limit reached - upgrade your account',
  ]) {
    pool = createRpcPool([proxy.url], 5_000)
    const before = proxy.asked.length
    proxy.fail = (method) =>
      method === 'eth_chainId' && proxy.asked.length < before + 3
        ? { code: -32_005, message }
        : undefined
    expect(await pool.request({ method: 'eth_chainId' })).toBe('0x7a69')
    await pool.close()
  }
})
