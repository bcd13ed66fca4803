import type { Hex } from '../../document/hex.ts'
import type { Intent, Outbox, Plan } from '../issue/ports.ts'
import type { Database } from './database.ts'

type Row = Record<string, string | number | null>

/** The outbox in the gateway's database. See the port for what each method promises. */
export function createSqliteOutbox({ sqlite, write }: Database): Outbox {
  const insert = sqlite.prepare(`
    INSERT INTO intent (kind, document_hash, valid_until, sealed) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING`)
  const withdraw = sqlite.prepare(
    'DELETE FROM intent WHERE document_hash = ? AND kind = ? AND plan IS NULL',
  )
  const insertPlan = sqlite.prepare(
    'INSERT INTO plan (nonce, hash, raw) VALUES (?, ?, ?)',
  )
  const assign = sqlite.prepare(
    'UPDATE intent SET plan = ?, transaction_hash = ? WHERE document_hash = ? AND kind = ?',
  )
  const anchor = sqlite.prepare(`
    UPDATE intent SET plan = NULL, block_number = ?, transaction_hash = ?
    WHERE document_hash = ? AND kind = ?`)
  const requeue = sqlite.prepare(`
    UPDATE intent SET plan = NULL, block_number = NULL WHERE document_hash = ? AND kind = ?`)
  const remove = sqlite.prepare(
    'DELETE FROM intent WHERE document_hash = ? AND kind = ?',
  )
  const sweepPlans = sqlite.prepare(
    'DELETE FROM plan WHERE id NOT IN (SELECT plan FROM intent WHERE plan IS NOT NULL)',
  )
  const queued = sqlite.prepare(
    'SELECT * FROM intent WHERE plan IS NULL AND block_number IS NULL ORDER BY id',
  )
  const newestPlan = sqlite.prepare(
    'SELECT * FROM plan ORDER BY id DESC LIMIT 1',
  )
  const planned = sqlite.prepare(
    'SELECT kind, document_hash, valid_until FROM intent WHERE plan = ? ORDER BY id',
  )
  const notFinal = sqlite.prepare(`
    SELECT kind, document_hash, valid_until, block_number, transaction_hash FROM intent
    WHERE block_number IS NOT NULL ORDER BY id`)
  const find = sqlite.prepare(
    'SELECT transaction_hash, block_number FROM intent WHERE document_hash = ?',
  )

  const each =
    (statement: typeof remove) => (intents: readonly Intent[]) => () => {
      for (const { documentHash, kind } of intents)
        statement.run(documentHash, kind)
    }

  return {
    add: ({ kind, documentHash, validUntil }, sealed) =>
      write(() => {
        insert.run(kind, documentHash, validUntil, sealed)
      }),
    withdraw: (intents) => write(each(withdraw)(intents)),
    plan: ({ transaction: { nonce, hash, raw }, intents }) =>
      write(() => {
        const { lastInsertRowid } = insertPlan.run(nonce, hash, raw)
        for (const { documentHash, kind } of intents)
          assign.run(lastInsertRowid, hash, documentHash, kind)
      }),
    anchored: (anchored) =>
      write(() => {
        for (const { intent, anchoring } of anchored)
          anchor.run(
            anchoring.blockNumber,
            anchoring.transactionHash,
            intent.documentHash,
            intent.kind,
          )
        sweepPlans.run()
      }),
    requeue: (intents) =>
      write(() => {
        each(requeue)(intents)()
        sweepPlans.run()
      }),
    remove: (intents) =>
      write(() => {
        each(remove)(intents)()
        sweepPlans.run()
      }),

    queued: () => (queued.all() as Row[]).map(intentOf),
    openPlan() {
      const row = newestPlan.get() as Row | undefined
      if (row === undefined) return undefined
      const intents = (planned.all(row.id ?? null) as Row[]).map(intentOf)
      const transaction = {
        nonce: Number(row.nonce),
        hash: row.hash as Hex,
        raw: row.raw as Hex,
      }
      return { transaction, intents } satisfies Plan
    },
    notFinal: () =>
      (notFinal.all() as Row[]).map((row) => ({
        intent: intentOf(row),
        anchoring: {
          blockNumber: Number(row.block_number),
          transactionHash: row.transaction_hash as Hex,
        },
      })),
    find(documentHash) {
      const row = find.get(documentHash) as Row | undefined
      return row === undefined ? undefined : standing(row)
    },
  }
}

function intentOf(row: Row): Intent {
  return {
    kind: 'issue',
    documentHash: row.document_hash as Hex,
    validUntil: Number(row.valid_until),
  }
}

function standing(row: Row) {
  const transactionHash = row.transaction_hash as Hex | null
  return row.block_number !== null && transactionHash !== null
    ? ({ anchored: true, transactionHash } as const)
    : ({ anchored: false, transactionHash } as const)
}
