import { open } from 'node:fs/promises'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { ErasedFrom, Erasure, RemainsIn } from '#promise/erase.ts'
import { IssueError } from '#promise/errors.ts'
import { hexOf } from '../columns.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import type { ErasureList, ListedErasures } from '../erasure-list.ts'
import { MAX_ERASED_TOGETHER } from '../rules.ts'
import type { IsBlockErased } from '../tombstones.ts'
import { DELETE_BLOCK, IS_BLOCK } from './store.ts'

/** Bytes at the end of a sealed document, which are random: enough to find a copy. */
const PROBE_BYTES = 32
const CHUNK_BYTES = 1024 * 1024

/**
 * Erasures in the gateway's database. SQLite overwrites what is deleted (`secure_delete`), but not
 * always the copies that it left behind when it moved rows between pages. So the file is searched
 * for the end of each document, and rewritten if there is one.
 */
export function createSqliteErasures(database: Database, list: ErasureList): ListedErasures {
  const { sqlite, write } = database
  const select = sqlite.prepare('SELECT * FROM erasure WHERE hash = ?')
  const selectUnfinished = sqlite.prepare(`
    SELECT hash, probe FROM erasure WHERE erased_at IS NULL
    ORDER BY requested_at LIMIT ${MAX_ERASED_TOGETHER}`)
  const selectProbe = sqlite.prepare('SELECT probe FROM erasure WHERE hash = ?')
  const finish = sqlite.prepare(`
    UPDATE erasure SET erased_at = ?, from_kubo = max(from_kubo, ?), probe = NULL WHERE hash = ?`)
  const mark = createMark(database)
  const listeners = new Set<() => void>()

  const find = (hash: Hex) => {
    const row = select.get(fromHex(hash))
    return row && erasureOf(row as Row)
  }

  /** @throws {IssueError} `store_unavailable` when a copy is left all the same. */
  async function scrub(probes: readonly Uint8Array[]): Promise<void> {
    await database.emptyLog()
    if (!(await anyInFile(database.path, probes))) return
    await database.rewrite()
    await database.emptyLog()
    if (await anyInFile(database.path, probes))
      throw new IssueError('store_unavailable', 'a copy of an erased document is left')
  }

  return {
    async begin(documentHash, tenant) {
      const requestedAt = Date.now()
      list.add(documentHash, requestedAt)
      const begun = await write(() => {
        mark(documentHash, requestedAt, tenant)
        return find(documentHash) as Erasure
      })
      for (const one of listeners) one()
      return begun
    },
    find: async (documentHash) => find(documentHash),
    unfinished: async () => selectUnfinished.all().map(({ hash }) => hexOf(hash)),
    async finish(documentHashes, removed) {
      const probes = documentHashes
        .map((hash) => selectProbe.get(fromHex(hash))?.probe)
        .filter((probe) => probe instanceof Uint8Array)
      await scrub(probes.map(inverted))
      await write(() => {
        for (const hash of documentHashes)
          finish.run(Date.now(), removed.has(hash) ? 1 : 0, fromHex(hash))
      })
    },
    listen(begun) {
      listeners.add(begun)
      return () => {
        listeners.delete(begun)
      }
    },
    mergeList: () => write(() => list.read().filter((hash) => mark(hash, Date.now(), null)).length),
  }
}

type Row = { hash: Uint8Array; erased_at: number | null; from_database: number; from_kubo: number }

function erasureOf({ hash, erased_at, from_database, from_kubo }: Row): Erasure {
  const removed: ErasedFrom[] = []
  if (from_database) removed.push('database')
  if (from_kubo) removed.push('kubo')
  // Without its bytes, the file could not be searched: the outbox had them until it was final.
  const remains: RemainsIn[] = from_database ? ['backups'] : ['database_files', 'backups']
  return { documentHash: toHex(hash), erasedAt: erased_at, removed, remains }
}

type Mark = (documentHash: Hex, requestedAt: number, tenant: string | null) => boolean

/**
 * @returns A function, for use within a write, that deletes a document's bytes and notes its
 * erasure. It returns `false` if the document had been erased before, and no copy has come since.
 */
function createMark({ sqlite }: Database): Mark {
  const bury = sqlite.prepare('INSERT INTO tombstone VALUES (?) ON CONFLICT DO NOTHING')
  const selectBytes = sqlite.prepare(`
    SELECT bytes FROM block_by_key WHERE ${IS_BLOCK}
    UNION ALL
    SELECT sealed FROM intent WHERE document_hash = ?2 AND kind = 'issue' AND sealed IS NOT NULL`)
  const deleteBlock = sqlite.prepare(DELETE_BLOCK)
  const clearPromise = sqlite.prepare(
    "UPDATE intent SET sealed = NULL WHERE document_hash = ? AND kind = 'issue'",
  )
  const insert = sqlite.prepare(`
    INSERT INTO erasure (hash, requested_at, from_database, probe, tenant) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (hash) DO UPDATE
      SET erased_at = NULL, from_database = 1, probe = excluded.probe
      WHERE excluded.probe IS NOT NULL`)

  return (documentHash, requestedAt, tenant) => {
    const hash = fromHex(documentHash)
    const bytes = selectBytes.get(hash, documentHash)?.bytes as Uint8Array | undefined
    bury.run(hash)
    deleteBlock.run(hash)
    clearPromise.run(documentHash)
    // Inverted, so that the search does not find it here.
    const probe = bytes ? inverted(bytes.subarray(-PROBE_BYTES)) : null
    return insert.run(hash, requestedAt, bytes ? 1 : 0, probe, tenant).changes > 0
  }
}

const inverted = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff)

/** @returns Whether any of these byte strings is in a file, whole and in one piece. */
export async function anyInFile(path: string, wanted: readonly Uint8Array[]): Promise<boolean> {
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1))
  const buffer = Buffer.alloc(overlap + CHUNK_BYTES)
  const file = await open(path, 'r')
  try {
    let kept = 0
    while (true) {
      const { bytesRead } = await file.read(buffer, kept, CHUNK_BYTES)
      if (bytesRead === 0) return false
      const end = kept + bytesRead
      const seen = buffer.subarray(0, end)
      if (wanted.some((bytes) => seen.indexOf(bytes) >= 0)) return true
      kept = Math.min(overlap, end)
      buffer.copy(buffer, 0, end - kept, end)
    }
  } finally {
    await file.close()
  }
}

/** @returns Whether a block was erased, by the gateway's database. */
export function createSqliteIsErased({ sqlite }: Database): IsBlockErased {
  const select = sqlite.prepare('SELECT 1 FROM tombstone WHERE hash = ?')
  return async (hash) => select.get(hash) !== undefined
}
