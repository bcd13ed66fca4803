import type { Hex } from '../../document/hex.ts'
import { keyOfIntent } from '../issue/intent.ts'
import type {
  Anchored,
  Anchoring,
  Anchorings,
  Backlog,
  BlockId,
  FeeLog,
  Intent,
  Moved,
  Outbox,
  Payload,
  Plan,
  Plans,
  PromisedPayloads,
  SignedTransaction,
  Standing,
  Withdrawn,
} from '../issue/ports.ts'
import { WEI_OF_GWEI } from '../wei.ts'
import type { Database } from './database.ts'

/** Kinds that undo each other. */
const OPPOSITES = { suspend: 'release', release: 'suspend' } as const

/** Minutes. */
const FEES_KEPT = 24 * 60
const minuteOf = (time: number) => Math.floor(time / 60_000)

type Row = Record<string, string | number | null>

const COLUMNS =
  'kind, document_hash, valid_until, reason, promised, plan, block_number, block_hash, transaction_hash'

export type SqliteOutbox = Outbox &
  Backlog &
  Plans &
  FeeLog &
  Anchorings &
  PromisedPayloads & {
    /** `add` as a part of a larger write. */
    insert(intent: Intent, promised: boolean, payload?: Payload): boolean
    /** `withdraw` as a part of a larger write. */
    delete(intents: readonly Intent[]): Withdrawn
  }

