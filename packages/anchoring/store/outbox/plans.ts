import { clock } from '#base/clock.ts'
import { WEI_OF_GWEI } from '#base/wei.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import type { Plan, SignedTransaction } from '#promise/plan.ts'
import type { FeeLog, Plans } from '#promise/ports.ts'
import { type Database, lockOutcomes } from '../database.ts'
import { INTENT_COLUMNS, intentOf, maySend } from '../intents.ts'
import { all, first, hexOf, type Row, statement, type Work } from '../sql.ts'
import { writeOutcome } from './settle.ts'

/** Fees are stored per minute, for a day. */
const MAX_FEE_AGE_MINUTES = 24 * 60

const minuteOf = (time: number) => Math.floor(time / 60_000)

/** @returns The amount rounded up. */
const gweiOf = (wei: bigint) => (wei + WEI_OF_GWEI - 1n) / WEI_OF_GWEI

export function createPlans(database: Database): Plans {
  return {
    plans: () => database.snapshot(readPlans),
    plan: (account, signed, intents, head) =>
      database.write(() => addPlan({ account, signed, intents, head }), true),
    replace: (plan, signed, intents) =>
      database.write(function* () {
        yield* requeueOthers(plan, intents)
        yield* addAttempt(plan, signed, intents)
        return { ...plan, intents, attempts: [...plan.attempts, signed] }
      }),
    settle: (plan, outcome, fee) =>
      database.write(function* () {
        yield* lockOutcomes()
        // A repeat adds no fee: the answer to the first one was lost.
        if (!(yield* first(HAS_PLAN, { plan: plan.id }))) return
        yield* addFee(fee)
        yield* writeOutcome(outcome, plan)
        yield* requeueOthers(plan, [])
        yield* all(DELETE_PLAN, { plan: plan.id })
      }),
  }
}

const HAS_PLAN = statement('SELECT 1 FROM plan WHERE id = :plan')
const DELETE_PLAN = statement('DELETE FROM plan WHERE id = :plan')
const SELECT_PLANS = statement('SELECT id, account, nonce, head FROM plan ORDER BY nonce')
const SELECT_ATTEMPTS = statement('SELECT * FROM attempt ORDER BY id')
const SELECT_INTENTS = statement(
  `SELECT ${INTENT_COLUMNS}, plan FROM intent WHERE plan IS NOT NULL ORDER BY plan, id`,
)

function* readPlans(): Work<Plan[]> {
  const plans = yield* all(SELECT_PLANS)
  const attempts = byPlan(yield* all(SELECT_ATTEMPTS))
  const intents = byPlan(yield* all(SELECT_INTENTS))
  return plans.map((row) => {
    const [id, nonce] = [Number(row.id), Number(row.nonce)]
    return {
      id,
      account: hexOf(row.account),
      nonce,
      intents: (intents.get(id) ?? []).map(intentOf),
      attempts: (attempts.get(id) ?? []).map((made) => attemptOf(made, nonce)),
      ...(row.head !== null && { head: Number(row.head) }),
    }
  })
}

const byPlan = (rows: readonly Row[]) => Map.groupBy(rows, ({ plan }) => Number(plan))

/** @param nonce The nonce of its plan. */
function attemptOf(row: Row, nonce: number): SignedTransaction {
  return {
    nonce,
    hash: hexOf(row.hash),
    raw: hexOf(row.raw),
    gasLimit: BigInt(Number(row.gas_limit)),
    maxFeePerGas: BigInt(String(row.max_fee_per_gas)),
    maxPriorityFeePerGas: BigInt(String(row.max_priority_fee_per_gas)),
  }
}

const INSERT_PLAN = statement(
  'INSERT INTO plan (nonce, head, account) VALUES (:nonce, :head, :account) RETURNING id',
)

function* addPlan(plan: {
  account: Hex
  signed: SignedTransaction
  intents: readonly Intent[]
  head: number | undefined
}): Work<Plan> {
  const { account, signed, intents, head } = plan
  const { nonce } = signed
  yield* assertReady(account, intents)
  const row = yield* first(INSERT_PLAN, { nonce, head, account: fromHex(account) })
  const id = Number(row?.id)
  yield* addAttempt({ id, account }, signed, intents)
  return { id, account, nonce, intents, attempts: [signed], ...(head !== undefined && { head }) }
}

