import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { id } from 'ethers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { copyChain, journalPath } from '../../local-chain/journal.ts'
import { localAnvil } from '../support/anvil.ts'
import {
  type Answer,
  account,
  allBlocks,
  anvilPid,
  ask,
  block,
  call,
  deploy,
  devAccount,
  issue,
  killAnvil,
  post,
  receipt,
  send,
  start,
  startProcess,
  tempDir,
} from './testkit.ts'

// On a busy machine the start of a process takes seconds, and some tests start twenty.
vi.setConfig({ testTimeout: 120_000 })

const ETHER = 10n ** 18n
const ISSUED = id('DocumentIssued(bytes32,uint32,address,uint40)')

describe('a clean stop and start', () => {
  test('default: every block, receipt and log is there again', async () => {
    const dir = tempDir()
    const first = await start(dir)
    const from = devAccount()
    const address = await deploy(first.url, from)
    const hashes: string[] = []
    for (let id = 1; id <= 200; id += 1)
      hashes.push(await call(first.url, 'eth_sendRawTransaction', await issue(from, address, id)))
    const blocks = await allBlocks(first.url)
    const receipts = await Promise.all(hashes.map((hash) => receipt(first.url, hash)))
    await first.stop()

    const second = await start(dir)
    expect(await allBlocks(second.url, blocks.length)).toEqual(blocks)
    expect(await Promise.all(hashes.map((hash) => receipt(second.url, hash)))).toEqual(receipts)
    expect(receipts.every((found) => found?.status === '0x1' && found.logs.length === 1)).toBe(true)
    expect(
      await call(second.url, 'eth_getLogs', {
        fromBlock: '0x3',
        toBlock: 'latest',
        address,
        topics: [ISSUED],
      }),
    ).toHaveLength(200)
    expect(
      await call(second.url, 'eth_sendRawTransaction', await issue(from, address, 201)),
    ).toMatch(/^0x/)
  })

  test('behavior: the chain is one file, for this user alone', async () => {
    const dir = tempDir()
    const from = devAccount()
    for (let round = 0; round < 3; round += 1) {
      const chain = await start(dir)
      await call(chain.url, 'eth_sendRawTransaction', await from.transfer())
      await chain.stop()
    }
    const files = readdirSync(dir)
    expect(files.sort()).toEqual(['anvil.log', 'chain.jsonl', 'lock.db'])
    expect(readFileSync(journalPath(dir), 'utf8').split('\n')).toHaveLength(2)
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    for (const file of files)
      expect(`${file} ${(statSync(join(dir, file)).mode & 0o777).toString(8)}`).toBe(`${file} 600`)
  })

  test('behavior: a stop that finds nothing new leaves the file as it is', async () => {
    const dir = tempDir()
    const first = await start(dir)
    await call(first.url, 'evm_mine')
    await first.stop()
    const { ino } = statSync(journalPath(dir))
    await (await start(dir)).stop()
    expect(statSync(journalPath(dir)).ino).toBe(ino)
  })

  test('behavior: stop lets what is in flight end, is quick, and may be called twice', async () => {
    const dir = tempDir()
    const chain = await start(dir)
    const from = devAccount()
    const raws = await Promise.all(Array.from({ length: 20 }, () => from.transfer()))
    const sent = Promise.allSettled(
      raws.map((raw) => call<string>(chain.url, 'eth_sendRawTransaction', raw)),
    )
    await sleep(20)
    const began = performance.now()
    await Promise.all([chain.stop(), chain.stop()])
    expect(performance.now() - began).toBeLessThan(2_000)
    const answered = (await sent)
      .filter((one) => one.status === 'fulfilled')
      .map(({ value }) => value)
    expect(answered.length).toBeGreaterThan(0)

    const again = await start(dir)
    for (const hash of answered) expect(await receipt(again.url, hash)).not.toBeNull()
  })

  test('behavior: a transaction that waits for an earlier nonce is not lost', async () => {
    const dir = tempDir()
    const first = await start(dir)
    const from = devAccount()
    const [earlier, later] = [await from.transfer(), await from.transfer()]
    const hash = await call<string>(first.url, 'eth_sendRawTransaction', later)
    expect(await ask(first.url, 'eth_sendRawTransaction', later)).toMatchObject({
      error: { message: 'transaction already imported' },
    })
    await first.stop()

    const second = await start(dir)
    expect(await receipt(second.url, hash)).toBeNull()
    await call(second.url, 'eth_sendRawTransaction', earlier)
    const found = await receipt(second.url, hash)
    expect(found?.status).toBe('0x1')
    await second.stop()

    const third = await start(dir)
    expect(await receipt(third.url, hash)).toEqual(found)
  })
})

