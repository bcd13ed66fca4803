import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { LocalChainOptions } from '#local-chain/local-chain.ts'
import { startLocalChainThread } from '#local-chain/thread.ts'
import { start as startHere, tempDir } from './testkit.ts'

const start = (options: Partial<LocalChainOptions> = {}, dataDir = tempDir()) =>
  startHere(dataDir, options, startLocalChainThread)

const ask = (method: string, params: unknown[] = []) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

test('answers from within and on its port, each request with its own answer', async () => {
  const address = `0x${'12'.repeat(20)}`
  const { send, url } = await start({ fund: [address] })
  const [chain, balance] = await Promise.all([
    send(ask('eth_chainId')),
    send(ask('eth_getBalance', [address, 'latest'])),
  ])
  expect(JSON.parse(chain).result).toBe('0x7a69')
  expect(BigInt(JSON.parse(balance).result)).toBe(10n ** 24n)
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: ask('eth_chainId'),
  })
  expect(await response.json()).toMatchObject({ result: '0x7a69' })
})

test('stops, also twice at once, and restores its state at the next start', async () => {
  const dataDir = tempDir()
  const address = `0x${'34'.repeat(20)}`
  const first = await start({ fund: [address] }, dataDir)
  await Promise.all([first.stop(), first.stop()])
  await expect(fetch(first.url)).rejects.toThrow()
  await expect(first.send(ask('eth_chainId'))).rejects.toThrow('has ended')
  const { send } = await start({}, dataDir)
  const { result } = JSON.parse(await send(ask('eth_getBalance', [address, 'latest'])))
  expect(BigInt(result)).toBe(10n ** 24n)
})

test('reports a port in use with its code', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await expect(start({ port })).rejects.toMatchObject({
    name: 'LocalChainError',
    code: 'port_taken',
    message: expect.stringContaining(String(port)),
  })
})

test('refuses a folder that another chain uses', async () => {
  const dataDir = tempDir()
  await start({}, dataDir)
  await expect(start({}, dataDir)).rejects.toMatchObject({
    code: 'data_dir_in_use',
  })
})
