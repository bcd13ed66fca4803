import { afterEach, describe, expect, test, vi } from 'vitest'
import { createRpcPool, type RpcPool } from '#chain/rpc.ts'
import { bodyOf, serveHttp, type TestServer } from '../../../support/http.ts'

type RpcError = { code: number; message: string; data?: string }
type Said = { result: unknown } | { error: RpcError } | 'nothing'
/** @returns What a node says to a call. */
type Says = (method: string) => Said

const OK: Said = { result: '0x1' }
const error = (code: number, message: string, data?: string): Said => ({
  error: { code, message, ...(data !== undefined && { data }) },
})
const SICK = error(-32603, 'Internal error')

const servers: TestServer[] = []
let pool: RpcPool
afterEach(async () => {
  vi.useRealTimers()
  await pool.close()
  for (const { close } of servers.splice(0)) await close()
})

/** @returns A pool of these nodes, and the methods that each was asked but for its head. */
async function open(...nodes: Says[]): Promise<string[][]> {
  const asked = nodes.map(() => [] as string[])
  for (const [i, says] of nodes.entries())
    servers.push(
      await serveHttp(async (request, response) => {
        const { id, method } = JSON.parse(await bodyOf(request)) as { id: unknown; method: string }
        if (method !== 'eth_blockNumber') asked[i]?.push(method)
        const said = method === 'eth_blockNumber' ? OK : says(method)
        if (said === 'nothing') response.destroy()
        else response.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }))
      }),
    )
  pool = createRpcPool(
    servers.map(({ url }) => url),
    1_000,
  )
  return asked
}
const ask = (method: string) => pool.request({ method, params: [] })

describe('what counts as the answer to a call', () => {
  test.each<[string, Said, string]>([
    ['a revert', error(3, 'execution reverted'), 'eth_call'],
    ['a revert of Nethermind', error(-32015, 'VM execution error.'), 'eth_call'],
    ['a revert with its data', error(-32000, 'error', '0x08c379a0'), 'eth_call'],
    ['a revert in words', error(-32000, 'execution reverted: no'), 'eth_estimateGas'],
    ['invalid parameters', error(-32602, 'invalid argument 0'), 'eth_getLogs'],
    ['missing funds', error(-32000, 'insufficient funds for transfer'), 'eth_estimateGas'],
    ['the rejection of a pool', error(-32003, 'rejected'), 'eth_estimateGas'],
  ])('%s', async (_, said, method) => {
    const asked = await open(
      () => said,
      () => OK,
    )
    await expect(ask(method)).rejects.toMatchObject((said as { error: RpcError }).error)
    expect(asked).toEqual([[method], []])
  })

  test.each([
    [-32600, 'App is inactive'],
    [-32601, 'the method eth_sendRawTransaction does not exist'],
    [-32603, 'Internal error'],
    [-32001, 'Unable to complete request at this time'],
    [-32046, 'Cannot fulfill request'],
    [-32005, 'limit exceeded'],
    [-32000, 'missing trie node 8f3c (path )'],
    [-32000, 'transaction indexing is in progress'],
    [4444, 'pruned history unavailable'],
  ])('error %i %s sends the call to the next node', async (code, message) => {
    const asked = await open(
      () => error(code, message),
      () => OK,
    )
    for (const method of ['eth_call', 'eth_getTransactionReceipt', 'eth_sendRawTransaction'])
      expect(await ask(method)).toBe('0x1')
    expect(asked[1]).toHaveLength(3)
  })

  test('returns the error of all nodes, and then prefers none', async () => {
    const asked = await open(
      () => error(-32601, 'unknown method'),
      () => error(-32601, 'not found'),
    )
    for (const _ of [1, 2])
      await expect(ask('eth_call')).rejects.toMatchObject({ message: 'unknown method' })
    expect(asked.map((methods) => methods.length)).toEqual([2, 2])
  })
})

describe('a node whose calls fail', () => {
  test('comes last for all calls', async () => {
    const asked = await open(
      (method) => (method === 'eth_call' ? SICK : OK),
      () => OK,
    )
    for (const _ of [1, 2, 3]) expect(await ask('eth_call')).toBe('0x1')
    expect(await ask('eth_getBlockByNumber')).toBe('0x1')
    expect(asked[0]).toEqual(['eth_call'])
  })

  test('that is silent comes last as well', async () => {
    const asked = await open(
      () => 'nothing',
      () => OK,
    )
    for (const _ of [1, 2, 3]) expect(await ask('eth_call')).toBe('0x1')
    expect(asked[0]).toEqual(['eth_call'])
  })

  test('comes last only for proofs and logs if it lacks those', async () => {
    const asked = await open(
      (method) => (/Proof|Logs/.test(method) ? error(-32601, 'not supported') : OK),
      () => OK,
    )
    const methods = ['eth_getProof', 'eth_getLogs', 'eth_call']
    for (const method of [...methods, ...methods]) expect(await ask(method)).toBe('0x1')
    expect(asked[0]).toEqual([...methods, 'eth_call'])
  })

  test('is still asked when all others fail', async () => {
    let second: Said = OK
    await open(
      (method) => (method === 'eth_call' ? SICK : { result: '0xa' }),
      () => second,
    )
    await ask('eth_call')
    second = 'nothing'
    expect(await ask('eth_chainId')).toBe('0xa')
  })

  test('comes first again once it has answered a probe', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    let first = SICK
    const asked = await open(
      () => first,
      () => OK,
    )
    await ask('eth_call')
    vi.advanceTimersByTime(6_000)
    for (const _ of [1, 2, 3]) expect(await ask('eth_call')).toBe('0x1')
    await expect.poll(() => asked[0]?.length).toBe(2)
    first = { result: '0xa' }
    vi.advanceTimersByTime(6_000)
    expect(await ask('eth_call')).toBe('0x1')
    await expect.poll(() => ask('eth_call')).toBe('0xa')
  })
})

describe('a transaction', () => {
  const send = () => ask('eth_sendRawTransaction')

  test('counts as accepted when one node accepts it, whatever the others say', async () => {
    await open(
      () => error(-32000, 'insufficient funds for gas * price + value'),
      () => OK,
    )
    expect(await send()).toBe('0x1')
  })

  test('is refused with the text of a pool, not with the error of a failing node', async () => {
    await open(
      () => SICK,
      () => error(-32000, 'nonce too low'),
    )
    await expect(send()).rejects.toMatchObject({ message: 'nonce too low' })
  })

  test('is not refused while a node is silent and another one fails', async () => {
    await open(
      () => SICK,
      () => 'nothing',
    )
    await expect(send()).rejects.not.toMatchObject({ code: -32603 })
  })
})
