import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Hex, toHex } from '../../document/hex.ts'
import { type Database, openDatabase } from '../../gateway/adapters/database.ts'
import { createSqliteOutbox } from '../../gateway/adapters/sqlite-outbox.ts'
import type { Intent, Outbox } from '../../gateway/issue/ports.ts'

let dir: string
let database: Database
let outbox: Outbox
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outbox-'))
  database = openDatabase(join(dir, 'gateway.db'))
  outbox = createSqliteOutbox(database)
})
afterEach(async () => {
  await database.close()
  rmSync(dir, { recursive: true })
})

const hash = (): Hex => toHex(randomBytes(32))
const issue = (): Intent => ({
  kind: 'issue',
  documentHash: hash(),
  validUntil: 7,
})

async function added(intents: Intent[]): Promise<Intent[]> {
  await Promise.all(intents.map((intent) => outbox.add(intent)))
  return intents
}

const transaction = (nonce: number) => ({
  nonce,
  hash: hash(),
  raw: hash(),
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
})

const anchoring = () => ({
  blockNumber: 5,
  blockHash: hash(),
  transactionHash: hash(),
})

test('default: a plan carries its intents, and no others', async () => {
  const [a, b, c] = await added([issue(), issue(), issue()])
  if (!a || !b || !c) throw new Error('three')
  const revocation: Intent = {
    kind: 'revoke',
    documentHash: a.documentHash,
    reason: 1,
  }
  await outbox.add(revocation)
  const sent = transaction(3)
  const plan = await outbox.plan(sent, [a, b])
  expect(outbox.plans()).toEqual([plan])
  expect(plan).toMatchObject({ nonce: 3, intents: [a, b], attempts: [sent] })
  expect(outbox.queued()).toEqual([c, revocation])
  expect(outbox.find('issue', a.documentHash)).toEqual({
    intent: a,
    anchored: false,
    transactionHash: sent.hash,
  })
})

test('default: all in one place', async () => {
  const intents = await added([issue(), issue()])
  const [other] = await added([issue()])
  const plan = await outbox.plan(transaction(3), intents)
  const left = await outbox.plan(transaction(4), other ? [other] : [])
  const place = anchoring()
  const anchored = intents.map((intent) => ({ intent, anchoring: place }))
  await outbox.settle(plan, { anchored, gone: [] })
  expect(outbox.anchoredIn(place, 10)).toEqual(anchored)
  expect(outbox.plans()).toEqual([left])
  expect(outbox.queued()).toEqual([])
})

test('behavior: each elsewhere, one gone, one back in the queue', async () => {
  const intents = await added([issue(), issue(), issue(), issue()])
  const [a, b, gone, absent] = intents
  if (!a || !b || !gone || !absent) throw new Error('four')
  const plan = await outbox.plan(transaction(3), intents)
  const places = [anchoring(), anchoring()] as const
  await outbox.settle(plan, {
    anchored: [
      { intent: a, anchoring: places[0] },
      { intent: b, anchoring: places[1] },
    ],
    gone: [gone],
  })
  expect(outbox.anchoredIn(places[0], 10)).toEqual([
    { intent: a, anchoring: places[0] },
  ])
  expect(outbox.anchoredIn(places[1], 10)).toEqual([
    { intent: b, anchoring: places[1] },
  ])
  expect(outbox.find('issue', gone.documentHash)).toBeUndefined()
  expect(outbox.queued()).toEqual([absent])
  expect(outbox.plans()).toEqual([])
})

test('behavior: all that are anchored in one place, but not all of the plan', async () => {
  const intents = await added([issue(), issue()])
  const [a, b] = intents
  if (!a || !b) throw new Error('two')
  const plan = await outbox.plan(transaction(3), intents)
  const place = anchoring()
  await outbox.settle(plan, {
    anchored: [{ intent: a, anchoring: place }],
    gone: [],
  })
  expect(outbox.anchoredIn(place, 10)).toHaveLength(1)
  expect(outbox.queued()).toEqual([b])
})
