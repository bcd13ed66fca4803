import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Log } from '#base/log.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { createErasing } from '#promise/erase.ts'
import { type SqliteDatabase as Database, openSqlite } from '#store/drivers/sqlite/driver.ts'
import { anyInFile, createScrubber } from '#store/drivers/sqlite/scrub.ts'
import { openErasureList } from '#store/erasure-list.ts'
import { createErasures } from '#store/erasures.ts'
import { createOutbox } from '#store/outbox.ts'
import { createIsErased, createPayloadStore } from '#store/payloads.ts'
import { onConnection } from '#test/support/on-connection.ts'
import { seededRandom } from '#test/support/random.ts'

const NONE: ReadonlySet<Hex> = new Set()

let folder: string
let path: string
let database: Database
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'erasures-'))
  path = join(folder, 'gateway.db')
  database = openSqlite(path)
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

const listPath = () => join(folder, 'list')
const erasuresOf = (of: Database) =>
  createErasures(of, createScrubber(of), openErasureList(listPath()))

/** Bytes as random as sealed ones; the same in each run, so that SQLite does the same too. */
function blockOf(seed: number, length = 500) {
  const bytes = createHash('shake256', { outputLength: length }).update(`${seed}`).digest()
  const hash = createHash('sha256').update(bytes).digest()
  return { bytes, hash, documentHash: toHex(hash) }
}
type Block = ReturnType<typeof blockOf>

const isInFiles = ({ bytes }: Block) =>
  [path, `${path}-wal`].some((file) => readFileSync(file).includes(bytes))

async function erase(blocks: readonly Block[]): Promise<void> {
  const erasures = erasuresOf(database)
  await Promise.all(blocks.map(({ documentHash }) => erasures.begin(documentHash, 'default')))
  for (let left = await erasures.unfinished(); left.length > 0; left = await erasures.unfinished())
    await erasures.finish(left, NONE)
}

test('neither the file nor its log has a stored document afterwards', async () => {
  const store = createPayloadStore(database)
  const blocks = Array.from({ length: 40 }, (_, seed) => blockOf(seed))
  await Promise.all(blocks.map(({ hash, bytes }) => store.put(hash, bytes)))
  const [first, ...others] = blocks as [Block, ...Block[]]
  expect(isInFiles(first)).toBe(true)
  await erase([first])
  expect(isInFiles(first)).toBe(false)
  for (const other of others) expect(isInFiles(other)).toBe(true)
  expect(await createIsErased(database)(first.hash)).toBe(true)
  const receipt = await erasuresOf(database).find(first.documentHash)
  expect(receipt).toMatchObject({
    removed: ['database'],
    erasedAt: expect.any(Number),
    remains: ['backups'],
  })
})

test('the receipt of a document without bytes says that the file was not searched', async () => {
  const block = blockOf(1)
  await erase([block])
  expect(await erasuresOf(database).find(block.documentHash)).toMatchObject({
    removed: [],
    remains: ['database_files', 'backups'],
  })
})

test('neither has the document of a promise', async () => {
  const outbox = createOutbox(database)
  const block = blockOf(1)
  const { documentHash, bytes } = block
  const action = { kind: 'issue', documentHash, validUntil: 0 } as const
  await outbox.add(action, { payload: { bytes } })
  expect(isInFiles(block)).toBe(true)
  await erase([block])
  expect(isInFiles(block)).toBe(false)
  expect(await outbox.find('issue', documentHash)).toBeDefined()
})

