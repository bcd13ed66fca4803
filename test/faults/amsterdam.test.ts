import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { expect, onTestFinished, test } from 'vitest'
import { createRegistry } from '#chain/registry.ts'
import { createKeySigner } from '#chain/signer.ts'
import { type Hex, toHex } from '#document/hex.ts'
import type { Action } from '#promise/action.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { root } from '../docs/markdown.ts'
import { docreg } from '../support/docreg.ts'
import { type GethNode, gethBinary, startGethNode } from '../support/geth.ts'
import { randomKey } from '../support/given.ts'
import { deployRegistry } from '../support/transact.ts'
import { type GethWorld, startGethWorld } from './support/geth-world.ts'
import { temporaryFolder } from './support/machine.ts'
import { NOTHING_WRONG } from './support/oracle.ts'

// Builds geth before the clock runs: the first build takes minutes.
const binary = await gethBinary()

/** The seconds of load before the fork and after it. */
const [BEFORE, AFTER] = [4, 4]

test('issues after a fork that makes new state several times as expensive', async ({ skip }) => {
  const path = binary ?? skip()
  const options: string[] = []
  const world = await startGethWorld(path, {}, {}, options)
  onTestFinished(world.close)
  const { client, chain } = world
  const forkAt = Math.ceil(Date.now() / 1000) + BEFORE
  options.push('--override.amsterdam', String(forkAt))
  await chain.save()
  const issues = (count: number) => Array.from({ length: count }, () => client.issue())
  const load: Promise<unknown>[] = []
  // On a busy machine, the chain's time may be behind.
  while (Number((await newestOf(chain)).timestamp) < forkAt + AFTER) {
    load.push(...issues(30))
    await sleep(500)
  }
  // Without transactions from before the fork, and more than fit in one now.
  await Promise.all(load)
  await world.settle()
  const settledAt = Number((await newestOf(chain)).number)
  await Promise.all(issues(250))
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)

  const sent = await transactionsOf(world)
  const before = sent.filter(({ time }) => time < forkAt)
  const after = sent.filter(({ number }) => number > settledAt)
  const gasOf = (some: typeof sent) => Math.max(...some.map(({ gas, issued }) => gas / issued))
  expect(before.concat(after).filter(({ issued }) => issued === 0)).toEqual([])
  expect(gasOf(before)).toBeLessThan(60_000)
  expect(gasOf(after)).toBeGreaterThan(100_000)
  expect(Math.max(...after.map(({ issued }) => issued))).toBeGreaterThan(50)
})

/** Starts a geth with the prices of Amsterdam, and a block for each transaction. */
async function startAmsterdam(path: string): Promise<GethNode> {
  const folder = temporaryFolder()
  const geth = await startGethNode(path, join(folder.dir, 'geth'), ['--dev.period', '0'], true)
  onTestFinished(async () => {
    await geth.kill()
    folder.remove()
  })
  return geth
}

test('docreg says that these prices prevent the deployment proxy', async ({ skip }) => {
  const geth = await startAmsterdam(binary ?? skip())
  const key = randomKey()
  const { address } = new Wallet(key)
  await geth.fund(address)
  const { code, stderr } = await docreg(
    ['registry', 'deploy', '--network', 'custom', '--admin', address, '--allow-plain-admin'],
    {
      cwd: root,
      // biome-ignore lint/style/noProcessEnv: as an operator's shell hands it on
      env: { PATH: process.env.PATH ?? '', CUSTOM_RPC_URL: geth.url, DEPLOYER_KEY: key },
    },
  )
  expect(stderr).toMatch(/has 100000 gas and needs \d{6}\. Ask the operators/)
  expect(code).toBe(2)
})

test('with these prices, lists that are mostly on the chain give no wrong estimate', async ({
  skip,
}) => {
  const geth = await startAmsterdam(binary ?? skip())
  const keys = { admin: randomKey(), manager: randomKey(), issuer: randomKey() }
  for (const key of Object.values(keys)) await geth.fund(new Wallet(key).address)
  const provider = createFetchProvider(geth.url)
  const registry = await deployRegistry(provider, keys, { name: 'One', uri: '' })
  const signer = createKeySigner(keys.issuer)
  const { transactions } = await createRegistry(provider, { registry, issuerId: 1, signer })

  let nonce = 0
  async function send(actions: readonly Action[]): Promise<void> {
    const transaction = await transactions.prepare(actions, { nonce: nonce++ })
    await transactions.broadcast(transaction)
    while (true) {
      const receipt = await geth.request('eth_getTransactionReceipt', transaction.hash)
      if (receipt) return expect(receipt).toMatchObject({ status: '0x1' })
      await sleep(10)
    }
  }
  const newIssues = (count: number): Action[] =>
    Array.from({ length: count }, () => ({
      kind: 'issue',
      documentHash: toHex(randomBytes(32)),
      validUntil: 0,
    }))
  const known = newIssues(75)
  await send(known)
  // Estimates are not reused for so long.
  await sleep(1_100)
  await send([...known, ...newIssues(25)])
  await send(newIssues(100))
})

const newestOf = (chain: GethWorld['chain']) =>
  chain.request<{ number: Hex; timestamp: Hex }>('eth_getBlockByNumber', 'latest', false)

/** @returns The transactions of the gateway's account in blocks. */
async function transactionsOf({ chain, accounts }: GethWorld) {
  type Receipt = { from: Hex; gasUsed: Hex; logs: unknown[]; status: Hex }
  const sent: { number: number; time: number; gas: number; issued: number }[] = []
  const head = Number(await chain.request<Hex>('eth_blockNumber'))
  for (let number = 0; number <= head; number++) {
    const block = `0x${number.toString(16)}`
    const [{ timestamp }, receipts] = await Promise.all([
      chain.request<{ timestamp: Hex }>('eth_getBlockByNumber', block, false),
      chain.request<Receipt[]>('eth_getBlockReceipts', block),
    ])
    for (const { from, gasUsed, logs, status } of receipts)
      if (from === accounts[0]?.toLowerCase())
        sent.push({
          number,
          time: Number(timestamp),
          gas: Number(gasUsed),
          issued: status === '0x1' ? logs.length : 0,
        })
  }
  return sent
}
