import { fromHex } from '../../../../document/hex.ts'
import type { Intent } from '../../../issue/intent.ts'
import type { Plan, SignedTransaction } from '../../../issue/plan.ts'
import type { Plans } from '../../../issue/ports.ts'
import type { Postgres } from '../database.ts'
import type { Query, Row } from '../query.ts'
import { addFee } from './fees.ts'
import { lockOutcomes, writeOutcome } from './outcomes.ts'
import { attemptOf, INTENT_COLUMNS, intentOf } from './rows.ts'

export function createPlans({ transaction }: Postgres): Plans {
  return {
    plans: () => transaction(readPlans),
    plan: (signed, intents, head) =>
      transaction(async (query) => {
        const { nonce } = signed
        const [row] = await query('INSERT INTO plan (nonce, head) VALUES ($1, $2) RETURNING id', [
          ...[nonce, head],
        ])
        const id = Number(row?.id)
        await addAttempt(query, id, signed, intents)
        return { id, nonce, intents, attempts: [signed], ...(head !== undefined && { head }) }
      }),
    replace: (plan, signed, intents) =>
      transaction(async (query) => {
        await requeueOthers(query, plan, intents)
        await addAttempt(query, plan.id, signed, intents)
        return { ...plan, intents, attempts: [...plan.attempts, signed] }
      }),
    settle: (plan, outcome, fee) =>
      transaction(async (query) => {
        await lockOutcomes(query)
        await addFee(query, fee)
        await writeOutcome(query, outcome)
        await requeueOthers(query, plan, [])
        await query('DELETE FROM plan WHERE id = $1', [plan.id])
      }),
  }
}

async function readPlans(query: Query): Promise<Plan[]> {
  const plans = await query('SELECT id, nonce, head FROM plan ORDER BY nonce')
  const attempts = groupedByPlan(await query('SELECT * FROM attempt ORDER BY id'))
  const intents = groupedByPlan(
    await query(`SELECT ${INTENT_COLUMNS} FROM intent WHERE plan IS NOT NULL ORDER BY id`),
  )
  return plans.map((row) => {
    const [id, nonce] = [Number(row.id), Number(row.nonce)]
    return {
      id,
      nonce,
      intents: (intents.get(id) ?? []).map(intentOf),
      attempts: (attempts.get(id) ?? []).map((made) => attemptOf(made, nonce)),
      ...(row.head !== null && { head: Number(row.head) }),
    }
  })
}

const groupedByPlan = (rows: readonly Row[]) => Map.groupBy(rows, ({ plan }) => Number(plan))

/** Inserts an attempt, and assigns to its plan the intents that it carries: all of one kind. */
async function addAttempt(
  query: Query,
  plan: number,
  { hash, raw, gasLimit, maxFeePerGas, maxPriorityFeePerGas }: SignedTransaction,
  intents: readonly Intent[],
): Promise<void> {
  await query(
    `INSERT INTO attempt (plan, hash, raw, gas_limit, max_fee_per_gas, max_priority_fee_per_gas)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [plan, fromHex(hash), fromHex(raw), gasLimit, maxFeePerGas, maxPriorityFeePerGas],
  )
  const [first] = intents
  if (!first) return
  await query(
    `UPDATE intent SET plan = $1, transaction_hash = $2
     WHERE kind = $3 AND document_hash = ANY($4)`,
    [plan, fromHex(hash), first.kind, hashesOf(intents)],
  )
}

/** Puts the intents of a plan back in the queue, except these. */
async function requeueOthers(query: Query, plan: Plan, except: readonly Intent[]): Promise<void> {
  await query(
    `UPDATE intent SET plan = NULL, block_number = NULL
     WHERE plan = $1 AND document_hash <> ALL($2::bytea[])`,
    [plan.id, hashesOf(except)],
  )
}

const hashesOf = (intents: readonly Intent[]) =>
  intents.map(({ documentHash }) => fromHex(documentHash))