describe('kill -9', () => {
  test('behavior: of the process, and by turns of Anvil too, right after an answer, ten times in a row', async () => {
    const dir = tempDir()
    const from = devAccount()
    const known = new Map<string, string>()
    let address = ''
    for (let round = 0; round < 10; round += 1) {
      const chain = await startProcess(dir)
      if (round === 0) address = await deploy(chain.url, from)
      const raws = await Promise.all(
        [0, 1, 2].map((index) => issue(from, address, round * 3 + index + 1)),
      )
      for (const raw of raws) {
        const { transactionHash, blockHash } = await send(chain.url, raw)
        known.set(transactionHash, blockHash)
      }
      if (round % 2 === 1) killAnvil(dir)
      await chain.kill()
    }
    const chain = await start(dir)
    for (const [hash, blockHash] of known)
      expect((await receipt(chain.url, hash))?.blockHash).toBe(blockHash)
    expect(
      await call(chain.url, 'eth_getLogs', {
        fromBlock: '0x3',
        toBlock: 'latest',
        address,
        topics: [ISSUED],
      }),
    ).toHaveLength(30)
  })

  test('behavior: of the process with requests in flight', async () => {
    const dir = tempDir()
    const from = devAccount()
    const known = new Map<string, string>()
    for (let round = 0; round < 6; round += 1) {
      const chain = await startProcess(dir)
      const raws = await Promise.all(Array.from({ length: 10 }, () => from.transfer()))
      const sent = raws.map(async (raw) => {
        const { transactionHash, blockHash } = await send(chain.url, raw)
        known.set(transactionHash, blockHash)
      })
      await Promise.any([...sent, sleep(3_000)])
      if (round % 2 === 1) killAnvil(dir)
      await chain.kill()
      await Promise.allSettled(sent)
      // Those that were not answered are sent again, as the gateway does: they are known, or they
      // are new.
      const again = await startProcess(dir)
      for (const raw of raws) await ask(again.url, 'eth_sendRawTransaction', raw)
      await again.kill()
    }
    const chain = await start(dir)
    for (const [hash, blockHash] of known)
      expect((await receipt(chain.url, hash))?.blockHash).toBe(blockHash)
    expect(await call(chain.url, 'eth_getTransactionCount', from.address, 'latest')).toBe('0x3c')
  })

  test('behavior: Anvil ends with the process, also one that hangs', async () => {
    const dir = tempDir()
    for (const signal of ['SIGCONT', 'SIGSTOP']) {
      const chain = await startProcess(dir)
      process.kill(anvilPid(dir), signal)
      await chain.kill()
      await expect.poll(() => localAnvil(dir)).toBeUndefined()
    }
  })

  test('behavior: an Anvil that is not where the journal is, is ended', async () => {
    const dir = tempDir()
    const chain = await start(dir)
    const from = devAccount()
    const before = await send(chain.url, await from.transfer())
    const anvil = localAnvil(dir)
    await call(`http://127.0.0.1:${anvil?.port}`, 'evm_mine')
    const refused = await from.transfer()
    await expect(send(chain.url, refused)).rejects.toThrow()
    // It was in the journal, and so the new Anvil has it.
    await expect(send(chain.url, refused)).rejects.toThrow('nonce too low')
    expect(localAnvil(dir)).not.toEqual(anvil)
    expect(await receipt(chain.url, before.transactionHash)).toEqual(before)
    expect(chain.lines.join()).toContain('Anvil mined on')
  })

  test('behavior: of Anvil alone is noticed, and Anvil is brought back', async () => {
    const dir = tempDir()
    const chain = await start(dir)
    const from = devAccount()
    for (let round = 0; round < 3; round += 1) {
      const hash = await call<string>(chain.url, 'eth_sendRawTransaction', await from.transfer())
      const found = await receipt(chain.url, hash)
      killAnvil(dir)
      const down = await post(
        chain.url,
        JSON.stringify({
          jsonrpc: '2.0',
          id: 5,
          method: 'eth_blockNumber',
          params: [],
        }),
      )
      expect(down.status).toBe(502)
      expect(await down.json()).toMatchObject({
        error: { code: -32000 },
      })
      await expect
        .poll(() => receipt(chain.url, hash).catch(() => 'down'), {
          timeout: 5_000,
        })
        .toEqual(found)
    }
    expect(chain.lines.filter((line) => line.startsWith('Anvil failed'))).toHaveLength(3)
  })
})

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}/cwd`)

describe('a folder and its copies', () => {
  /** By a process of its own: this one would give up its locks on files that it closes. */
  const copyInto = (from: string, to: string): void => {
    mkdirSync(to, { recursive: true })
    const { status } = spawnSync('cp', ['-r', `${from}/.`, to])
    if (status !== 0) throw new Error('cp failed')
  }

  const copyOf = (dir: string): string => {
    const copy = tempDir()
    copyInto(dir, copy)
    return copy
  }

  const transfer = async (url: string, from = devAccount()): Promise<string> =>
    call<string>(url, 'eth_sendRawTransaction', await from.transfer())

  test('behavior: a copy of a live folder has an Anvil of its own, and neither notices the other', async () => {
    const dir = tempDir()
    const live = await start(dir)
    const from = devAccount()
    const before = await transfer(live.url, from)
    const copy = copyOf(dir)
    const pid = anvilPid(dir)

    const drill = await start(copy)
    expect(anvilPid(copy)).not.toBe(pid)
    expect(await receipt(drill.url, before)).toEqual(await receipt(live.url, before))
    await call(drill.url, 'anvil_mine', '0x3')
    const after = await transfer(live.url, from)
    expect(await receipt(drill.url, after)).toBeNull()
    await drill.stop()
    expect(isRunning(pid)).toBe(true)
    await transfer(live.url, from)
    expect(live.lines).toEqual([])
  })

  test('behavior: a copy that the service makes while it writes has all that was answered', async () => {
    const dir = tempDir()
    const live = await start(dir)
    const from = devAccount()
    const answered: string[] = []
    let working = true
    const work = (async () => {
      while (working) answered.push(await transfer(live.url, from))
    })()
    const copy = tempDir()
    await expect.poll(() => answered.length).toBeGreaterThan(20)
    const known = [...answered]
    await copyChain(dir, copy)
    working = false
    await work
    const { url } = await start(copy)
    for (const hash of known)
      expect(await receipt(url, hash)).toEqual(await receipt(live.url, hash))
  })

  test('behavior: a folder that was renamed is the same chain', async () => {
    const dir = tempDir()
    const first = await startProcess(dir)
    const { transactionHash } = await send(first.url, await devAccount().transfer())
    await first.kill()
    const moved = tempDir()
    renameSync(dir, moved)
    const again = await start(moved)
    expect(await receipt(again.url, transactionHash)).not.toBeNull()
  })

  test('behavior: files put back from a backup into the folder are the chain', async () => {
    const dir = tempDir()
    const first = await startProcess(dir)
    const from = devAccount()
    const before = await transfer(first.url, from)
    const backup = copyOf(dir)
    const later = await transfer(first.url, from)
    await first.kill()
    copyInto(backup, dir)
    const { url } = await start(dir)
    expect(await receipt(url, before)).not.toBeNull()
    expect(await receipt(url, later)).toBeNull()
  })
})

describe('transactions that come together', () => {
  const sendAll = (url: string, raws: readonly string[]) =>
    Promise.all(raws.map((raw) => ask<string>(url, 'eth_sendRawTransaction', raw)))

  test('behavior: share a block, and come back in it after a kill', async () => {
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

  test('behavior: one that is refused does not keep the others out', async () => {
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

  test('behavior: what one block has no gas for is in the next', async () => {
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
  test('behavior: is shortened without a pause, and the same blocks come back', async () => {
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

  test('behavior: transactions that waited keep their order over a snapshot', async () => {
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
  ])('behavior: a torn last line of the journal, %s, is dropped', async ([, line]) => {
    const dir = tempDir()
    const blocks = await killed(dir)
    damage(dir, (text) => text + line)
    const chain = await start(dir)
    expect(await allBlocks(chain.url)).toEqual(blocks)
    await call(chain.url, 'evm_mine')
    await chain.stop()
    expect(await allBlocks((await start(dir)).url, blocks.length)).toEqual(blocks)
  })

  test('error: refuses a journal with a corrupt line in the middle', async () => {
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
  ] as const)('error: refuses a journal that is %s', async ([, change]) => {
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
    ['a line less', 2, (text: string) => text.replace(/\n.*\n/, '\n')],
    ['another snapshot', 1, (text: string) => text.replace(/"head":"0x./, '"head":"0x-')],
    ['a damaged state', 1, (text: string) => text.replace(/("state":"[^"]{300})..../, '$1AAAA')],
  ] as const)('error: refuses a journal with %s', async ([, line, change]) => {
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
  ] as const)('error: refuses and keeps a folder of %s', async ([, name, text]) => {
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

describe('starting', () => {
  test('error: a stranger listens on the port', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const dir = tempDir()
    await expect(start(dir, { port })).rejects.toMatchObject({
      code: 'port_taken',
      message: expect.stringContaining('CHAIN_PORT'),
    })
    await start(dir)
  })

  test('error: the data directory is in use', async () => {
    const dir = tempDir()
    const other = await startProcess(dir)
    await expect(start(dir)).rejects.toMatchObject({ code: 'data_dir_in_use' })
    await other.kill()
    await start(dir)
    await expect(start(dir)).rejects.toMatchObject({ code: 'data_dir_in_use' })
  })

  test('args: a data directory relative to the working directory', async () => {
    const dir = relative(process.cwd(), tempDir())
    const first = await start(dir)
    const hash = await call<string>(
      first.url,
      'eth_sendRawTransaction',
      await devAccount().transfer(),
    )
    await first.stop()
    expect(await receipt((await start(dir)).url, hash)).not.toBeNull()
  })

  test('args: fund gives 1,000,000 ETH once', async () => {
    const dir = tempDir()
    const [one, two] = [account(), account()]
    const balance = async (url: string, { address }: { address: string }) =>
      BigInt(await call<string>(url, 'eth_getBalance', address, 'latest'))
    const first = await start(dir, { fund: [one.address] })
    expect(await balance(first.url, one)).toBe(1_000_000n * ETHER)
    await call(first.url, 'eth_sendRawTransaction', await one.transfer())
    await first.stop()
    const second = await start(dir, { fund: [one.address, two.address] })
    expect(await balance(second.url, one)).toBeLessThan(1_000_000n * ETHER)
    expect(await balance(second.url, two)).toBe(1_000_000n * ETHER)
  })
})

describe('time and finality', () => {
  test('behavior: every block is final at once, also after a restart', async () => {
    const dir = tempDir()
    const first = await start(dir)
    await call(first.url, 'eth_sendRawTransaction', await devAccount().transfer())
    expect((await block(first.url, 'finalized')).number).toBe('0x1')
    const balance = (url: string, tag: string) =>
      call(url, 'eth_getBalance', devAccount().address, tag)
    const before = await balance(first.url, 'finalized')
    expect(before).toBe(await balance(first.url, 'latest'))
    await first.stop()
    expect(await balance((await start(dir)).url, 'finalized')).toBe(before)
  })

  test('behavior: blocks have the time of the wall clock, and the shifts that were asked for are remembered', async () => {
    const dir = tempDir()
    const first = await start(dir)
    const from = devAccount()
    const ahead = async (url: string) =>
      Number((await block(url, 'latest')).timestamp) - Math.floor(Date.now() / 1000)
    await call(first.url, 'eth_sendRawTransaction', await from.transfer())
    expect(Math.abs(await ahead(first.url))).toBeLessThanOrEqual(1)
    expect(await call(first.url, 'evm_increaseTime', 1_000)).toBe(1_000)
    expect(await call(first.url, 'evm_mine')).toBe('0x0')
    expect(Math.abs((await ahead(first.url)) - 1_000)).toBeLessThanOrEqual(1)
    expect(await call(first.url, 'anvil_mine', '0x3', '0x64')).toBeNull()
    expect(Math.abs((await ahead(first.url)) - 1_200)).toBeLessThanOrEqual(1)
    const blocks = await allBlocks(first.url)
    await first.stop()

    const second = await start(dir)
    expect(await allBlocks(second.url, blocks.length)).toEqual(blocks)
    await call(second.url, 'eth_sendRawTransaction', await from.transfer())
    expect(Math.abs((await ahead(second.url)) - 1_200)).toBeLessThanOrEqual(1)
  })
})

describe('the front', () => {
  const raw = (id: unknown, method: string, ...params: unknown[]) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params })

  test('behavior: answers and errors are those of Anvil', async () => {
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
  ] as const)('error: refuses %j itself', async ([body, code]) => {
    const response = await post((await start(tempDir())).url, body)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ error: { code } })
  })

  test.for(['application/x+json', 'text/plain', 'application/x-www-form-urlencoded'])(
    'error: refuses a body of the type %s',
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

  test('args: the type of a body may be written in upper case and have a charset', async () => {
    const { url } = await start(tempDir())
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'Application/JSON; charset=utf-8' },
      body: raw(1, 'eth_chainId'),
    })
    expect(await response.json()).toMatchObject({ result: '0x7a69' })
  })

  test('behavior: a list in a batch is refused, and what is beside it is answered', async () => {
    const { url } = await start(tempDir())
    const batch = `[${raw(1, 'evm_mine')},[${raw(2, 'evm_mine')}],${raw(3, 'eth_blockNumber')}]`
    expect(await (await post(url, batch)).json()).toMatchObject([
      { id: 1, result: '0x0' },
      { id: null, error: { code: -32600 } },
      { id: 3, result: '0x1' },
    ])
  })

  test('behavior: a batch with transactions is done in order', async () => {
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

  test('behavior: a dev account of Anvil may send, and a balance may be set', async () => {
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
  ])('error: %s is refused, since it would not come back', async (method) => {
    const { url } = await start(tempDir())
    expect(await ask(url, method)).toMatchObject({
      id: 7,
      error: { code: -32601, message: expect.stringContaining(method) },
    })
  })

  test('error: a request that is too large, and one that is no POST', async () => {
    const { url } = await start(tempDir())
    expect((await post(url, raw(1, 'eth_chainId', '0'.repeat(3_000_000)))).status).toBe(413)
    expect((await fetch(url)).status).toBe(405)
  })

  test('behavior: many clients at once', async () => {
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
