import { formatEther, Transaction, Wallet } from 'ethers'
import { afterEach, expect, test } from 'vitest'
import { NOTHING_WRONG } from './support/oracle.ts'
import { promisesOf } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// Caps on fees: the gateway's, and those of nodes.

let world: AnvilWorld
afterEach(() => world.close())

const GWEI = 10n ** 9n

test('answers fee_too_high at the hourly cap, also after a restart', async () => {
  world = await startAnvilWorld({ MAX_HOURLY_FEE_ETHER: '0.0005' })
  const {
    chain,
    gateway,
    issuerKeys: [issuerKey],
  } = world
  const { address } = new Wallet(issuerKey)
  const balance = async () =>
    BigInt(await chain.request<string>('eth_getBalance', address, 'latest'))
  const before = await balance()
  const spent = async () => Number(formatEther(before - (await balance())))
  const answers: unknown[] = []
  const isRefusedTwice = () => answers.slice(-2).every((answer) => answer === 'fee_too_high')
  while (answers.length < 60 && (answers.length < 2 || !isRefusedTwice())) {
    // A transaction counts with all that it may cost until its cost is noted: then one more may fit.
    if (answers.at(-1) === 'fee_too_high')
      await expect.poll(feesOfHour).toBeCloseTo(await spent(), 7)
    // Anvil's base fee falls with every block.
    await setBaseFee(GWEI)
    answers.push(await answerOf())
  }
  expect(answers.slice(0, 2)).toEqual([201, 201])
  expect(answers.slice(-2)).toEqual(['fee_too_high', 'fee_too_high'])
  await setBaseFee(GWEI)
  await expect.poll(() => codeAt('/readyz')).toBe('fee_too_high')
  // Scrapes within a second share a rendering.
  await expect
    .poll(() => metricsOf(gateway.url))
    .toContain('document_registry_issuing_stopped{code="fee_too_high"} 1')
  // The restart has not reset the sum.
  await gateway.kill()
  await gateway.start()
  await expect.poll(feesOfHour).toBeCloseTo(await spent(), 7)
  expect(await answerOf()).toBe('fee_too_high')
  expect(await spent()).toBeLessThanOrEqual(0.0005)
  // What was accepted before the cap was known waits until the hour has passed.
  const waiting = world.client.wishes
    .filter(({ told }) => told.some((one) => one.kind === 'issued' && one.document === 'pending'))
    .map(({ number }) => number)
  expect(waiting.length).toBeLessThanOrEqual(2)
  const judged = await world.judge()
  expect(judged).toMatchObject({ ...NOTHING_WRONG, lost: waiting, notValid: judged.notValid })
  for (const number of judged.notValid) expect(waiting).toContain(number)
})

test('a base fee over the cap stops issuing until it falls', async () => {
  world = await startAnvilWorld({
    MAX_TRANSACTION_FEE_ETHER: '0.001',
    WAIT_SECONDS: '2',
  })
  const { chain, client } = world
  await chain.request('evm_setAutomine', false)
  const promised = await client.issue({ respondAsync: true })
  expect(promisesOf(promised)).toHaveLength(1)
  await setBaseFee(500n * GWEI)
  await expect.poll(answerOf).toBe('fee_too_high')
  await setBaseFee(GWEI)
  await chain.request('evm_setAutomine', true)
  await chain.request('evm_mine')
  await expect.poll(answerOf).toBe(201)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('splits a send that exceeds the cap of every node until they accept it', async () => {
  world = await startAnvilWorld({
    MAX_TRANSACTION_FEE_ETHER: 'off',
    MAX_HOURLY_FEE_ETHER: 'off',
  })
  const { client, proxy } = world
  // geth and Besu refuse like this; four documents exceed this cap.
  let refused = 0
  proxy.fault = ({ method, params }) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const { gasLimit } = Transaction.from(String(params[0]))
    if (gasLimit < 100_000n) return undefined
    refused++
    const message = 'tx fee (1.08 ether) exceeds the configured cap (1.00 ether)'
    return { kind: 'refusal', error: { code: -32000, message } }
  }
  const wishes = await Promise.all(
    Array.from({ length: 12 }, () => client.issue({ respondAsync: true })),
  )
  expect(wishes.flatMap(promisesOf)).toHaveLength(12)
  await expect.poll(() => refused).toBeGreaterThan(0)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

async function setBaseFee(wei: bigint): Promise<void> {
  const hex = `0x${wei.toString(16)}`
  await world.chain.request('anvil_setNextBlockBaseFeePerGas', hex)
  await world.chain.request('evm_mine')
}

const metricsOf = async (url: string) => (await fetch(`${url}/metrics`)).text()

/** @returns Ether that counts towards the cap of the hour. */
async function feesOfHour(): Promise<number> {
  const metrics = await metricsOf(world.gateway.url)
  return Number(/^document_registry_fees_last_hour_ether (.+)$/m.exec(metrics)?.[1])
}

async function codeAt(path: string): Promise<unknown> {
  const response = await fetch(`${world.gateway.url}${path}`)
  const { error } = (await response.json()) as { error?: { code: string } }
  return error?.code
}

/** @returns The status, or the code of a refusal. */
async function answerOf(): Promise<unknown> {
  const [told] = (await world.client.issue()).told
  return told?.kind === 'issued' ? told.status : told?.kind === 'refused' && told.code
}
