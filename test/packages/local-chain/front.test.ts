import { describe, expect, test, vi } from 'vitest'
import { localAnvil } from '../../support/anvil.ts'
import {
  type Answer,
  account,
  ask,
  call,
  devAccount,
  killAnvil,
  post,
  receipt,
  start,
  startProcess,
  tempDir,
} from './testkit.ts'

// On a busy machine the start of a process takes seconds, and some tests start twenty.
vi.setConfig({ testTimeout: 120_000 })
describe("the chain's server", () => {
  const raw = (id: unknown, method: string, ...params: unknown[]) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params })

  test('returns the answers and errors of Anvil', async () => {
    const dir = tempDir()
    const { url } = await start(dir)
    const port = localAnvil(dir)?.port
    const from = devAccount()
    const spent = await from.transfer()
    await call(url, 'eth_sendRawTransaction', spent)
    const bodies = [
      raw('x', 'eth_chainId'),
      raw(2, 'eth_getBlockByNumber', '0x1', true),
      raw(12345, 'eth_sendRawTransaction', spent),
      raw('y', 'eth_sendRawTransaction', '0x1234'),
      raw(4, 'eth_sendRawTransaction', await from.sign({ to: from.address, gasLimit: 17_000_000 })),
      raw(4, 'eth_sendRawTransaction', await from.sign({ to: from.address, value: 10n ** 30n })),
      raw(6, 'eth_sendTransaction', {
        from: `0x${'12'.repeat(20)}`,
        to: from.address,
      }).replace('eth_sendTransaction', 'eth_signTransaction'),
      `[${raw(1, 'eth_chainId')},${raw(2, 'eth_getBalance', 'nobody')}]`,
      '{"jsonrpc":"2.0","method":"eth_chainId"}',
      '{"jsonrpc":"2.0","id":8,"method":"eth_chainId","params":null}',
    ]
    for (const body of bodies) {
      const [ours, anvils] = [await post(url, body), await post(`http://127.0.0.1:${port}`, body)]
      expect([body, ours.status, await ours.text()]).toEqual([
        body,
        anvils.status,
        await anvils.text(),
      ])
    }
  })

  test.for([
    ['junk', -32700],
    [`\ufeff${raw(1, 'eth_chainId')}`, -32700],
    [`${raw(1, 'eth_chainId')}{}`, -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"evm_mine","method":"x"}', -32700],
    ['[]', -32600],
    ['7', -32600],
    [raw({}, 'eth_chainId'), -32600],
    [raw(2 ** 53, 'eth_chainId'), -32600],
    ['{"id":1,"method":"eth_chainId"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"eth_chainId","x":1}', -32600],
    ['{"jsonrpc":"2.0","method":"evm_mine"}', -32600],
    [raw(1, 'eth_chainid'), -32601],
    [raw(1, 'eth_sendRawTransaction'), -32602],
    [raw(1, 'eth_sendRawTransaction', [2, 1]), -32602],
    [raw(1, 'anvil_setBalance', `0x${'12'.repeat(20)}`, 'all'), -32602],
    [raw(1, 'anvil_setBalance', `0x${'12'.repeat(20)}`, ['0x1']), -32602],
    [raw(1, 'evm_increaseTime', 2 ** 40), -32602],
    [raw(1, 'evm_increaseTime', [1]), -32602],
    [raw(1, 'evm_mine', 5), -32602],
    [raw(1, 'anvil_mine', 1_000, 2 ** 31), -32602],
  ] as const)('refuses %j itself', async ([body, code]) => {
    const response = await post((await start(tempDir())).url, body)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ error: { code } })
  })

  test.for(['application/x+json', 'text/plain', 'application/x-www-form-urlencoded'])(
    'refuses a body of the type %s',
    async (type) => {
      const { url } = await start(tempDir())
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': type },
        body: raw(1, 'eth_chainId'),
      })
      expect(response.status).toBe(415)
      expect(await response.json()).toMatchObject({ error: { code: -32600 } })
    },
  )

  test('accepts a Content-Type in upper case or with a charset', async () => {
    const { url } = await start(tempDir())
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'Application/JSON; charset=utf-8' },
      body: raw(1, 'eth_chainId'),
    })
    expect(await response.json()).toMatchObject({ result: '0x7a69' })
  })

  test('refuses a list in a batch, and answers the rest', async () => {
    const { url } = await start(tempDir())
    const batch = `[${raw(1, 'evm_mine')},[${raw(2, 'evm_mine')}],${raw(3, 'eth_blockNumber')}]`
    expect(await (await post(url, batch)).json()).toMatchObject([
      { id: 1, result: '0x0' },
      { id: null, error: { code: -32600 } },
      { id: 3, result: '0x1' },
    ])
  })

  test('executes a batch with transactions in order', async () => {
    const { url } = await start(tempDir())
    const from = devAccount()
    const batch = [
      raw('a', 'eth_blockNumber'),
      raw('b', 'eth_sendRawTransaction', await from.transfer()),
      raw(3, 'eth_blockNumber'),
      raw(4, 'anvil_setCode'),
    ]
    const answers = (await (await post(url, `[${batch.join()}]`)).json()) as Answer<string>[]
    expect(answers).toMatchObject(
      [
        { id: 'a', result: '0x0' },
        { id: 'b', result: /^0x/ },
        { id: 3, result: '0x1' },
        { id: 4, error: { code: -32601 } },
      ].map((answer) => (answer.id === 'b' ? { id: 'b' } : answer)),
    )
    expect(await receipt(url, answers[1]?.result ?? '')).toMatchObject({
      blockNumber: '0x1',
    })
  })

  test('lets a dev account send, and sets balances', async () => {
    const dir = tempDir()
    const first = await startProcess(dir)
    const [from] = await call<[string]>(first.url, 'eth_accounts')
    const to = account().address
    const hash = await call<string>(first.url, 'eth_sendTransaction', {
      from,
      to,
      value: '0x5',
    })
    expect(await ask(first.url, 'anvil_setBalance', account().address, '0x7')).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: null,
    })
    await call(first.url, 'hardhat_setBalance', to, '0x8')
    const found = await receipt(first.url, hash)
    killAnvil(dir)
    await first.kill()
    const second = await start(dir)
    expect(await receipt(second.url, hash)).toEqual(found)
    expect(await call(second.url, 'eth_getBalance', to, 'latest')).toBe('0x8')
  })

  test.for([
    'anvil_setCode',
    'anvil_setStorageAt',
    'evm_revert',
    'evm_snapshot',
    'anvil_impersonateAccount',
    'hardhat_reset',
    'eth_sendUnsignedTransaction',
    'odyssey_sendTransaction',
    'no_such_method',
  ])('refuses %s, because a restart would not restore it', async (method) => {
    const { url } = await start(tempDir())
    expect(await ask(url, method)).toMatchObject({
      id: 7,
      error: { code: -32601, message: expect.stringContaining(method) },
    })
  })

  test('refuses a request that is too large, and one that is not a POST', async () => {
    const { url } = await start(tempDir())
    expect((await post(url, raw(1, 'eth_chainId', '0'.repeat(3_000_000)))).status).toBe(413)
    expect((await fetch(url)).status).toBe(405)
  })

  test('serves many clients at once', async () => {
    const dir = tempDir()
    const { url } = await start(dir)
    const from = devAccount()
    const raws = await Promise.all(Array.from({ length: 100 }, () => from.transfer()))
    const answers = await Promise.all(
      raws.map((one) => call<string>(url, 'eth_sendRawTransaction', one)),
    )
    const receipts = await Promise.all(answers.map((hash) => receipt(url, hash)))
    expect(receipts.every((found) => found?.status === '0x1')).toBe(true)
  })
})
