import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import { KEPT_STATUSES } from '../../gateway/adapters/sqlite/document-index.ts'
import { SCHEMA_VERSION } from '../../gateway/adapters/sqlite/schema.ts'
import { ConfigError } from '../../gateway/config.ts'
import type { KeptStatus } from '../../gateway/document-index.ts'
import type { BlockSource } from '../../verifier/ports.ts'

/** What a data folder has, read only. */
export type Kept = {
  registry: RegistryId
  issuerId: number
  /** @returns What SQLite says of the file; empty when it is whole. */
  damage(): string[]
  historyOf(documentHash: Hex, block: number): boolean
  batchHistoryOf(root: Hex, block: number): boolean
  indexOf(documentHash: Hex): { block: number | null; status: KeptStatus | null } | undefined
  isErased(hash: Hex): boolean
  /** Looks at the bytes under a hash. */
  payload(hash: Hex): Promise<'good' | 'missing' | 'damaged'>
  /** The payloads, of which the bytes are not checked. */
  store: BlockSource
  /** Rows of the history, as documentHashes, some at a time. */
  history(): Generator<{ documentHash: Hex; block: number }>
  close(): void
}

/**
 * Opens the data folder of a gateway, which may run.
 *
 * @param more Where payloads are besides the database.
 * @throws {ConfigError} for a folder without a database of this version.
 */
export function openKept(dataDir: string, more: readonly BlockSource[]): Kept {
  const sqlite = new DatabaseSync(join(dataDir, 'gateway.db'), { readOnly: true })
  const version = Number(sqlite.prepare('PRAGMA user_version').get()?.user_version)
  const bound = sqlite.prepare('SELECT registry, issuer_id AS issuerId FROM bound_to').get()
  if (version !== SCHEMA_VERSION || !bound)
    throw new ConfigError([`${dataDir} has no database of this version`])
  const history = sqlite.prepare(
    'SELECT 1 FROM history WHERE block_number = ? AND document_hash = ?',
  )
  const batchHistory = sqlite.prepare(
    'SELECT 1 FROM batch_history WHERE block_number = ? AND root = ?',
  )
  const index = sqlite.prepare(`SELECT block_number AS block, status FROM document
    WHERE substr(document_hash, 1, 8) = substr(?1, 1, 8) AND document_hash = ?1`)
  const tombstone = sqlite.prepare('SELECT 1 FROM tombstone WHERE hash = ?')
  const block = sqlite.prepare('SELECT bytes FROM block WHERE hash = ?')
  const allHistory = sqlite.prepare('SELECT block_number, document_hash FROM history')
  const store: BlockSource = {
    async get(hash) {
      const row = block.get(hash)
      if (row) return { status: 'found', bytes: row.bytes as Uint8Array }
      for (const source of more) {
        const read = await source.get(hash)
        if (read.status === 'found') return read
      }
      return { status: 'missing' }
    },
  }
  return {
    registry: bound.registry as RegistryId,
    issuerId: Number(bound.issuerId),
    store,
    damage: () =>
      sqlite
        .prepare('PRAGMA quick_check')
        .all()
        .map((row) => String(Object.values(row)[0]))
        .filter((line) => line !== 'ok'),
    historyOf: (hash, number) => history.get(number, fromHex(hash)) !== undefined,
    batchHistoryOf: (root, number) => batchHistory.get(number, fromHex(root)) !== undefined,
    indexOf(hash) {
      const row = index.get(fromHex(hash))
      if (!row) return undefined
      const status = KEPT_STATUSES[Number(row.status)] ?? null
      return { block: row.block === null ? null : Number(row.block), status }
    },
    isErased: (hash) => tombstone.get(fromHex(hash)) !== undefined,
    async payload(hash) {
      const read = await store.get(fromHex(hash))
      if (read.status !== 'found') return 'missing'
      const digest = createHash('sha256').update(read.bytes).digest()
      return digest.equals(fromHex(hash)) ? 'good' : 'damaged'
    },
    *history() {
      for (const row of allHistory.iterate())
        yield {
          documentHash: toHex(row.document_hash as Uint8Array),
          block: Number(row.block_number),
        }
    },
    close: () => sqlite.close(),
  }
}
