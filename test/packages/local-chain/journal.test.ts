import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { journalPath } from '#local-chain/journal.ts'
import { localAnvil } from '../../support/anvil.ts'
import {
  account,
  allBlocks,
  ask,
  call,
  devAccount,
  killAnvil,
  receipt,
  start,
  startProcess,
  tempDir,
} from './testkit.ts'

// On a busy machine the start of a process takes seconds, and some tests start twenty.
vi.setConfig({ testTimeout: 120_000 })
describe('transactions that come together', () => {
  const sendAll = (url: string, raws: readonly string[]) =>
    Promise.all(raws.map((raw) => ask<string>(url, 'eth_sendRawTransaction', raw)))

  test('share a block, and are restored in it after a kill', async () => {
    const dir = tempDir()
    const chain = await startProcess(dir)
    const [one, other] = [devAccount(), account()]
    await call(chain.url, 'eth_sendRawTransaction', await one.transfer())
    await call(chain.url, 'anvil_setBalance', other.address, `0x${'f'.repeat(20)}`)
    const raws = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 ? one : other).transfer()),
    )
    const sent = await sendAll(chain.url, raws)
    const receipts = await Promise.all(sent.map(({ result }) => receipt(chain.url, result)))
    const blocks = await allBlocks(chain.url)
    killAnvil(dir)
    await chain.kill()

    expect(new Set(receipts.map((found) => found?.blockHash)).size).toBeLessThan(20)
    expect(await allBlocks((await start(dir)).url, blocks.length)).toEqual(blocks)
  })

  test('one refused transaction does not block the others', async () => {
    const dir = tempDir()
    const chain = await startProcess(dir)
    const from = devAccount()
    const spent = await from.transfer()
    await call(chain.url, 'eth_sendRawTransaction', spent)
    const raws = [await from.transfer(), '0x1234', spent, await from.transfer()]
    // The first is under way alone; the others gather behind it.
    const first = call(chain.url, 'evm_mine')
    const sent = await sendAll(chain.url, raws)
    await first
    const mined = await Promise.all([0, 3].map((i) => receipt(chain.url, sent[i]?.result ?? '')))
    const blocks = await allBlocks(chain.url)
    killAnvil(dir)
    await chain.kill()

    expect(sent.map(({ error }) => error?.message)).toEqual([
      undefined,
      'Failed to decode transaction',
      'nonce too low',
      undefined,
    ])
    expect(mined.map((found) => found?.status)).toEqual(['0x1', '0x1'])
    expect(await allBlocks((await start(dir)).url, blocks.length)).toEqual(blocks)
  })

  test('transactions beyond the gas limit of a block go into the next', async () => {
    const dir = tempDir()
    const chain = await startProcess(dir)
    const from = devAccount()
    const raws = await Promise.all(
      Array.from({ length: 6 }, () => from.sign({ to: from.address, gasLimit: 16_000_000 })),
    )
    const sent = await sendAll(chain.url, raws)
    const receipts = await Promise.all(sent.map(({ result }) => receipt(chain.url, result)))
    const blocks = await allBlocks(chain.url)
    killAnvil(dir)
    await chain.kill()

    expect(receipts.map((found) => found?.status)).toEqual(raws.map(() => '0x1'))
    expect(await allBlocks((await start(dir)).url, blocks.length)).toEqual(blocks)
  })
})

describe('a journal that has grown long', () => {
  test('is shortened while in use, and restores the same blocks', async () => {
    const dir = tempDir()
    const from = devAccount()
    const chain = await startProcess(dir)
    const gap = await devAccount().sign({ to: from.address, gasLimit: 21_000, nonce: 1_000 })
    const waiting = await call<string>(chain.url, 'eth_sendRawTransaction', gap)
    for (let i = 0; i < 320; i += 1)
      await call(chain.url, 'eth_sendRawTransaction', await from.transfer())
    const entries = readFileSync(journalPath(dir), 'utf8').split('\n').length - 2
    const blocks = await allBlocks(chain.url)
    await chain.kill()

    const again = await start(dir)
    expect(entries).toBeLessThan(100)
    expect(again.lines.join()).toContain(`Replayed ${entries} `)
    expect(await allBlocks(again.url)).toEqual(blocks)
    expect(await call(again.url, 'eth_getTransactionByHash', waiting)).toMatchObject({
      blockNumber: null,
    })
  })

  test('waiting transactions keep their order across a snapshot', async () => {
    const dir = tempDir()
    const accounts = Array.from({ length: 4 }, () => account())
    const first = await startProcess(dir)
    for (const { address } of accounts)
      await call(first.url, 'anvil_setBalance', address, `0x${'f'.repeat(20)}`)
    const earlier = await Promise.all(accounts.map((from) => from.transfer()))
    for (const from of accounts.toReversed())
      await call(first.url, 'eth_sendRawTransaction', await from.transfer())
    for (let i = 0; i < 300; i += 1) await call(first.url, 'anvil_mine', 0)
    expect(readFileSync(journalPath(dir), 'utf8').split('\n').length).toBeLessThan(50)
    await Promise.all(earlier.map((raw) => call(first.url, 'eth_sendRawTransaction', raw)))
    const blocks = await allBlocks(first.url)
    await first.kill()
    expect(await allBlocks((await start(dir)).url)).toEqual(blocks)
  })
})

