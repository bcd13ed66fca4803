import { Wallet } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AnvilNode, startAnvilNode } from '../support/anvil.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { randomKey } from '../support/given.ts'
import { gethPoolRules } from './support/geth-pool-rules.ts'
import { type Folder, temporaryFolder } from './support/machine.ts'

// Checks the proxy's pool rules, which other tests use. The messages are those of geth's txpool
// errors.

let folder: Folder
let anvil: AnvilNode
let proxy: FaultProxy
beforeAll(async () => {
  folder = temporaryFolder()
  anvil = await startAnvilNode(folder.dir, ['--no-mining'])
  proxy = await startFaultProxy(anvil.url)
  proxy.fault = gethPoolRules(proxy.direct)
})
afterAll(async () => {
  await proxy.close()
  await anvil.kill()
  folder.remove()
})

const wallet = new Wallet(randomKey())

async function send(fee: bigint, tip: bigint): Promise<string> {
  const raw = await wallet.signTransaction({
    type: 2,
    chainId: 31337,
    nonce: 0,
    to: wallet.address,
    gasLimit: 21_000n,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: tip,
  })
  const response = await fetch(proxy.url, {
    method: 'POST',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_sendRawTransaction',
      params: [raw],
    }),
  })
  const { error } = (await response.json()) as { error?: { message: string } }
  return error?.message ?? 'taken'
}

test('the node refuses a known transaction, a replacement under 10 % more, and a low nonce', async () => {
  await anvil.request('anvil_setBalance', wallet.address, '0x56bc75e2d63100000')
  expect(await send(10_000_000_000n, 1_000_000_000n)).toBe('taken')
  expect(await send(10_000_000_000n, 1_000_000_000n)).toBe('already known')
  const underpriced = 'replacement transaction underpriced'
  expect(await send(10_999_999_999n, 1_100_000_000n)).toBe(underpriced)
  expect(await send(11_000_000_000n, 1_099_999_999n)).toBe(underpriced)
  expect(await send(11_000_000_000n, 1_100_000_000n)).toBe('taken')
  await anvil.request('evm_mine')
  expect(await send(20_000_000_000n, 2_000_000_000n)).toBe(
    'nonce too low: next nonce 1, tx nonce 0',
  )
})
