import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { journalPath } from '#local-chain/journal.ts'
import { localAnvil } from '../../support/anvil.ts'
import {
  allBlocks,
  ask,
  call,
  devAccount,
  killAnvil,
  start,
  startProcess,
  tempDir,
} from './testkit.ts'

vi.setConfig({ testTimeout: 120_000 })

// Whatever is sent to the local chain, its state must change only by what the journal has: else the
// next start after a power cut brings back another chain, or none.

const ADDRESS = `0x${'12'.repeat(20)}`
const SLOT = `0x${'00'.repeat(32)}`
const TRANSFER = { from: ADDRESS, to: ADDRESS, value: '0x0' }

/** What changes an Anvil, by its own list of methods and aliases, with parameters that it takes. */
const CHANGES: readonly (readonly [string, unknown])[] = [
  ['evm_mine', []],
  ['evm_mine', [{ timestamp: 4_000_000_000, blocks: 1 }]],
  ['anvil_mine', ['0x1']],
  ['hardhat_mine', ['0x1']],
  ['evm_mine_detailed', []],
  ['anvil_mine_detailed', []],
  ['anvil_setBalance', [ADDRESS, '0x7']],
  ['hardhat_setBalance', [ADDRESS, '0x8']],
  ['tenderly_setBalance', [ADDRESS, '0x9']],
  ['anvil_addBalance', [ADDRESS, '0x9']],
  ['anvil_setCode', [ADDRESS, '0x60']],
  ['hardhat_setCode', [ADDRESS, '0x61']],
  ['anvil_setNonce', [ADDRESS, '0x7']],
  ['evm_setAccountNonce', [ADDRESS, '0x9']],
  ['anvil_setStorageAt', [ADDRESS, SLOT, `0x${'11'.repeat(32)}`]],
  ['anvil_setCoinbase', [ADDRESS]],
  ['anvil_setChainId', [7]],
  ['anvil_setMinGasPrice', ['0x7']],
  ['anvil_setNextBlockBaseFeePerGas', ['0x7']],
  ['anvil_setAutomine', [true]],
  ['evm_setAutomine', [true]],
  ['evm_setIntervalMining', [1]],
  ['anvil_setBlockTimestampInterval', [5]],
  ['evm_setNextBlockTimestamp', [4_000_000_000]],
  ['evm_setBlockGasLimit', ['0xffffff']],
  ['evm_increaseTime', [1]],
  ['anvil_increaseTime', [1]],
  ['evm_setTime', [4_000_000_000]],
  ['evm_snapshot', []],
  ['evm_revert', ['0x0']],
  ['anvil_reset', []],
  ['hardhat_reset', []],
  ['anvil_rollback', [1]],
  ['anvil_reorg', [1, []]],
  ['anvil_impersonateAccount', [ADDRESS]],
  ['anvil_autoImpersonateAccount', [true]],
  ['anvil_dropAllTransactions', []],
  ['eth_sendUnsignedTransaction', [TRANSFER]],
  ['wallet_sendTransaction', [TRANSFER]],
  ['odyssey_sendTransaction', [TRANSFER]],
]
const READS: readonly (readonly [string, unknown])[] = [
  ['eth_blockNumber', []],
  ['eth_getBalance', [ADDRESS, 'latest']],
  ['eth_call', [TRANSFER, 'pending']],
  ['anvil_nodeInfo', []],
  ['no_such_method', []],
]

type Sent = { headers: Record<string, string>; body: Buffer }
type Call = readonly [method: string, params: unknown]

const json = ([method, params]: Call, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const plain = (text: string, type = 'application/json'): Sent => ({
  headers: { 'content-type': type },
  body: Buffer.from(text),
})

/** Ways to write one call that a lenient or another parser may read as that call. */
const DISGUISES: Record<string, (call: Call) => Sent> = {
  'as it should be': (call) => plain(json(call)),
  'Application/JSON': (call) => plain(json(call), 'Application/JSON'),
  'application/x+json': (call) => plain(json(call), 'application/x+json'),
  'application/vnd.api+json': (call) => plain(json(call), 'application/vnd.api+json'),
  'text/plain': (call) => plain(json(call), 'text/plain'),
  'a space before the type': (call) => plain(json(call), ' application/json'),
  'a charset': (call) => plain(json(call), 'application/json; charset=utf-16'),
  'no type': (call) => ({ headers: {}, body: Buffer.from(json(call)) }),
  'a byte order mark': (call) => plain(`\ufeff${json(call)}`),
  'UTF-16': (call) => ({
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(json(call), 'utf16le'),
  }),
  'not UTF-8': (call) => ({
    headers: { 'content-type': 'application/json' },
    body: Buffer.concat([
      Buffer.from(json(call).slice(0, -1)),
      Buffer.from(',"x":"'),
      Buffer.of(0xff),
      Buffer.from('"}'),
    ]),
  }),
  gzip: (call) => ({
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: gzipSync(json(call)),
  }),
  'trailing bytes': (call) => plain(`${json(call)}\0`),
  'two values': (call) => plain(`${json(['eth_chainId', []])}${json(call)}`),
  'method twice, the read first': ([method, params]) =>
    plain(
      `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":${JSON.stringify(params)},"method":"${method}"}`,
    ),
  'method twice, the read last': ([method, params]) =>
    plain(
      `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${JSON.stringify(params)},"method":"eth_chainId"}`,
    ),
  'an escaped key': (call) => plain(json(call).replace('"method"', '"\\u006dethod"')),
  'an escaped method': ([method, params]) =>
    plain(json(['METHOD', params]).replace('METHOD', method.replaceAll('_', '\\u005f'))),
  'upper case': ([method, params]) => plain(json([method.toUpperCase(), params])),
  'a space after the method': ([method, params]) => plain(json([`${method} `, params])),
  'a batch of one': (call) => plain(`[${json(call)}]`),
  'a nested batch': (call) => plain(`[[${json(call)}]]`),
  'a nested batch beside a write': (call) =>
    plain(`[${json(['evm_increaseTime', [0]])},[${json(call)}]]`),
  'a batch behind a read': (call) => plain(`[${json(['eth_chainId', []])},${json(call)}]`),
  'a notification': ([method, params]) => plain(JSON.stringify({ jsonrpc: '2.0', method, params })),
  'an id that is an object': (call) => plain(json(call, {})),
  'no version': ([method, params]) => plain(JSON.stringify({ id: 1, method, params })),
  'a method that is a list': ([method, params]) =>
    plain(JSON.stringify({ jsonrpc: '2.0', id: 1, method: [method], params })),
  'a further member': ([method, params]) =>
    plain(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params, extra: true })),
  'an upgrade to WebSocket': (call) => ({
    headers: {
      'content-type': 'application/json',
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    },
    body: Buffer.from(json(call)),
  }),
}

