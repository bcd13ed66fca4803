import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { allBlocks, call, devAccount, killAnvil, start } from '../packages/local-chain/testkit.ts'
import { localAnvil } from '../support/anvil.ts'
import { fill } from './support/failing-disk.ts'
import { required, smallDisk } from './support/machine.ts'

const MEGABYTES = 8

test('the local chain refuses writes while its disk is full, answers reads, and recovers', async ({
  skip,
}) => {
  const disk = required(smallDisk(MEGABYTES)) ?? skip()
  onTestFinished(disk.remove)
  const dir = join(disk.dir, 'chain')
  const ballast = join(disk.dir, 'ballast')
  onTestFinished(() => killAnvil(dir))
  const chain = await start(dir)
  const from = devAccount()
  const send = async () => call(chain.url, 'eth_sendRawTransaction', await from.transfer())
  for (let i = 0; i < 5; i++) await send()
  const head = () => call(chain.url, 'eth_blockNumber').catch(() => 'down')
  fill(disk.dir, ballast)
  // The rest of the journal's last page has room for some writes.
  let kept = ''
  let refused = ''
  while (refused === '') {
    kept = await from.transfer()
    await call(chain.url, 'eth_sendRawTransaction', kept).catch((error) => {
      refused = String(error)
    })
  }
  const blocks = await allBlocks(chain.url)
  // Harder: it has to restart Anvil while the disk is full.
  const { pid } = localAnvil(dir) ?? {}
  killAnvil(dir)
  await expect.poll(() => localAnvil(dir)?.pid ?? pid).not.toBe(pid)
  await expect.poll(head).not.toBe('down')
  await expect(call(chain.url, 'eth_sendRawTransaction', kept)).rejects.toThrow('ENOSPC')
  rmSync(ballast)

  await call(chain.url, 'eth_sendRawTransaction', kept)
  expect(refused).toMatch(/ENOSPC/)
  expect(await allBlocks(chain.url, blocks.length)).toEqual(blocks)
  expect(readdirSync(dir).filter((name) => name.endsWith('.tmp'))).toEqual([])
})
