import { fromHex, type Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import type { Plan, SignedTransaction } from '#promise/plan.ts'
import type { Plans } from '#promise/ports.ts'
import { bytesOf } from '../../columns.ts'
import type { Postgres } from '../../drivers/postgres/database.ts'
import type { Query, Row } from '../../drivers/postgres/query.ts'
import { addFee } from './fees.ts'
import { lockOutcomes, writeOutcome } from './outcomes.ts'
import { attemptOf, INTENT_COLUMNS, IS_KEY, intentOf, KEYS, keysOf } from './rows.ts'

/** @param account Whose plans; absent = all. */
export function createPlans({ transaction }: Postgres, account?: Hex): Plans {
  return {
    plans: () => transaction((query) => readPlans(query, account)),
    plan: (signed, intents, head) =>
      transaction(async (query) => {
        const { nonce } = signed
        if (account) await assertReady(query, account, intents)
        const [row] = await query(
          'INSERT INTO plan (nonce, head, account) VALUES ($1, $2, $3) RETURNING id',
          [nonce, head, bytesOf(account)],
        )
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

async function readPlans(query: Query, account?: Hex): Promise<Plan[]> {
  const plans = await query(
    'SELECT id, nonce, head FROM plan WHERE $1::bytea IS NULL OR account = $1 ORDER BY nonce',
    [bytesOf(account)],
  )
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

/** @throws {IssueError} when some are not this account's to send, or not yet. */
async function assertReady(query: Query, account: Hex, intents: readonly Intent[]): Promise<void> {
  const ready = await query(
    `SELECT 1 FROM intent JOIN ${KEYS} ON ${IS_KEY}
     WHERE account = $3 AND plan IS NULL AND block_number IS NULL
       AND NOT waits_for_issue(intent.kind, document_hash, root, account)`,
    [...keysOf(intents), fromHex(account)],
  )
  if (ready.length < intents.length)
    throw new IssueError('registry_refused', 'a document to revise is not on the chain yet')
}

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
