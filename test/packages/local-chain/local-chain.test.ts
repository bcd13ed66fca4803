import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { id } from 'ethers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { journalPath } from '#local-chain/journal.ts'
import { localAnvil } from '../../support/anvil.ts'
import {
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
  test('restores every block, receipt and log', async () => {
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

  test('keeps the chain in one file, which only this user can read', async () => {
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

  test('a stop without changes does not rewrite the file', async () => {
    const dir = tempDir()
    const first = await start(dir)
    await call(first.url, 'evm_mine')
    await first.stop()
    const { ino } = statSync(journalPath(dir))
    await (await start(dir)).stop()
    expect(statSync(journalPath(dir)).ino).toBe(ino)
  })

  test('stop waits for requests under way, and may be called twice', async () => {
    const dir = tempDir()
    const chain = await start(dir)
    const from = devAccount()
    const raws = await Promise.all(Array.from({ length: 20 }, () => from.transfer()))
    const calls = raws.map((raw) => call<string>(chain.url, 'eth_sendRawTransaction', raw))
    const sent = Promise.allSettled(calls)
    await Promise.any(calls)
    await Promise.all([chain.stop(), chain.stop()])
    const answered = (await sent)
      .filter((one) => one.status === 'fulfilled')
      .map(({ value }) => value)
    expect(answered.length).toBeGreaterThan(0)

    const again = await start(dir)
    for (const hash of answered) expect(await receipt(again.url, hash)).not.toBeNull()
  })

  test('keeps a transaction that waits for an earlier nonce', async () => {
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
  test('loses nothing when process or Anvil is killed right after an answer, ten times in a row', async () => {
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

  test('loses no answered request when the process is killed during others', async () => {
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

  test('Anvil ends with the process, even if Anvil hangs', async () => {
    const dir = tempDir()
    for (const signal of ['SIGCONT', 'SIGSTOP']) {
      const chain = await startProcess(dir)
      process.kill(anvilPid(dir), signal)
      await chain.kill()
      await expect.poll(() => localAnvil(dir)).toBeUndefined()
    }
  })

  test('ends an Anvil whose head is not that of the journal', async () => {
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

  test('restarts Anvil when only Anvil is killed', async () => {
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
      await expect.poll(() => receipt(chain.url, hash).catch(() => 'down')).toEqual(found)
    }
    expect(chain.lines.filter((line) => line.startsWith('Anvil failed'))).toHaveLength(3)
  })
})

describe('starting', () => {
  test('refuses a port that another program uses', async () => {
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

  test('refuses a data directory that is in use', async () => {
    const dir = tempDir()
    const other = await startProcess(dir)
    await expect(start(dir)).rejects.toMatchObject({ code: 'data_dir_in_use' })
    await other.kill()
    await start(dir)
    await expect(start(dir)).rejects.toMatchObject({ code: 'data_dir_in_use' })
  })

  test('accepts a data directory relative to the working directory', async () => {
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

  test('fund gives 1,000,000 ETH once', async () => {
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
  test('makes every block final at once, also after a restart', async () => {
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

  test('dates blocks by the wall clock, and remembers requested shifts', async () => {
    const dir = tempDir()
    const first = await start(dir)
    const from = devAccount()
    /** Makes a block that is this many seconds ahead of the wall clock, give or take one. */
    const makeAhead = async <T>(url: string, seconds: number, request: () => Promise<T>) => {
      const before = Math.floor(Date.now() / 1000)
      const answer = await request()
      const time = Number((await block(url, 'latest')).timestamp) - seconds
      expect(time).toBeGreaterThanOrEqual(before - 1)
      expect(time).toBeLessThanOrEqual(Date.now() / 1000 + 1)
      return answer
    }
    const transfer = async (url: string) =>
      call(url, 'eth_sendRawTransaction', await from.transfer())
    await makeAhead(first.url, 0, () => transfer(first.url))
    expect(await call(first.url, 'evm_increaseTime', 1_000)).toBe(1_000)
    expect(await makeAhead(first.url, 1_000, () => call(first.url, 'evm_mine'))).toBe('0x0')
    const threeMore = () => call(first.url, 'anvil_mine', '0x3', '0x64')
    expect(await makeAhead(first.url, 1_200, threeMore)).toBeNull()
    const blocks = await allBlocks(first.url)
    await first.stop()

    const second = await start(dir)
    expect(await allBlocks(second.url, blocks.length)).toEqual(blocks)
    await makeAhead(second.url, 1_200, () => transfer(second.url))
  })

  test('reports that blocks are ahead of a clock that went back, until it has caught up', async () => {
    const dir = tempDir()
    const first = await start(dir)
    const now = Date.now()
    const mine = (at: typeof first, hours: number) => {
      vi.setSystemTime(now + hours * 3_600_000)
      return call(at.url, 'evm_mine')
    }
    const saysOf = ({ lines }: typeof first) => lines.filter((line) => line.includes('clock'))
    vi.useFakeTimers({ toFake: ['Date'], now })
    onTestFinished(() => void vi.useRealTimers())
    await mine(first, 2)
    expect(saysOf(first)).toEqual([])
    await mine(first, 1)
    await mine(first, 1)
    const until = new Date(Math.floor(now / 1000) * 1000 + 7_200_000).toISOString()
    expect(saysOf(first)).toEqual([
      expect.stringMatching(`newest block is 3600 s ahead of this machine's clock.*${until}`),
    ])
    expect(Number((await block(first.url, 'latest')).timestamp) * 1000).toBe(Date.parse(until))
    await first.stop()

    const second = await start(dir)
    expect(saysOf(second)).toHaveLength(1)
    await mine(second, 3)
    expect(saysOf(second)).toEqual([expect.anything(), expect.stringContaining('follow')])
  })
})