/** The outbox in the gateway's database. See the ports for what each method promises. */
export function createSqliteOutbox({ sqlite, write }: Database): SqliteOutbox {
  const insertIntent = sqlite.prepare(`
    INSERT INTO intent (kind, document_hash, valid_until, reason, inserted, sealed)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
  const insertAnchored = sqlite.prepare(`
    INSERT INTO intent (kind, document_hash, valid_until, sealed, promised,
      block_number, block_hash, transaction_hash)
    VALUES ('issue', ?, ?, ?, 1, ?, ?, ?) ON CONFLICT DO NOTHING`)
  // The transaction stays: what a transaction carried once is not taken back.
  const repeatRevision = sqlite.prepare(`
    UPDATE intent SET reason = ?, block_number = NULL, block_hash = '0x'
    WHERE document_hash = ? AND kind = ? AND kind <> 'issue' AND block_number IS NOT NULL`)
  const waiting = sqlite.prepare(`
    SELECT 1 FROM intent WHERE document_hash = ? AND kind = ? AND block_number IS NULL`)
  const forgetUndone = sqlite.prepare(`
    DELETE FROM intent WHERE kind = ? AND block_number IS NOT NULL
    AND document_hash IN (SELECT value FROM json_each(?))`)
  const deleteIntent = sqlite.prepare(`
    DELETE FROM intent
    WHERE document_hash = ? AND kind = ? AND transaction_hash IS NULL AND promised = 0
    AND block_number IS NULL
    RETURNING inserted`)
  const promise = sqlite.prepare(
    'UPDATE intent SET promised = 1 WHERE document_hash = ? AND kind = ?',
  )
  const setAside = sqlite.prepare(
    'UPDATE intent SET aside_until = ? WHERE document_hash = ? AND kind = ?',
  )
  const disown = sqlite.prepare(
    "UPDATE intent SET inserted = 0 WHERE document_hash = ? AND kind = 'issue'",
  )
  const remove = sqlite.prepare('DELETE FROM intent WHERE document_hash = ? AND kind = ?')
  const requeue = sqlite.prepare(`
    UPDATE intent SET plan = NULL, block_number = NULL WHERE document_hash = ? AND kind = ?`)
  const requeueAnchored = sqlite.prepare(`
    UPDATE intent SET block_number = NULL, block_hash = '0x'
    WHERE document_hash = ? AND kind = ? AND block_number = ? AND block_hash = ?`)
  const removeAnchored = sqlite.prepare(`
    DELETE FROM intent
    WHERE document_hash = ? AND kind = ? AND block_number = ? AND block_hash = ?`)
  const reanchor = sqlite.prepare(`
    UPDATE intent SET block_number = ?, block_hash = ?, transaction_hash = ?
    WHERE document_hash = ? AND kind = ? AND block_number = ? AND block_hash = ?`)
  const assign = sqlite.prepare(`
    UPDATE intent SET plan = ?, transaction_hash = ?
    WHERE kind = ? AND document_hash IN (SELECT value FROM json_each(?))`)
  const anchor = sqlite.prepare(`
    UPDATE intent SET plan = NULL, block_number = ?, block_hash = ?, transaction_hash = ?
    WHERE document_hash = ? AND kind = ?`)
  const anchorPlan = sqlite.prepare(`
    UPDATE intent SET plan = NULL, block_number = ?, block_hash = ?, transaction_hash = ?
    WHERE plan = ?`)
  const insertPlan = sqlite.prepare('INSERT INTO plan (nonce) VALUES (?)')
  const insertAttempt = sqlite.prepare(
    `INSERT INTO attempt
     (plan, hash, raw, gas_limit, max_fee_per_gas, max_priority_fee_per_gas)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const addFee = sqlite.prepare(`
    INSERT INTO fee (minute, gwei) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET gwei = gwei + excluded.gwei`)
  const forgetFees = sqlite.prepare('DELETE FROM fee WHERE minute < ?')
  const feesSince = sqlite.prepare('SELECT sum(gwei) AS gwei FROM fee WHERE minute >= ?')
  const removePlan = sqlite.prepare('DELETE FROM plan WHERE id = ?')
  const queued = sqlite.prepare(`
    SELECT ${COLUMNS}, aside_until FROM intent
    WHERE plan IS NULL AND block_number IS NULL ORDER BY id`)
  const plans = sqlite.prepare('SELECT id, nonce FROM plan ORDER BY nonce')
  const attempts = sqlite.prepare('SELECT * FROM attempt WHERE plan = ? ORDER BY id')
  const planned = sqlite.prepare(`SELECT ${COLUMNS} FROM intent WHERE plan = ? ORDER BY id`)
  const nextBlock = sqlite.prepare(`
    SELECT block_number, block_hash FROM intent
    WHERE block_number IS NOT NULL AND (block_number, block_hash) > (?, ?)
    ORDER BY block_number, block_hash LIMIT 1`)
  const upTo = sqlite.prepare(`
    SELECT ${COLUMNS} FROM intent WHERE block_number <= ?
    ORDER BY block_number, block_hash LIMIT ?`)
  const inBlock = sqlite.prepare(`
    SELECT ${COLUMNS} FROM intent WHERE block_number = ? AND block_hash = ? LIMIT ?`)
  const payloads = sqlite.prepare(
    'SELECT document_hash, sealed FROM intent WHERE sealed IS NOT NULL ORDER BY id',
  )
  const find = sqlite.prepare(`SELECT ${COLUMNS} FROM intent WHERE document_hash = ? AND kind = ?`)

  const each = (statement: typeof remove, intents: readonly Intent[]) => {
    for (const { documentHash, kind } of intents) statement.run(documentHash, kind)
  }

  const place = ({ intent, anchoring }: Anchored) =>
    [intent.documentHash, intent.kind, anchoring.blockNumber, anchoring.blockHash] as const

  const isWaiting = (documentHash: Hex, kind: Intent['kind']) =>
    waiting.get(documentHash, kind) !== undefined

  /** Whether what undoes it is asked for, and not on the chain yet. */
  const oppositeWaits = ({ kind, documentHash }: Intent) =>
    (kind === 'suspend' || kind === 'release') && isWaiting(documentHash, OPPOSITES[kind])

  const forgetOpposites = (anchored: readonly Anchored[]) => {
    for (const kind of ['suspend', 'release'] as const) {
      const hashes = anchored
        .filter(({ intent }) => intent.kind === kind)
        .map(({ intent }) => intent.documentHash)
      if (hashes.length > 0) forgetUndone.run(OPPOSITES[kind], JSON.stringify(hashes))
    }
  }

  const anchorEach = (anchored: readonly Anchored[]) => {
    for (const { intent, anchoring } of anchored)
      anchor.run(
        anchoring.blockNumber,
        anchoring.blockHash,
        anchoring.transactionHash,
        intent.documentHash,
        intent.kind,
      )
  }

  /** In the write that makes an attempt: the attempt, and the intents that it carries. */
  const attempt = (
    plan: number,
    transaction: SignedTransaction,
    intents: readonly Intent[],
  ): SignedTransaction => {
    const { hash, raw, gasLimit } = transaction
    const { maxFeePerGas, maxPriorityFeePerGas } = transaction
    insertAttempt.run(plan, hash, raw, gasLimit, String(maxFeePerGas), String(maxPriorityFeePerGas))
    // In one statement, which is a quarter of the time: a transaction is for one kind.
    const [first] = intents
    const hashes = intents.map(({ documentHash }) => documentHash)
    if (first) assign.run(plan, hash, first.kind, JSON.stringify(hashes))
    return transaction
  }

  const charge = (fee: bigint) => {
    if (fee === 0n) return
    const minute = minuteOf(Date.now())
    forgetFees.run(minute - FEES_KEPT)
    addFee.run(minute, (fee + WEI_OF_GWEI - 1n) / WEI_OF_GWEI)
  }

  const insert: SqliteOutbox['insert'] = (intent, promised, payload) => {
    const { kind, documentHash } = intent
    const validUntil = kind === 'issue' ? intent.validUntil : null
    const reason = kind === 'revoke' ? intent.reason : null
    const inserted = payload?.inserted ? 1 : 0
    const sealed = payload?.sealed ?? null
    if (oppositeWaits(intent)) return false
    if (kind !== 'issue') repeatRevision.run(reason, documentHash, kind)
    const { changes } = insertIntent.run(kind, documentHash, validUntil, reason, inserted, sealed)
    if (promised) promise.run(documentHash, kind)
    return kind !== 'issue' || changes > 0
  }

  const withdraw: SqliteOutbox['delete'] = (intents) => {
    const deleted = intents.flatMap((intent) => {
      const row = deleteIntent.get(intent.documentHash, intent.kind)
      return row ? [{ intent, inserted: row.inserted === 1 }] : []
    })
    return {
      intents: deleted.map(({ intent }) => intent),
      inserted: deleted.filter(({ inserted }) => inserted).map(({ intent }) => intent.documentHash),
    }
  }

  const standing = (kind: Intent['kind'], documentHash: Hex) => {
    const row = find.get(documentHash, kind) as Row | undefined
    return row && standingOf(row)
  }

  return {
    insert,
    delete: withdraw,
    add: (intent, promised = false, payload) => write(() => insert(intent, promised, payload)),
    promise: (kind, documentHash) =>
      write(() => {
        promise.run(documentHash, kind)
        return standing(kind, documentHash)
      }),
    find: async (kind, documentHash) => standing(kind, documentHash),
    withdraw: (intents) => write(() => withdraw(intents)),
    disown: (documentHash) =>
      write(() => {
        disown.run(documentHash)
      }),
    review: ({ gone, moved, dropped }) =>
      write(() => {
        for (const one of gone) removeAnchored.run(...place(one))
        for (const one of moved) reanchor.run(...newPlace(one), ...place(one))
        return dropped
          .filter(({ intent }) => !oppositeWaits(intent))
          .filter((one) => requeueAnchored.run(...place(one)).changes > 0)
          .map(({ intent }) => intent)
      }),
    setAside: (intents, until) =>
      write(() => {
        for (const { documentHash, kind } of intents) setAside.run(until, documentHash, kind)
      }),
    resolve: ({ anchored, gone }) =>
      write(() => {
        anchorEach(anchored)
        forgetOpposites(anchored)
        each(remove, gone)
      }),

    plan: (transaction, intents) =>
      write(() => {
        const { nonce } = transaction
        const id = Number(insertPlan.run(nonce).lastInsertRowid)
        const attempts = [attempt(id, transaction, intents)]
        return { id, nonce, intents, attempts }
      }, true),
    replace: (plan, transaction, intents) =>
      write(() => {
        const carried = new Set(intents.map(keyOfIntent))
        each(
          requeue,
          plan.intents.filter((intent) => !carried.has(keyOfIntent(intent))),
        )
        const made = attempt(plan.id, transaction, intents)
        return { ...plan, intents, attempts: [...plan.attempts, made] }
      }),
    feesSince: async (time) => {
      const row = feesSince.get(minuteOf(time)) as Row
      return BigInt(row.gwei ?? 0) * WEI_OF_GWEI
    },
    settle: (plan, { anchored, gone }, fee) =>
      write(() => {
        charge(fee)
        const together = anchoringOfAll(plan, anchored)
        if (together)
          anchorPlan.run(
            together.blockNumber,
            together.blockHash,
            together.transactionHash,
            plan.id,
          )
        else anchorEach(anchored)
        forgetOpposites(anchored)
        each(remove, gone)
        const named = new Set([...anchored.map(({ intent }) => intent), ...gone].map(keyOfIntent))
        each(
          requeue,
          plan.intents.filter((intent) => !named.has(keyOfIntent(intent))),
        )
        removePlan.run(plan.id)
      }),

    queued: async () =>
      (queued.all() as Row[]).map((row) => ({
        intent: intentOf(row),
        asideUntil: row.aside_until as number | null,
      })),
    plans: async () =>
      (plans.all() as Row[]).map((row) => {
        const [id, nonce] = [Number(row.id), Number(row.nonce)]
        return {
          id,
          nonce,
          intents: (planned.all(id) as Row[]).map(intentOf),
          attempts: (attempts.all(id) as Row[]).map((made) => ({
            nonce,
            hash: made.hash as Hex,
            raw: made.raw as Hex,
            gasLimit: BigInt(made.gas_limit ?? 0),
            maxFeePerGas: BigInt(made.max_fee_per_gas ?? 0),
            maxPriorityFeePerGas: BigInt(made.max_priority_fee_per_gas ?? 0),
          })),
        } satisfies Plan
      }),
    async blocks() {
      const blocks: BlockId[] = []
      // One step in the index each, however many intents a block has.
      for (;;) {
        const last = blocks.at(-1)
        const row = nextBlock.get(last?.blockNumber ?? -1, last?.blockHash ?? '') as Row | undefined
        if (row === undefined) return blocks
        blocks.push(blockOf(row))
      }
    },
    adopt: ({ documentHash, validUntil }, anchoring, sealed) =>
      write(() => {
        insertAnchored.run(
          documentHash,
          validUntil,
          sealed ?? null,
          anchoring.blockNumber,
          anchoring.blockHash,
          anchoring.transactionHash,
        )
      }),
    anchoredUpTo: async (blockNumber, limit) =>
      (upTo.all(blockNumber, limit) as Row[]).map(anchoredOf),
    anchoredIn: async ({ blockNumber, blockHash }, limit) =>
      (inBlock.all(blockNumber, blockHash, limit) as Row[]).map(anchoredOf),
    async *payloads() {
      for (const row of payloads.iterate())
        yield {
          documentHash: row.document_hash as Hex,
          sealed: row.sealed as Uint8Array,
        }
    },
  }
}

function intentOf(row: Row): Intent {
  const documentHash = row.document_hash as Hex
  const kind = row.kind as Intent['kind']
  if (kind === 'issue') return { kind, documentHash, validUntil: Number(row.valid_until) }
  return kind === 'revoke'
    ? { kind, documentHash, reason: Number(row.reason) }
    : { kind, documentHash }
}

function newPlace({ now }: Moved) {
  return [now.blockNumber, now.blockHash, now.transactionHash] as const
}

/** Where a plan's intents are when all of them are in one place, as they are when nothing came between. */
function anchoringOfAll({ intents }: Plan, anchored: readonly Anchored[]): Anchoring | undefined {
  const [first] = anchored.map(({ anchoring }) => anchoring)
  const together =
    anchored.length === intents.length &&
    anchored.every(
      ({ anchoring }) =>
        anchoring.blockHash === first?.blockHash &&
        anchoring.transactionHash === first.transactionHash,
    )
  return together ? first : undefined
}

function anchoredOf(row: Row): Anchored {
  const transactionHash = row.transaction_hash as Hex | null
  return {
    intent: intentOf(row),
    anchoring: { ...blockOf(row), transactionHash },
  }
}

function blockOf(row: Row): BlockId {
  return {
    blockNumber: Number(row.block_number),
    blockHash: row.block_hash as Hex,
  }
}

function standingOf(row: Row): Standing {
  const intent = intentOf(row)
  const transactionHash = row.transaction_hash as Hex | null
  return row.block_number !== null
    ? { intent, anchored: true, transactionHash }
    : { intent, anchored: false, promised: row.promised === 1, transactionHash }
}