/**
 * Sends bytes with exactly these headers. @returns The answer's text; empty when the connection is
 * cut.
 */
const send = (url: string, { headers, body }: Sent): Promise<string> =>
  new Promise((resolve) => {
    const sending = request(url, { method: 'POST', headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('close', () => resolve(text))
    })
    sending.on('error', () => resolve(''))
    sending.end(body)
  })

/** Everything of an Anvil that a call could have changed, asked past the front. */
async function stateOf(dir: string) {
  const url = `http://127.0.0.1:${localAnvil(dir)?.port}`
  const read = (method: string, ...params: unknown[]) => ask(url, method, ...params)
  const [info, metadata, ...more] = await Promise.all([
    ask<Record<string, unknown>>(url, 'anvil_nodeInfo'),
    ask<Record<string, unknown>>(url, 'anvil_metadata'),
    read('eth_chainId'),
    read('eth_accounts'),
    read('eth_coinbase'),
    read('anvil_getAutomine'),
    read('anvil_getIntervalMining'),
    read('txpool_content'),
    read('eth_getBalance', ADDRESS, 'latest'),
    read('eth_getCode', ADDRESS, 'latest'),
    read('eth_getTransactionCount', ADDRESS, 'latest'),
    read('eth_getStorageAt', ADDRESS, '0x0', 'latest'),
  ])
  const { instanceId, ...rest } = metadata.result
  return { info, rest, more, blocks: await allBlocks(url) }
}

/**
 * The state, and how many entries of the journal led to it, when all requests so far are done: the
 * one that is made here waits for its turn, and is refused.
 */
async function settledState(url: string, dir: string) {
  const { error } = await ask(url, 'anvil_mine', 2, 2 ** 41)
  expect(error?.code).toBe(-32602)
  const entries = readFileSync(journalPath(dir), 'utf8').split('\n').length - 2
  return { entries, state: await stateOf(dir) }
}

/** A transaction in the forms that Anvil takes and some that it might. */
async function transactionForms(): Promise<Call[]> {
  const raw = await devAccount().transfer()
  const bytes = [...Buffer.from(raw.slice(2), 'hex')]
  return [
    ['eth_sendRawTransaction', [bytes]],
    ['eth_sendRawTransactionSync', [bytes]],
    ['eth_sendRawTransaction', [raw.slice(2)]],
    ['eth_sendRawTransaction', [raw, raw]],
    ['eth_sendRawTransaction', { 0: raw }],
    ['eth_sendRawTransactionConditional', [raw, {}]],
    ['eth_sendRawTransaction', [raw]],
  ]
}

/** Each disguise once with a transaction of its own, and each call once as it should be. */
async function examplesOf(calls: readonly Call[]): Promise<[Call, string][]> {
  const from = devAccount()
  const disguised = Object.keys(DISGUISES).map(async (name, i) => {
    // In the pool, since the nonces before it are missing.
    const raw = await from.sign({ to: from.address, nonce: 2_000 + i })
    const call: Call = ['eth_sendRawTransaction', [raw]]
    return [call, name] satisfies [Call, string]
  })
  return [
    ...(await Promise.all(disguised)),
    ...calls.map((call): [Call, string] => [call, 'as it should be']),
  ]
}

test('any request changes the state only through the journal, and survives a kill', async () => {
  const dir = tempDir()
  const chain = await startProcess(dir)
  // So that there is something to roll back and to drop.
  const from = devAccount()
  const waiting = await from.sign({ to: from.address, nonce: 1_000 })
  await call(chain.url, 'eth_sendRawTransaction', waiting)
  await call(chain.url, 'anvil_mine', '0x2')
  const calls = [...CHANGES, ...READS, ...(await transactionForms())]
  const examples = await examplesOf(calls)

  let before = await settledState(chain.url, dir)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...calls),
      fc.constantFrom(...Object.keys(DISGUISES)),
      async (call, name) => {
        const sent = DISGUISES[name]?.(call)
        if (sent) await send(chain.url, sent)
        const after = await settledState(chain.url, dir)
        if (after.entries === before.entries) expect(after).toEqual(before)
        before = after
      },
    ),
    { examples, numRuns: examples.length + 200, endOnFailure: true },
  )

  killAnvil(dir)
  await chain.kill()
  await start(dir)
  const { blocks, more } = before.state
  const back = await stateOf(dir)
  expect(back.more).toEqual(more)
  expect(back.blocks.slice(0, blocks.length)).toEqual(blocks)
})
