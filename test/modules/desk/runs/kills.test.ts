import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startAnvilWorld } from '#test/faults/support/world.ts'
import type { GatewayProcess } from '#test/support/gateway-process.ts'
import { ADA, API_KEY } from '#test/support/given.ts'
import { IS_LONG } from '#test/support/long.ts'

// A gateway in its own process, killed while it works on a run.

const SIZE = IS_LONG ? 10_000 : 600
const KILLS = 3
const headers = { authorization: `Bearer ${API_KEY}` }
const PATIENCE = { timeout: 170_000, interval: 200 }

const body = Array.from({ length: SIZE }, (_, i) =>
  JSON.stringify({ ...ADA, subjectId: `${i}` }),
).join('\n')

async function ask({ url }: GatewayProcess, path: string, init: RequestInit = {}) {
  const response = await fetch(`${url}${path}`, {
    ...init,
    headers: { ...headers, ...init.headers },
  })
  const { data } = (await response.json()) as { data: Record<string, unknown> }
  return data
}

test.each(['single', 'batch'])(
  'a run (%s) whose gateway is killed three times issues each row once',
  async (mode) => {
    const { gateway, ledger, close } = await startAnvilWorld()
    onTestFinished(close)
    const run = await ask(gateway, `/v1/runs?mode=${mode}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body,
    })
    const path = `/v1/runs/${run.id}`
    const doneOf = async () => Number((await ask(gateway, path)).done)
    for (let kill = 0; kill < KILLS; kill++) {
      // One by one, some rows are done by then and others are under way; a batch is being sealed.
      if (mode === 'single')
        await expect.poll(doneOf, PATIENCE).toBeGreaterThan((kill * SIZE) / (KILLS + 1))
      else await sleep(200 * kill)
      await gateway.kill()
      await gateway.start()
    }
    await expect.poll(async () => (await ask(gateway, path)).state, PATIENCE).toBe('done')
    const hashes = new Set<string>()
    for (let after = 0; after < SIZE; after += 1_000) {
      const { rows } = await ask(gateway, `${path}/rows?limit=1000&after=${after}`)
      for (const { issued } of rows as { issued: { documentHash: string } }[])
        hashes.add(issued.documentHash)
    }
    expect(hashes.size).toBe(SIZE)
    if (mode === 'single') {
      const issued = await ledger.issued()
      expect(issued.length).toBe(SIZE)
      expect(new Set(issued)).toEqual(hashes)
    } else expect(await ledger.batches()).toHaveLength(1)
  },
  400_000,
)
