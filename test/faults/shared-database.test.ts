import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { API_KEY } from '../support/given.ts'
import { postgresFolder } from '../support/postgres.ts'
import { type SharedGateways, startSharedGateways } from './support/shared-gateways.ts'
import { type Acknowledged, issueAt, issueInTurn, statusAt } from './support/shared-load.ts'

const folder = postgresFolder()
const PATIENCE = { timeout: 60_000 }

/** Three gateways with two accounts: one of them always is without. */
describe.skipIf(folder === undefined)('gateways on one database', () => {
  let shared: SharedGateways
  beforeAll(async () => {
    shared = await startSharedGateways(folder ?? '', { gateways: 3, accounts: 2 })
  })
  afterAll(() => shared?.remove())

  const issueMany = (name: string, count: number) =>
    issueInTurn(shared.gateways, { name, count, connections: 12 })

  async function anchoredSince(before: number): Promise<number> {
    return (await shared.issuedEvents()).length - before
  }

  /** All are on the chain, each once, and every gateway says so. */
  async function assertIssuedOnce(issued: readonly Acknowledged[]): Promise<void> {
    for (const { publicId } of issued)
      for (const gateway of shared.gateways)
        await expect.poll(() => statusAt(gateway, publicId)).toBe('valid')
    const events = await shared.issuedEvents()
    expect(new Set(events).size).toBe(events.length)
    const hashes = issued.map(({ documentHash }) => documentHash)
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(events).toEqual(expect.arrayContaining(hashes))
  }

  test('every gateway issues, with or without an account', async () => {
    const issued = await issueMany('all', 12)
    expect(issued.length).toBe(12)
    await assertIssuedOnce(issued)
  })

  test('a repeat gets the same answer from each gateway', async () => {
    const answers = await Promise.all(shared.gateways.map((one) => issueAt(one, 'repeated')))
    const [first] = answers
    expect(first).toBeDefined()
    expect(answers).toEqual([first, first, first])
  })

  test('the others continue with the account of a gateway that is killed under load', async () => {
    const [doomed] = shared.gateways
    const before = (await shared.issuedEvents()).length
    const load = issueMany('kill', 60)
    await expect.poll(() => anchoredSince(before)).toBeGreaterThan(5)
    await doomed?.kill()
    const issued = await load
    await doomed?.start()
    expect(issued.length).toBe(60)
    await assertIssuedOnce(issued)
  })

  test('the others finish a run when gateways are killed, and issue each row once', async () => {
    const rows = Array.from({ length: 900 }, (_, i) => ({
      subjectName: 'Ada',
      subjectId: `${i}`,
      category: 'run',
      issuedAt: '2026-01-31',
    }))
    const before = (await shared.issuedEvents()).length
    const ask = async (gateway: GatewayProcess | undefined, path: string, init = {}) => {
      const headers = {
        authorization: `Bearer ${API_KEY}`,
        'content-type': 'application/x-ndjson',
      }
      const response = await fetch(`${gateway?.url}${path}`, { headers, ...init })
      return ((await response.json()) as { data: Record<string, unknown> }).data
    }
    const body = rows.map((row) => JSON.stringify(row)).join('\n')
    const [first, second, third] = shared.gateways
    const { id } = await ask(first, '/v1/runs', { method: 'POST', body })
    await expect.poll(() => anchoredSince(before), PATIENCE).toBeGreaterThan(0)
    await Promise.all([first?.kill(), second?.kill()])
    await expect.poll(async () => (await ask(third, `/v1/runs/${id}`)).state, PATIENCE).toBe('done')
    await Promise.all([first?.start(), second?.start()])
    expect(await anchoredSince(before)).toBe(rows.length)
    const events = await shared.issuedEvents()
    expect(new Set(events).size).toBe(events.length)
  })

  test('a gateway that pauses for longer than its lease does no harm', async () => {
    const [, doomed] = shared.gateways
    const before = (await shared.issuedEvents()).length
    const load = issueMany('stop', 60)
    await expect.poll(() => anchoredSince(before)).toBeGreaterThan(5)
    doomed?.pause()
    setTimeout(() => doomed?.resume(), 8_000)
    const issued = await load
    expect(issued.length).toBe(60)
    await assertIssuedOnce(issued)
  })

  test('continues after an outage of the database, and promises nothing during it', async () => {
    const [any] = shared.gateways
    if (any === undefined) throw new Error('no gateway')
    await shared.postgres.shutDown()
    expect(await issueAt(any, 'outage-0')).toBeUndefined()
    await shared.postgres.start()
    const issued = await issueMany('outage', 12)
    expect(issued.length).toBe(12)
    await assertIssuedOnce(issued)
  })
})
