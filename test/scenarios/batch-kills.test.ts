import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type AnvilWorld, startAnvilWorld } from '../faults/support/world.ts'
import { createKubo, type Kubo, kuboBinary } from '../support/kubo.ts'
import { ADA, API_KEY, startStack } from '../support/stack.ts'

// A gateway in its own process, killed while it issues a batch.

/** Takes more than one commit for the payloads, for the blocks and for the documents. */
const SIZE = 300

const binary = await kuboBinary()

async function startWorld(env?: Record<string, string>): Promise<AnvilWorld> {
  const world = await startAnvilWorld(env)
  onTestFinished(world.close)
  return world
}

const body = Array.from({ length: SIZE }, (_, i) =>
  JSON.stringify({ ...ADA, subjectId: `${i}` }),
).join('\n')

type Answer = { line: number; data: { publicId: string; status: string; batchRoot: string } }

async function issue({ url }: { url: string }): Promise<{ status: number; lines: Answer[] }> {
  const response = await fetch(`${url}/v1/batches`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/x-ndjson',
      'idempotency-key': 'the-batch',
    },
    body,
  })
  const text = await response.text()
  const lines = text.trimEnd().split('\n')
  return { status: response.status, lines: lines.map((line) => JSON.parse(line)) }
}

async function statusOf({ url }: { url: string }, publicId: string) {
  const response = await fetch(`${url}/v1/verify?publicId=${publicId}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  const { data } = (await response.json()) as { data: { status: string } }
  return data.status
}

test('a batch that was killed at any step continues by its key, and is never doubled', async () => {
  const { gateway, ledger, dataDir } = await startWorld()
  let kills = 0
  // The claim, the documents, the batch blocks, the manifest, the promise, the plan, the outcome.
  for (let count = 1; ; count++) {
    await gateway.tell({
      order: 'kill_at_commit',
      count,
      side: count % 2 === 0 ? 'before' : 'after',
    })
    const answer = await issue(gateway).catch(() => undefined)
    if (answer) {
      expect(answer.status).toBe(201)
      break
    }
    await gateway.ended()
    kills++
    await gateway.start()
    // A kill may come before the file has lost its name: then the start deletes it.
    expect(readdirSync(join(dataDir, 'spool'))).toEqual([])
  }
  expect(kills).toBeGreaterThan(4)
  // It would still be killed at a later commit.
  await gateway.kill()
  await gateway.start()
  const { lines } = await issue(gateway)
  expect(await ledger.batches()).toEqual([lines[0]?.data.batchRoot])
  expect(lines.length).toBe(SIZE)
  for (const at of [0, SIZE - 1])
    expect(await statusOf(gateway, lines[at]?.data.publicId ?? '')).toBe('valid')
})

/** Rows of the stopped gateway's tables. */
function rowsIn(dataDir: string, ...tables: string[]): number[] {
  const database = new DatabaseSync(join(dataDir, 'gateway.db'))
  try {
    return tables.map((table) =>
      Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n),
    )
  } finally {
    database.close()
  }
}

test('a start deletes the remains of a killed batch that was not promised', async () => {
  const { gateway, dataDir } = await startWorld()
  const tables = ['payload', 'record', 'batch', 'batch_draft'] as const
  let left = 0
  let discarded = 0
  for (const count of [5, 7, 8]) {
    await gateway.tell({ order: 'kill_at_commit', count, side: 'after' })
    expect(await issue(gateway).catch(() => undefined)).toBeUndefined()
    await gateway.ended()
    left += rowsIn(dataDir, 'payload')[0] as number
    await gateway.start()
    discarded++
    await expect
      .poll(() => gateway.output().split('batch_drafts_discarded').length - 1)
      .toBe(discarded)
  }
  await gateway.stop()
  expect(rowsIn(dataDir, ...tables)).toEqual([0, 0, 0, 0])
  await gateway.start()
  expect(left).toBeGreaterThan(0)
  // What was promised stays, whatever came before.
  const { status, lines } = await issue(gateway)
  expect(status).toBe(201)
  await gateway.kill()
  await gateway.start()
  expect(await statusOf(gateway, lines[SIZE - 1]?.data.publicId ?? '')).toBe('valid')
  await gateway.stop()
  expect(rowsIn(dataDir, ...tables)).toEqual([2 * SIZE + 2, SIZE, 1, 0])
})

describe.skipIf(!binary)('with Kubo', () => {
  let kubo: Kubo
  beforeAll(async () => {
    kubo = await createKubo(binary as string)
    await kubo.start()
  })
  afterAll(() => kubo?.remove())

  test('the node has all payloads, batch blocks and the manifest', async () => {
    const stored = async () => (await kubo.ipfs('refs', 'local')).split('\n').length
    const before = await stored()
    const stack = await startStack({ IPFS_API_URL: kubo.apiUrl })
    onTestFinished(stack.stop)
    const { status, lines } = await issue(stack)
    expect(status).toBe(201)
    expect(await statusOf(stack, lines[7]?.data.publicId ?? '')).toBe('valid')
    const batch = await fetch(`${stack.url}/v1/batches/${lines[0]?.data.batchRoot}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    const { data } = (await batch.json()) as { data: { manifest: string } }
    const manifest = await fetch(`${stack.url}/ipfs/${data.manifest}?format=raw`)
    expect(manifest.status).toBe(200)
    // Documents, batch blocks, one chunk and the root block of the manifest.
    await expect.poll(async () => (await stored()) - before).toBeGreaterThanOrEqual(2 * SIZE + 2)
  })
})
