import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hex } from '../../document/hex.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { postgresFolder } from '../support/postgres.ts'
import { type SharedGateways, startSharedGateways } from '../support/shared-gateways.ts'
import { ADA, API_KEY } from '../support/stack.ts'

const folder = postgresFolder()

type Issued = { publicId: string; documentHash: Hex; status: string }

const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }

/** @returns `undefined` when the gateway did not accept it. */
async function issue({ url }: GatewayProcess, idempotencyKey: string): Promise<Issued | undefined> {
  try {
    const response = await fetch(`${url}/v1/documents`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': idempotencyKey },
      body: JSON.stringify(ADA),
      signal: AbortSignal.timeout(20_000),
    })
    const { data } = (await response.json()) as { data: Issued }
    return response.ok ? data : undefined
  } catch {
    return undefined
  }
}

async function statusOf({ url }: GatewayProcess, publicId: string): Promise<string> {
  const response = await fetch(`${url}/v1/verify?publicId=${publicId}`, { headers })
  const { data } = (await response.json()) as { data: { status: string } }
  return data.status
}

/** Three gateways with two accounts: one of them always is without. */
describe.skipIf(folder === undefined)('gateways on one database', () => {
  let shared: SharedGateways
  beforeAll(async () => {
    shared = await startSharedGateways(folder ?? '', { gateways: 3, accounts: 2 })
  })
  afterAll(() => shared?.remove())

  /** Issues in turn at each gateway; each retry goes to the next one. */
  async function issueMany(name: string, count: number): Promise<Issued[]> {
    const { gateways } = shared
    const answered: Issued[] = []
    async function one(i: number): Promise<void> {
      for (let turn = i; ; turn++) {
        const gateway = gateways[turn % gateways.length]
        const issued = gateway && (await issue(gateway, `${name}-${i}`))
        if (issued) return void answered.push(issued)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    const lanes = 12
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        for (let i = lane; i < count; i += lanes) await one(i)
      }),
    )
    return answered
  }

  /** All are on the chain, each once, and every gateway says so. */
  async function assertIssuedOnce(issued: readonly Issued[]): Promise<void> {
    for (const { publicId } of issued)
      for (const gateway of shared.gateways)
        await expect.poll(() => statusOf(gateway, publicId), { timeout: 30_000 }).toBe('valid')
    const events = await shared.issuedEvents()
    expect(new Set(events).size).toBe(events.length)
    const hashes = issued.map(({ documentHash }) => documentHash)
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(events).toEqual(expect.arrayContaining(hashes))
  }

  test('default: every gateway issues, with or without an account', async () => {
    await assertIssuedOnce(await issueMany('all', 12))
  }, 60_000)

  test('behavior: a repeat gets the same answer from each gateway', async () => {
    const answers = await Promise.all(shared.gateways.map((one) => issue(one, 'the-same')))
    const ids = new Set(answers.map((answer) => answer?.publicId))
    expect([...ids]).toEqual([expect.stringMatching(/./)])
  }, 60_000)

  test('behavior: when one is killed under load, the others continue with its account', async () => {
    const [doomed] = shared.gateways
    const load = issueMany('kill', 60)
    await expect.poll(async () => (await shared.issuedEvents()).length).toBeGreaterThan(20)
    await doomed?.kill()
    const issued = await load
    await doomed?.start()
    expect(issued.length).toBe(60)
    await assertIssuedOnce(issued)
  }, 120_000)

  test('behavior: one that is stopped for longer than its lease signs nothing twice', async () => {
    const [, doomed] = shared.gateways
    const load = issueMany('stop', 60)
    await expect.poll(async () => (await shared.issuedEvents()).length).toBeGreaterThan(80)
    doomed?.pause()
    setTimeout(() => doomed?.resume(), 8_000)
    const issued = await load
    expect(issued.length).toBe(60)
    await assertIssuedOnce(issued)
  }, 120_000)
})
