import { fromHex } from '#document/hex.ts'
import type { History } from '#promise/history.ts'
import { bytesOf, hexOf, hexOrNull } from '../columns.ts'
import type { Anchored, AnchoredLog } from '../command-database.ts'
import type { Postgres } from '../drivers/postgres/database.ts'

/** The history in PostgreSQL; triggers write it, and commands. */
export function createPostgresHistory({ query, brief }: Postgres): History {
  return {
    async transactionOf(hash, blockNumber) {
      const [row] = await brief(() =>
        query(
          `SELECT transaction_hash FROM history WHERE document_hash = $1 AND block_number = $2
         UNION ALL
         SELECT transaction_hash FROM batch_history WHERE root = $1 AND block_number = $2`,
          [fromHex(hash), blockNumber],
        ),
      )
      return row ? hexOrNull(row.transaction_hash) : null
    },
  }
}

const insertInto = (table: string, hash: string) => `
  INSERT INTO ${table} (block_number, ${hash}, transaction_hash)
  SELECT DISTINCT ON (1, 2) * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])
  ON CONFLICT (block_number, ${hash}) DO UPDATE SET transaction_hash = excluded.transaction_hash`
const INSERT_HISTORY = insertInto('history', 'document_hash')
export const INSERT_BATCH_HISTORY = insertInto('batch_history', 'root')

/** The history as commands write it. */
export function createAnchoredLog({ query }: Postgres): AnchoredLog {
  const insert = async (statement: string, all: readonly Anchored[]) => {
    await query(statement, [
      all.map(({ blockNumber }) => blockNumber),
      all.map(({ hash }) => fromHex(hash)),
      all.map(({ transactionHash }) => bytesOf(transactionHash)),
    ])
  }
  return {
    addDocuments: (documents) => insert(INSERT_HISTORY, documents),
    addBatch: (batch) => insert(INSERT_BATCH_HISTORY, [batch]),
    async since(blockNumber) {
      const documents = await query(
        'SELECT DISTINCT document_hash AS hash FROM history WHERE block_number >= $1',
        [blockNumber],
      )
      const roots = await query(
        'SELECT DISTINCT root AS hash FROM batch_history WHERE block_number >= $1',
        [blockNumber],
      )
      return {
        documentHashes: documents.map(({ hash }) => hexOf(hash)),
        roots: roots.map(({ hash }) => hexOf(hash)),
      }
    },
  }
}
