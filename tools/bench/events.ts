// `node tools/bench/events.ts`: measures the cost of a document's events (issued, final). Documents are
// promised, anchored and final in groups, as under load, in a new database, with and without events
// in turn. Prints its figures.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toHex } from '#document/hex.ts'
import type { IssueIntent } from '#promise/intent.ts'
import { type SqliteDatabase as Database, openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createLeaderOutbox, createOutbox, createPersistence } from '#store/outbox.ts'
import { createPayloadStore } from '#store/payloads.ts'
import { median } from './quantile.ts'

const ROUNDS = 8
const GROUPS = 50
const IN_GROUP = 200
const SEALED_BYTES = 600
const COUNT = GROUPS * IN_GROUP

/** @returns Microseconds of processor time and of wall-clock time for each document. */
async function measure(database: Database, firstBlock: number) {
  const outbox = createOutbox(database)
  const persistence = createPersistence(createPayloadStore(database), outbox)
  const begun = performance.now()
  const usage = process.cpuUsage()
  for (let group = 0; group < GROUPS; group++) {
    const intents: IssueIntent[] = []
    const adding = Array.from({ length: IN_GROUP }, () => {
      const documentHash = randomBytes(32)
      const key = { kind: 'issue', documentHash: toHex(documentHash) } as const
      const intent = { ...key, validUntil: 0, tenant: 'default' }
      intents.push(intent)
      return persistence.add(intent, { documentHash, bytes: randomBytes(SEALED_BYTES) })
    })
    await Promise.all(adding)
    const anchoring = {
      blockNumber: firstBlock + group,
      blockHash: toHex(randomBytes(32)),
      transactionHash: toHex(randomBytes(32)),
    }
    const anchored = intents.map((intent) => ({ intent, anchoring }))
    await createLeaderOutbox(database).resolve({ anchored, gone: [] })
    await outbox.review({ final: anchored, gone: [], moved: [], dropped: [] })
  }
  const { user, system } = process.cpuUsage(usage)
  return { cpu: (user + system) / COUNT, wall: (1000 * (performance.now() - begun)) / COUNT }
}

/** Keeps the database without events, because a trigger of the same name is not created again. */
function withoutEvents({ sqlite }: Database): void {
  sqlite.exec(`
    DROP TRIGGER event_anchored;
    CREATE TEMP TRIGGER no_final BEFORE INSERT ON main.event BEGIN SELECT RAISE(IGNORE); END`)
}

const results = { with: [] as number[], without: [] as number[] }
for (let round = 0; round < 2 * ROUNDS; round++) {
  const kind = round % 2 === 0 ? 'with' : 'without'
  const folder = mkdtempSync(join(tmpdir(), 'events-'))
  const database = openSqlite(join(folder, 'gateway.db'))
  if (kind === 'without') withoutEvents(database)
  const { cpu, wall } = await measure(database, 1)
  results[kind].push(cpu)
  const { events, bytes } = database.sqlite
    .prepare(`SELECT (SELECT count(*) FROM event) AS events,
      (SELECT sum(pgsize) FROM dbstat WHERE name = 'event') AS bytes`)
    .get() as { events: number; bytes: number }
  const size = events > 0 ? `, ${(bytes / events).toFixed(0)} bytes an event` : ''
  console.log(
    `${kind.padEnd(7)} events: ${cpu.toFixed(1)} µs of processor, ${wall.toFixed(1)} µs in all, for each document${size}`,
  )
  await database.close()
  rmSync(folder, { recursive: true })
}
console.log(
  `median: ${median(results.with).toFixed(1)} µs with, ${median(results.without).toFixed(1)} µs without`,
)
