import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alertsOf, MAX_QUEUED, NEAR_CAP, STALE_HEAD_SECONDS } from '#base/alerts.ts'
import { describeDatabases } from '#test/support/databases.ts'
import { type Desk, signIn } from '#test/support/desk.ts'
import { ADA, type Answer, type Stack, startStack } from '#test/support/stack.ts'

const ROOT = join(import.meta.dirname, '../../..')

describeDatabases('the overview', (settings) => {
  let stack: Stack
  let reader: Desk
  beforeAll(async () => {
    stack = await startStack({ WAIT_SECONDS: '15', ...(await settings()) })
    reader = await signIn(stack, { role: 'reader', tenant: 'one' })
  })
  afterAll(() => stack.stop())

  const overviewOf = async (desk: Desk) => (await desk.send('GET', '/v1/overview')).body.data
  const thisWeek = async (desk: Desk) => (await overviewOf(desk)).weeks.at(-1)

  test('counts what the tenant issued and revoked, with batches by size', async () => {
    const key = stack.key(['documents:issue', 'documents:revoke'], 'one')
    const authorization = `Bearer ${key}`
    const send = (path: string, body?: string, type = 'application/json') =>
      stack.request(path, {
        method: 'POST',
        headers: { authorization, ...(body !== undefined && { 'content-type': type }) },
        ...(body !== undefined && { body }),
      })
    const issue = async () => (await stack.issue(ADA, { authorization })).body.data.documentHash
    const [one, two] = [await issue(), await issue()]
    const lines = [1, 2, 3].map((i) => JSON.stringify({ ...ADA, subjectId: `${i}` })).join('\n')
    const batch = await send('/v1/batches', lines, 'application/x-ndjson')
    const [line = ''] = Buffer.from(batch.body).toString().split('\n')
    await send(`/v1/documents/${one}/revoke`)
    await send(`/v1/documents/${one}/revoke`)
    await send(`/v1/documents/${two}/supersede`, JSON.stringify(ADA))
    await send(`/v1/batches/${JSON.parse(line).data.batchRoot}/revoke`)
    await stack.issue(ADA)
    await expect
      .poll(() => thisWeek(reader))
      .toMatchObject({ issued: 6, revoked: 4, superseded: 1 })
    const administrator = await signIn(stack, { role: 'administrator' })
    await expect.poll(() => thisWeek(administrator)).toMatchObject({ issued: 7 })
  })

  test('a batch that is repeated after finality has no second event and counts once', async () => {
    const key = stack.key(['documents:issue', 'documents:read'], 'one')
    const headers = { authorization: `Bearer ${key}` }
    const lines = [1, 2].map((i) => JSON.stringify({ ...ADA, subjectId: `7${i}` })).join('\n')
    const issueBatch = () =>
      stack.request('/v1/batches', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-ndjson', 'idempotency-key': 'again' },
        body: lines,
      })
    const typesOf = async (hash: string): Promise<string[]> => {
      const { body } = await stack.request('/v1/events?limit=100', { headers })
      type Listed = { type: string; data: { documentHash?: string; batchRoot?: string } }
      return body.data.events
        .filter(({ data }: Listed) => [data.documentHash, data.batchRoot].includes(hash))
        .map(({ type }: Listed) => type)
    }
    const rootIn = ({ body }: Answer) =>
      JSON.parse(Buffer.from(body).toString().split('\n')[0] ?? '').data.batchRoot
    const mine = () => stack.provider.request({ method: 'anvil_mine', params: ['0x50'] })

    const root = rootIn(await issueBatch())
    await mine()
    await expect.poll(() => typesOf(root)).toEqual(['batch.issued', 'batch.final'])
    const counted = await thisWeek(reader)
    const again = await issueBatch()
    expect([again.status, rootIn(again)]).toEqual([201, root])
    const { documentHash } = (await stack.issue(ADA, headers)).body.data
    await mine()
    await expect.poll(() => typesOf(documentHash)).toEqual(['document.issued', 'document.final'])
    expect(await typesOf(root)).toEqual(['batch.issued', 'batch.final'])
    expect(await thisWeek(reader)).toEqual({ ...counted, issued: counted.issued + 1 })
  })

  test('shows what the account can pay for, and the alerts', async () => {
    const { weeks, account, fees, alerts, backup } = await overviewOf(reader)
    expect(weeks).toHaveLength(8)
    expect(new Date(weeks[0].from).getUTCDay()).toBe(1)
    expect(account.documents).toBe(Number(BigInt(account.balance) / BigInt(account.fee)))
    expect(account.documents).toBeGreaterThan(1_000)
    expect([fees.cap, alerts, backup.madeAt]).toEqual([null, [], null])
    // What was issued before may still be in flight.
    await expect
      .poll(async () => (await overviewOf(reader)).waiting)
      .toEqual({ queued: 0, refused: 0, inFlight: 0 })
  })
})

describe('alerts', () => {
  const lowBalance = 10n
  test.each([
    ['issuing_stopped', { stopped: 'fee_too_high' }],
    ['low_balance', { balance: 9n }],
    ['may_not_revoke', { mayRevoke: false }],
    ['clock_behind_chain', { headAge: -16 }],
    ['stale_head', { headAge: STALE_HEAD_SECONDS + 1, hasRegularBlocks: true }],
    ['hourly_fees_near_cap', { spentLastHour: 81n, hourlyCap: 100n }],
    ['queue_grows', { queued: MAX_QUEUED + 1 }],
    ['webhooks_fail', { webhooks: { failing: 0, disabled: 1 } }],
    ['erasures_unfinished', { unfinishedErasures: 1 }],
  ] as const)('%s', (name, seen) => {
    expect(alertsOf({ lowBalance, ...seen })).toEqual([name])
  })

  test('an unknown value, or one at its limit, is no alert', () => {
    const limits = { balance: 10n, headAge: -15, queued: MAX_QUEUED, hourlyCap: 100n }
    expect(alertsOf({ lowBalance })).toEqual([])
    expect(alertsOf({ lowBalance, ...limits, spentLastHour: 80n })).toEqual([])
  })

  test('the rules for Prometheus have the same limits', () => {
    const rules = readFileSync(join(ROOT, 'deployments/monitoring/alerts.yml'), 'utf8')
    for (const rule of [
      `document_registry_intents_queued > ${MAX_QUEUED}\n`,
      `document_registry_head_age_seconds > ${STALE_HEAD_SECONDS}\n`,
      `document_registry_fee_cap_ether{of="hour"} > ${NEAR_CAP}\n`,
      'document_registry_account_balance_ether < 0.05\n',
    ])
      expect(rules).toContain(rule)
  })
})