test('finds and removes copies that SQLite left when it moved rows', async () => {
  const random = seededRandom(1)
  const blocks = Array.from({ length: 3_000 }, (_, seed) => blockOf(seed, 300 + random.below(900)))
  const shuffled = blocks
    .map((block) => ({ block, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ block }) => block)
  const { sqlite } = database
  // Rows that grow are moved, as payloads are where a vacuum or another version of SQLite does it.
  sqlite.exec('CREATE TABLE moved (id INTEGER PRIMARY KEY, bytes, one, two)')
  const insert = sqlite.prepare('INSERT INTO moved (id, bytes) VALUES (?, ?)')
  const grow = ['one', 'two'].map((column) =>
    sqlite.prepare(`UPDATE moved SET ${column} = ? WHERE id = ?`),
  )
  for (let at = 0; at < blocks.length; at += 10) {
    const rows = blocks.slice(at, at + 10).map((block, i) => ({ ...block, id: at + i }))
    const write = (one: (row: (typeof rows)[number]) => unknown) =>
      database.write(onConnection(() => rows.forEach(one)))
    await write(({ id, bytes }) => insert.run(id, bytes))
    for (const statement of grow)
      await write(({ id, documentHash }) => statement.run(Buffer.from(documentHash), id))
  }
  const remove = sqlite.prepare('DELETE FROM moved WHERE id = ?')
  await database.write(
    onConnection(() => {
      for (const block of shuffled.slice(0, 1_500)) remove.run(blocks.indexOf(block))
    }),
  )
  const payloads = createPayloadStore(database)
  await Promise.all(blocks.map(({ hash, bytes }) => payloads.put(hash, bytes)))
  const rewrite = vi.spyOn(database, 'rewrite')
  const erased = shuffled.slice(0, 1_500)
  await erase(erased)
  expect(rewrite).toHaveBeenCalled()
  const file = readFileSync(path)
  expect(erased.filter(({ bytes }) => file.includes(bytes))).toEqual([])
  const log = readFileSync(`${path}-wal`)
  expect(erased.filter(({ bytes }) => log.includes(bytes))).toEqual([])
  expect(sqlite.prepare('SELECT count(*) AS n FROM payload').get()?.n).toBe(1_500)
})

describe('a restart', () => {
  async function restart(): Promise<void> {
    await database.close()
    database = openSqlite(path)
  }

  test('finishes what a kill interrupted', async () => {
    const block = blockOf(1)
    await createPayloadStore(database).put(block.hash, block.bytes)
    await erasuresOf(database).begin(block.documentHash, 'default')
    await restart()
    const removed: Hex[] = []
    const silent = () => {}
    const log: Log = { debug: silent, info: silent, warn: silent, error: silent }
    const erasing = createErasing({
      erasures: erasuresOf(database),
      removeFromKubo: async (hash) => {
        removed.push(hash)
        return true
      },
      isKnown: async () => false,
      forget: silent,
      log,
    })
    const stop = erasing.start()
    await expect
      .poll(async () => (await erasuresOf(database).find(block.documentHash))?.erasedAt)
      .toEqual(expect.any(Number))
    await stop()
    expect(removed).toEqual([block.documentHash])
    expect(isInFiles(block)).toBe(false)
    expect((await erasuresOf(database).find(block.documentHash))?.removed).toEqual([
      'database',
      'kubo',
    ])
  })

  test('treats an entry of the list as erased, whatever the database says', async () => {
    const [listed, kept] = [blockOf(1), blockOf(2)]
    const store = createPayloadStore(database)
    for (const { hash, bytes } of [listed, kept]) await store.put(hash, bytes)
    // As when the list was written, and a kill came before the database was.
    openErasureList(listPath()).add(listed.documentHash, Date.now())
    await restart()
    const erasures = erasuresOf(database)
    expect(await erasures.mergeList()).toBe(1)
    expect(await erasures.unfinished()).toEqual([listed.documentHash])
    await erasures.finish([listed.documentHash], NONE)
    expect(isInFiles(listed)).toBe(false)
    expect(isInFiles(kept)).toBe(true)
    expect(await erasures.mergeList()).toBe(0)
  })
})

test('finds bytes anywhere in a file, also across chunks', async () => {
  const wanted = fromHex(blockOf(7).documentHash)
  const chunk = 1024 * 1024
  for (const at of [0, 5, chunk - 40, chunk - 31, chunk - 1, chunk, 2 * chunk - 16]) {
    const file = Buffer.alloc(2 * chunk + 100, 0xff)
    file.set(wanted, at)
    writeFileSync(join(folder, 'file'), file)
    expect(await anyInFile(join(folder, 'file'), [wanted])).toBe(true)
    const other = wanted.with(31, wanted[31] ? 0 : 1)
    expect(await anyInFile(join(folder, 'file'), [other])).toBe(false)
  }
  expect(await anyInFile(join(folder, 'file'), [])).toBe(false)
})