const SELECT_READY = statement(
  (sql) => `
    SELECT count(*) AS count FROM intent
    WHERE kind = :kind AND ${sql.isIn('document_hash', 'hashes', 'bytes')}
      AND plan IS NULL AND block_number IS NULL AND ${maySend(':account')}`,
)

/** @throws {IssueError} when some of them wait no more, or this account may not send them yet. */
function* assertReady(account: Hex, intents: readonly Intent[]): Work<void> {
  const [one] = intents
  if (!one) return
  const hashes = hashesOf(intents)
  const row = yield* first(SELECT_READY, { kind: one.kind, hashes, account: fromHex(account) })
  if (Number(row?.count) < intents.length)
    throw new IssueError('registry_refused', `${intents.length} intents may not be sent yet`)
}

const INSERT_ATTEMPT = statement(`
  INSERT INTO attempt (plan, hash, raw, gas_limit, max_fee_per_gas, max_priority_fee_per_gas)
  VALUES (:plan, :hash, :raw, :gas_limit, :max_fee, :max_tip)`)
const ASSIGN = statement(
  (sql) => `
    UPDATE intent SET plan = :plan, transaction_hash = :hash, account = :account
    WHERE kind = :kind AND ${sql.isIn('document_hash', 'hashes', 'bytes')}`,
)

/**
 * Inserts an attempt, and assigns to its plan the intents that it carries, which are all of one
 * kind.
 */
function* addAttempt(
  { id: plan, account }: Pick<Plan, 'id' | 'account'>,
  { hash, raw, gasLimit, maxFeePerGas, maxPriorityFeePerGas }: SignedTransaction,
  intents: readonly Intent[],
): Work<void> {
  yield* all(INSERT_ATTEMPT, {
    plan,
    hash: fromHex(hash),
    raw: fromHex(raw),
    gas_limit: gasLimit,
    max_fee: String(maxFeePerGas),
    max_tip: String(maxPriorityFeePerGas),
  })
  const [one] = intents
  if (one)
    yield* all(ASSIGN, {
      plan,
      hash: fromHex(hash),
      account: fromHex(account),
      kind: one.kind,
      hashes: hashesOf(intents),
    })
}

const REQUEUE = statement(
  (sql) => `
    UPDATE intent SET plan = NULL
    WHERE plan = :plan AND NOT (${sql.isIn('document_hash', 'hashes', 'bytes')})`,
)

/** Queues the intents of a plan again, except for these. */
function* requeueOthers(plan: Plan, except: readonly Intent[]): Work<void> {
  yield* all(REQUEUE, { plan: plan.id, hashes: hashesOf(except) })
}

const hashesOf = (intents: readonly Intent[]) =>
  intents.map(({ documentHash }) => fromHex(documentHash))

const DELETE_BEFORE = statement('DELETE FROM fee WHERE minute < :minute')
const ADD = statement(`
  INSERT INTO fee (minute, gwei) VALUES (:minute, :gwei)
  ON CONFLICT (minute) DO UPDATE SET gwei = fee.gwei + excluded.gwei`)
const SUM = statement('SELECT CAST(sum(gwei) AS text) AS gwei FROM fee WHERE minute >= :minute')
/** Adds a fee in wei to those of this minute. */
export function* addFee(fee: bigint): Work<void> {
  if (fee === 0n) return
  const minute = minuteOf(clock.now())
  yield* all(DELETE_BEFORE, { minute: minute - MAX_FEE_AGE_MINUTES })
  yield* all(ADD, { minute, gwei: gweiOf(fee) })
}

export function createFeeLog(database: Database): FeeLog {
  return {
    async feesSince(time) {
      const [row] = await database.read(SUM, { minute: minuteOf(time) })
      return BigInt((row?.gwei as string | null) ?? 0) * WEI_OF_GWEI
    },
  }
}
