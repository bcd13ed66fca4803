import { type Intent, keyOfIntent } from '#promise/intent.ts'
import type { Plan, SignedTransaction } from '#promise/plan.ts'
import type { Plans } from '#promise/ports.ts'
import type { Database } from '../../drivers/sqlite/database.ts'
import type { AddFee } from './fees.ts'
import type { WriteOutcome } from './outcomes.ts'
import { attemptOf, INTENT_COLUMNS, intentOf, type Row } from './rows.ts'

export function createPlans(database: Database, writeOutcome: WriteOutcome, addFee: AddFee): Plans {
  const requeueOthers = createRequeueOthers(database)
  return {
    ...createPlanReader(database),
    ...createPlanWriter(database, requeueOthers),
    ...createSettle(database, requeueOthers, writeOutcome, addFee),
  }
}

function createPlanReader({ sqlite }: Database): Pick<Plans, 'plans'> {
  const selectPlans = sqlite.prepare('SELECT id, nonce, head FROM plan ORDER BY nonce')
  const selectAttempts = sqlite.prepare('SELECT * FROM attempt WHERE plan = ? ORDER BY id')
  const selectIntents = sqlite.prepare(
    `SELECT ${INTENT_COLUMNS} FROM intent WHERE plan = ? ORDER BY id`,
  )

  return {
    plans: async () =>
      (selectPlans.all() as Row[]).map((row) => {
        const [id, nonce] = [Number(row.id), Number(row.nonce)]
        const intents = (selectIntents.all(id) as Row[]).map(intentOf)
        const attempts = (selectAttempts.all(id) as Row[]).map((made) => attemptOf(made, nonce))
        return {
          id,
          nonce,
          intents,
          attempts,
          ...(row.head !== null && { head: Number(row.head) }),
        }
      }),
  }
}

function createPlanWriter(
  database: Database,
  requeueOthers: RequeueOthers,
): Pick<Plans, 'plan' | 'replace'> {
  const { sqlite, write } = database
  const insert = sqlite.prepare('INSERT INTO plan (nonce, head) VALUES (?, ?)')
  const addAttempt = createAddAttempt(database)

  return {
    plan: (transaction, intents, head) =>
      write(() => {
        const { nonce } = transaction
        const id = Number(insert.run(nonce, head ?? null).lastInsertRowid)
        addAttempt(id, transaction, intents)
        const attempts = [transaction]
        return { id, nonce, intents, attempts, ...(head !== undefined && { head }) }
      }, true),
    replace: (plan, transaction, intents) =>
      write(() => {
        requeueOthers(plan, intents)
        addAttempt(plan.id, transaction, intents)
        return { ...plan, intents, attempts: [...plan.attempts, transaction] }
      }),
  }
}

/** @returns A function that inserts an attempt and assigns to its plan the intents it carries. */
function createAddAttempt({ sqlite }: Database) {
  const insert = sqlite.prepare(
    `INSERT INTO attempt
     (plan, hash, raw, gas_limit, max_fee_per_gas, max_priority_fee_per_gas)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const assign = sqlite.prepare(`
    UPDATE intent SET plan = ?, transaction_hash = ?
    WHERE kind = ? AND document_hash IN (SELECT value FROM json_each(?))`)

  return (plan: number, transaction: SignedTransaction, intents: readonly Intent[]) => {
    const { hash, raw, gasLimit } = transaction
    const { maxFeePerGas, maxPriorityFeePerGas } = transaction
    insert.run(plan, hash, raw, gasLimit, String(maxFeePerGas), String(maxPriorityFeePerGas))
    // A transaction carries intents of one kind, so one statement can assign them all: it takes a
    // quarter of the time.
    const [first] = intents
    const hashes = intents.map(({ documentHash }) => documentHash)
    if (first) assign.run(plan, hash, first.kind, JSON.stringify(hashes))
  }
}

function createSettle(
  { sqlite, write }: Database,
  requeueOthers: RequeueOthers,
  writeOutcome: WriteOutcome,
  addFee: AddFee,
): Pick<Plans, 'settle'> {
  const remove = sqlite.prepare('DELETE FROM plan WHERE id = ?')

  return {
    settle: (plan, outcome, fee) =>
      write(() => {
        addFee(fee)
        writeOutcome(outcome, plan)
        const anchored = outcome.anchored.map(({ intent }) => intent)
        requeueOthers(plan, [...anchored, ...outcome.gone])
        remove.run(plan.id)
      }),
  }
}

/** Puts the intents of a plan back in the queue, except these. For use within a write. */
type RequeueOthers = (plan: Plan, except: readonly Intent[]) => void

function createRequeueOthers({ sqlite }: Database): RequeueOthers {
  const requeue = sqlite.prepare(`
    UPDATE intent SET plan = NULL, block_number = NULL WHERE document_hash = ? AND kind = ?`)

  return (plan, except) => {
    const excepted = new Set(except.map(keyOfIntent))
    for (const intent of plan.intents)
      if (!excepted.has(keyOfIntent(intent))) requeue.run(intent.documentHash, intent.kind)
  }
}
