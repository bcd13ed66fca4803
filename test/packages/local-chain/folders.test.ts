import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { copyChain } from '#local-chain/journal.ts'
import {
  anvilPid,
  call,
  devAccount,
  receipt,
  send,
  start,
  startProcess,
  tempDir,
} from './testkit.ts'

// On a busy machine the start of a process takes seconds, and some tests start twenty.
vi.setConfig({ testTimeout: 120_000 })
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

  test('a copy of a live folder starts its own Anvil and does not disturb the original', async () => {
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

  test('a copy made during writes has every answered transaction', async () => {
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

  test('a renamed folder has the same chain', async () => {
    const dir = tempDir()
    const first = await startProcess(dir)
    const { transactionHash } = await send(first.url, await devAccount().transfer())
    await first.kill()
    const moved = tempDir()
    renameSync(dir, moved)
    const again = await start(moved)
    expect(await receipt(again.url, transactionHash)).not.toBeNull()
  })

  test('files restored from a backup replace the chain', async () => {
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
