import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createEndpointOrder } from '#chain/endpoint-order.ts'
import { createRpcPool, type RpcPool } from '#chain/rpc.ts'
import { bodyOf, serveHttp, type TestServer } from '../../../support/http.ts'

describe('order of endpoints', () => {
  let heads: Record<string, number | undefined>
  let looks: number
  const open = () =>
    createEndpointOrder(['first', 'second', 'third'], async (name) => {
      looks++
      const head = heads[name]
      if (head === undefined) throw new Error('down')
      return head
    })
  beforeEach(() => {
    looks = 0
    vi.useFakeTimers({ toFake: ['performance'] })
  })
  afterEach(() => void vi.useRealTimers())

  /** The order after the look that this call starts. */
  async function lookedAt({ current }: ReturnType<typeof open>) {
    vi.advanceTimersByTime(10_000)
    current()
    await new Promise((resolve) => setImmediate(resolve))
    return current()
  }

  test('keeps the configured order among endpoints at the head', async () => {
    heads = { first: 99, second: 100, third: 101 }
    const order = open()
    expect(order.current()).toEqual(['first', 'second', 'third'])
    expect(await lookedAt(order)).toEqual(['first', 'second', 'third'])
  })

  test('puts an endpoint that is stuck last, until it has caught up', async () => {
    heads = { first: 90, second: 100, third: 100 }
    const order = open()
    expect(await lookedAt(order)).toEqual(['second', 'third', 'first'])
    heads.first = 100
    expect(await lookedAt(order)).toEqual(['first', 'second', 'third'])
  })

  test('puts an endpoint last that is stuck a block behind, not one that advances', async () => {
    heads = { first: 99, second: 99, third: 100 }
    const order = open()
    expect(await lookedAt(order)).toEqual(['first', 'second', 'third'])
    heads = { first: 99, second: 100, third: 101 }
    expect(await lookedAt(order)).toEqual(['second', 'third', 'first'])
  })

  test('puts an endpoint that does not answer last', async () => {
    heads = { first: undefined, second: 90, third: 100 }
    expect(await lookedAt(open())).toEqual(['third', 'first', 'second'])
  })

  test('puts an endpoint last that invents its head, when two others agree', async () => {
    heads = { first: 9e15, second: 100, third: 100 }
    const order = open()
    expect(await lookedAt(order)).toEqual(['second', 'third', 'first'])
    expect(await lookedAt(order)).toEqual(['second', 'third', 'first'])
  })

  test('puts an endpoint last that begins to invent its head', async () => {
    heads = { first: 100, second: 100 }
    const order = open()
    await lookedAt(order)
    heads = { first: 9e15, second: 101 }
    expect(await lookedAt(order)).toEqual(['second', 'first', 'third'])
  })

  test('prefers, after a while, one that is far ahead of two that are stuck', async () => {
    heads = { first: 90, second: 90, third: 2_500 }
    const order = open()
    expect(await lookedAt(order)).toEqual(['first', 'second', 'third'])
    await lookedAt(order)
    expect(await lookedAt(order)).toEqual(['third', 'first', 'second'])
  })

  test('keeps the order when no endpoint answers', async () => {
    heads = {}
    expect(await lookedAt(open())).toEqual(['first', 'second', 'third'])
  })

  test('reads the heads once for all requests of two seconds', async () => {
    heads = { first: 1, second: 1, third: 1 }
    const order = open()
    await lookedAt(order)
    const before = looks
    for (let request = 0; request < 100; request++) order.current()
    expect(looks).toBe(before)
  })
})

describe('looking up a transaction by its hash', () => {
  const servers: TestServer[] = []
  let pool: RpcPool
  afterEach(async () => {
    await pool.close()
    for (const { close } of servers.splice(0)) await close()
  })

  /** Nodes that give this answer to every call; `undefined` = no answer. */
  async function find(...answers: unknown[]): Promise<unknown> {
    for (const result of answers)
      servers.push(
        await serveHttp(async (request, response) => {
          const { id } = JSON.parse(await bodyOf(request)) as { id: unknown }
          if (result === undefined) response.destroy()
          else response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
        }),
      )
    pool = createRpcPool(
      servers.map(({ url }) => url),
      60_000,
    )
    return pool.request({ method: 'eth_getTransactionByHash', params: ['0x'] })
  }
  const transaction = { hash: '0x' }

  test('finds it if one node has it', async () => {
    expect(await find(null, transaction, null)).toEqual(transaction)
  })
  test('reports it missing when no answering node has it', async () => {
    expect(await find(null, undefined)).toBeNull()
  })
  test('reports it unknown when no node answers', async () => {
    await expect(find(undefined, undefined)).rejects.toThrow()
  })
})

test('switches to the next node when one never ends its answer', async () => {
  const endless = await serveHttp((_, response) => {
    const chunk = Buffer.alloc(1 << 20, ' ')
    const send = () => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', send)
    }
    send()
  })
  const other = await serveHttp(async (request, response) => {
    const { id } = JSON.parse(await bodyOf(request)) as { id: unknown }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
  })
  // Longer than the test's timeout, so that only the size limit can end it.
  const pool = createRpcPool([endless.url, other.url], 600_000)
  try {
    expect(await pool.request({ method: 'eth_chainId' })).toBe('0x1')
  } finally {
    await pool.close()
    await endless.close()
    await other.close()
  }
})
