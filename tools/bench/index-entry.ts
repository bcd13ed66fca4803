// `node tools/bench/index-entry.ts [documents] [database]`: measures the cost of a document's entry
// in the index, in a database with ten million documents or the given number. Documents are
// promised and anchored in groups, as under load, with and without an entry in turn. Prints its
// figures. It changes the given database; without one, it creates one.

import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hkdfWithNode } from '#base/node-crypto.ts'
import { toHex } from '#document/hex.ts'
import { createIndexEntryOf } from '#promise/blind-index.ts'
import type { IndexEntry } from '#promise/document-index.ts'
import type { IssueIntent } from '#promise/intent.ts'
import { createDocumentIndex } from '#store/documents.ts'
import { type SqliteDatabase as Database, openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createLeaderOutbox, createOutbox, createPersistence } from '#store/outbox.ts'
import { createPayloadStore } from '#store/payloads.ts'
import { fillDatabase, rowsFor } from './ten-million/fill.ts'
import { FIRST_SECOND } from './ten-million/pretended.ts'

const ROUNDS = 6
const GROUPS = 40
const IN_GROUP = 200
const SEALED_BYTES = 600

const documents = Number(process.argv[2] ?? 10_000_000)
const subkeys = { index: randomBytes(32) }
const indexEntryOf = createIndexEntryOf(hkdfWithNode)

function entryOf(): IndexEntry {
  const subjectId = String(randomBytes(6).readUIntBE(0, 6))
  return indexEntryOf(
    subkeys,
    {
      subjectName: 'Ada Lovelace',
      subjectId,
      category: 'birth_certificate',
      issuedAt: '2026-01-31',
      registry: `eip155:1:0x${'11'.repeat(20)}`,
      issuerId: 1,
    },
    'default',
  )
}

/**
 * @returns Microseconds of processor time and of wall-clock time for each document, and the pages
 * that it writes into the log.
 */
async function measure(database: Database, withEntry: boolean, firstBlock: number) {
  const outbox = createOutbox(database)
  const persistence = createPersistence(createPayloadStore(database), outbox)
  const begun = performance.now()
  const usage = process.cpuUsage()
  const pages = countPages(database)
  for (let group = 0; group < GROUPS; group++) {
    const intents: IssueIntent[] = []
    const adding = Array.from({ length: IN_GROUP }, () => {
      const documentHash = randomBytes(32)
      const intent = { kind: 'issue', documentHash: toHex(documentHash), validUntil: 0 } as const
      intents.push(intent)
      const sealed = { documentHash, bytes: randomBytes(SEALED_BYTES) }
      return persistence.add(intent, withEntry ? { ...sealed, entry: entryOf() } : sealed)
    })
    await Promise.all(adding)
    pages.count()
    const anchoring = {
      blockNumber: firstBlock + group,
      blockHash: toHex(randomBytes(32)),
      transactionHash: toHex(randomBytes(32)),
    }
    const anchored = intents.map((intent) => ({ intent, anchoring }))
    await createLeaderOutbox(database).resolve({ anchored, gone: [] })
    pages.count()
  }
  const { user, system } = process.cpuUsage(usage)
  const count = GROUPS * IN_GROUP
  return {
    cpu: (user + system) / count,
    wall: (1000 * (performance.now() - begun)) / count,
    pages: pages.total() / count,
  }
}

/** Counts the pages in the log, which starts over at each checkpoint. */
function countPages({ sqlite }: Database) {
  const state = sqlite.prepare('PRAGMA wal_checkpoint(NOOP)')
  const inLog = () => Number(state.get()?.log)
  let before = inLog()
  let total = 0
  return {
    count() {
      const now = inLog()
      total += now < before ? now : now - before
      before = now
    },
    total: () => total,
  }
}

/** @returns Microseconds to find a payload by its hash. */
async function measureLookUp(database: Database): Promise<number> {
  const store = createPayloadStore(database)
  const rows = database.sqlite
    .prepare('SELECT hash FROM block WHERE rowid % 9973 = 7 ORDER BY random() LIMIT 1000')
    .all()
  const usage = process.cpuUsage()
  for (const { hash } of rows) await store.get(hash as Uint8Array)
  const { user, system } = process.cpuUsage(usage)
  return (user + system) / rows.length
}

async function measurePages(database: Database): Promise<Record<string, number>> {
  const index = createDocumentIndex(database)
  const queries = {
    newest: {},
    category: { category: [3n] },
    'date that none has': { issuedTo: 1 },
    'first day': { createdTo: Math.floor(FIRST_SECOND / 86_400) },
    subject: { subject: [5n, 6n] },
  }
  const results: Record<string, number> = {}
  for (const [name, query] of Object.entries(queries)) {
    const begun = performance.now()
    for (let i = 0; i < 20; i++) await index.page({ ...query, limit: 100 })
    results[name] = (performance.now() - begun) / 20
  }
  return results
}

const folder = mkdtempSync(join(tmpdir(), 'index-entry-'))
const path = process.argv[3] ?? join(folder, 'gateway.db')
try {
  if (!existsSync(path)) await fillDatabase(path, { ...rowsFor(documents), keys: 0, expired: 0 })
  console.log(`${documents} documents, ${(statSync(path).size / 1e9).toFixed(2)} GB`)
  const database = openSqlite(path)
  const { sqlite } = database
  const bytes = sqlite
    .prepare(`SELECT name, sum(pgsize) AS bytes FROM dbstat WHERE name LIKE 'document%'
      GROUP BY name`)
    .all()
  for (const { name, bytes: size } of bytes)
    console.log(`${name}: ${(Number(size) / documents).toFixed(1)} bytes a document`)
  for (let round = 0; round < ROUNDS; round++)
    for (const withEntry of [false, true]) {
      const { cpu, wall, pages } = await measure(
        database,
        withEntry,
        1e9 + (2 * round + +withEntry) * GROUPS,
      )
      console.log(
        `${withEntry ? 'with an entry' : 'without one  '}: ${cpu.toFixed(0)} µs of processor, ${wall.toFixed(0)} µs in all, ${pages.toFixed(1)} pages, for each document`,
      )
    }
  console.log(
    `a payload by its hash: ${(await measureLookUp(database)).toFixed(0)} µs of processor`,
  )
  for (const [name, ms] of Object.entries(await measurePages(database)))
    console.log(`a page, ${name}: ${ms.toFixed(2)} ms`)
  await database.close()
} finally {
  rmSync(folder, { recursive: true })
}