describe('damaged files', () => {
  /** A snapshot and five transactions after it, then everything killed. */
  const killed = async (dir: string): Promise<unknown[]> => {
    const from = devAccount()
    const first = await start(dir)
    await call(first.url, 'eth_sendRawTransaction', await from.transfer())
    await first.stop()
    const second = await startProcess(dir)
    for (let i = 0; i < 5; i += 1)
      await call(second.url, 'eth_sendRawTransaction', await from.transfer())
    const blocks = await allBlocks(second.url)
    await second.kill()
    return blocks
  }

  const damage = (dir: string, change: (text: string) => string) =>
    writeFileSync(journalPath(dir), change(readFileSync(journalPath(dir), 'utf8')))

  test.for([
    ['cut off', '{"method":"eth_sendRawTrans'],
    ['with a hole', '{"method":"eth_s\0\0\0\0"}\n'],
  ])('drops a torn last line of the journal, %s', async ([, line]) => {
    const dir = tempDir()
    const blocks = await killed(dir)
    damage(dir, (text) => text + line)
    const chain = await start(dir)
    expect(await allBlocks(chain.url)).toEqual(blocks)
    await call(chain.url, 'evm_mine')
    await chain.stop()
    expect(await allBlocks((await start(dir)).url, blocks.length)).toEqual(blocks)
  })

  test.for([
    ['without its last byte', (text: string) => text.slice(0, -1)],
    ['cut within its last line', (text: string) => text.slice(0, -40)],
    ['without its last line', (text: string) => text.replace(/\n.*\n$/, '\n')],
    ['with a hole in its last line', (text: string) => text.replace(/.{9}\n$/, '\0\0\0\0\n')],
    ['with another last line', (text: string) => text.replace(/"0x02.(?=[^\n]*\n$)/, '"0x02e')],
    ['with a line less', (text: string) => text.replace(/\n.*\n/, '\n')],
    ['with a damaged mark', (text: string) => text.replace(/"flushed":"0/, '"flushed":" ')],
  ] as const)('refuses a journal %s: all its changes were acknowledged', async ([, change]) => {
    const dir = tempDir()
    await killed(dir)
    damage(dir, change)
    await expect(start(dir)).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringContaining('Acknowledged changes are missing or damaged'),
    })
  })

  test('keeps a last line without its mark after a kill, and then protects it', async () => {
    const dir = tempDir()
    const blocks = await killed(dir)
    const unmarked = `"flushed":"0000000000-00000000"`
    damage(dir, (text) => text.replace(/"flushed":"[^"]*"/, unmarked))
    const chain = await startProcess(dir)
    expect(await allBlocks(chain.url)).toEqual(blocks)
    await chain.kill()
    damage(dir, (text) => text.slice(0, -1))
    await expect(start(dir)).rejects.toMatchObject({ code: 'journal_corrupt' })
  })

  test('opens a journal of an earlier build, which has no mark', async () => {
    const dir = tempDir()
    const blocks = await killed(dir)
    damage(dir, (text) => text.replace(/"flushed":"[^"]*",/, ''))
    const chain = await start(dir)
    expect(await allBlocks(chain.url)).toEqual(blocks)
    await call(chain.url, 'evm_mine')
    const again = await chain.stop().then(() => start(dir))
    expect(await allBlocks(again.url, blocks.length)).toEqual(blocks)
    expect(readFileSync(journalPath(dir), 'utf8')).toContain('"flushed":"0000000000-00000000"')
  })

  test('refuses a journal with a corrupt line in the middle', async () => {
    const dir = tempDir()
    await killed(dir)
    damage(dir, (text) => {
      const lines = text.split('\n')
      return lines.with(3, lines[3]?.slice(0, 40) ?? '').join('\n')
    })
    await expect(start(dir)).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringContaining('Line 4'),
    })
  })

  test.for([
    ['empty', () => ''],
    ['cut in the snapshot', (text: string) => text.slice(0, 1_000)],
  ] as const)('refuses a journal that is %s', async ([, change]) => {
    const dir = tempDir()
    await killed(dir)
    damage(dir, change)
    await expect(start(dir)).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringContaining('Line 1'),
    })
  })

  test.for([
    [
      'another time',
      2,
      (text: string) => text.replace(/"time":(\d+)/, (_, n) => `"time":${n - 1}`),
    ],
    ['another snapshot', 1, (text: string) => text.replace(/"head":"0x./, '"head":"0x-')],
    ['a damaged state', 1, (text: string) => text.replace(/("state":"[^"]{300})..../, '$1AAAA')],
  ] as const)('refuses a journal with %s', async ([, line, change]) => {
    const dir = tempDir()
    await killed(dir)
    damage(dir, change)
    await expect(start(dir)).rejects.toMatchObject({
      code: 'replay_failed',
      message: expect.stringMatching(new RegExp(`^Line [${line}3] of`)),
    })
    expect(localAnvil(dir)).toBeUndefined()
  })

  test.for([
    ['an older version', 'journal-3.jsonl', '{"journal":1}\n'],
    ['a newer version', 'chain.jsonl', '{"format":3}\n'],
  ] as const)('refuses and keeps a folder of %s', async ([, name, text]) => {
    const dir = tempDir()
    mkdirSync(dir)
    writeFileSync(join(dir, name), text)
    await expect(start(dir)).rejects.toMatchObject({
      code: 'other_version',
      message: expect.stringContaining('DATA_DIR'),
    })
    expect(readFileSync(join(dir, name), 'utf8')).toBe(text)
  })
})
