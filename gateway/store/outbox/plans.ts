import { clock } from '#base/clock.ts'
import { WEI_OF_GWEI } from '#base/wei.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import type { Plan, SignedTransaction } from '#promise/plan.ts'
import type { FeeLog, Plans } from '#promise/ports.ts'
import { type Database, lockOutcomes } from '../database.ts'
import { INTENT_COLUMNS, intentOf, waitsForIssue } from '../intents.ts'
import { OUTBOX_CHANNEL } from '../outcomes.ts'
import { all, bytesOf, first, hexOf, notify, type Row, statement, type Work } from '../sql.ts'
import { writeOutcome } from './settle.ts'

/** Fees are stored per minute, for a day. */
const MAX_FEE_AGE_MINUTES = 24 * 60

const minuteOf = (time: number) => Math.floor(time / 60_000)

/** @returns The amount rounded up. */
const gweiOf = (wei: bigint) => (wei + WEI_OF_GWEI - 1n) / WEI_OF_GWEI

/** @param account The account of the plans; absent = all accounts. */
export function createPlans(database: Database, account?: Hex): Plans {
  return {
    plans: () => database.snapshot(() => readPlans(account)),
    plan: (signed, intents, head) =>
      database.write(() => addPlan({ signed, intents, head, account }), true),
    replace: (plan, signed, intents) =>
      database.write(function* () {
        yield* requeueOthers(plan, intents)
        yield* addAttempt(plan.id, signed, intents)
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
const SELECT_PLANS = statement(
  (sql) => `
    SELECT id, nonce, head FROM plan
    WHERE ${sql.value('account', 'bytes')} IS NULL OR account = :account ORDER BY nonce`,
)
const SELECT_ATTEMPTS = statement('SELECT * FROM attempt ORDER BY id')
const SELECT_INTENTS = statement(
  `SELECT ${INTENT_COLUMNS}, plan FROM intent WHERE plan IS NOT NULL ORDER BY plan, id`,
)

function* readPlans(account?: Hex): Work<Plan[]> {
  const plans = yield* all(SELECT_PLANS, { account: bytesOf(account) })
  const attempts = byPlan(yield* all(SELECT_ATTEMPTS))
  const intents = byPlan(yield* all(SELECT_INTENTS))
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
  signed: SignedTransaction
  intents: readonly Intent[]
  head: number | undefined
  account: Hex | undefined
}): Work<Plan> {
  const { signed, intents, head, account } = plan
  const { nonce } = signed
  if (account) yield* assertReady(account, intents)
  const row = yield* first(INSERT_PLAN, { nonce, head, account: bytesOf(account) })
  const id = Number(row?.id)
  yield* addAttempt(id, signed, intents)
  return { id, nonce, intents, attempts: [signed], ...(head !== undefined && { head }) }
}

const SELECT_READY = statement(
  (sql) => `
    SELECT count(*) AS count FROM intent
    WHERE kind = :kind AND ${sql.isIn('document_hash', 'hashes', 'bytes')}
      AND account = :account AND plan IS NULL AND block_number IS NULL
      AND NOT ${waitsForIssue('intent', 'intent.account')}`,
)

/** @throws {IssueError} when this account may not send some of them, or not yet. */
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
    UPDATE intent SET plan = :plan, transaction_hash = :hash
    WHERE kind = :kind AND ${sql.isIn('document_hash', 'hashes', 'bytes')}`,
)

/**
 * Inserts an attempt, and assigns to its plan the intents that it carries, which are all of one
 * kind.
 */
function* addAttempt(
  plan: number,
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
    yield* all(ASSIGN, { plan, hash: fromHex(hash), kind: one.kind, hashes: hashesOf(intents) })
}

const REQUEUE = statement(
  (sql) => `
    UPDATE intent SET plan = NULL
    WHERE plan = :plan AND NOT (${sql.isIn('document_hash', 'hashes', 'bytes')}) RETURNING id`,
)

/** Queues the intents of a plan again, except for these. */
function* requeueOthers(plan: Plan, except: readonly Intent[]): Work<void> {
  const queued = yield* all(REQUEUE, { plan: plan.id, hashes: hashesOf(except) })
  if (queued.length > 0) yield* notify(OUTBOX_CHANNEL)
}

const hashesOf = (intents: readonly Intent[]) =>
  intents.map(({ documentHash }) => fromHex(documentHash))

const DELETE_BEFORE = statement('DELETE FROM fee WHERE minute < :minute')
const ADD = statement(`
  INSERT INTO fee (minute, gwei) VALUES (:minute, :gwei)
  ON CONFLICT (minute) DO UPDATE SET gwei = fee.gwei + excluded.gwei`)
const SUM = statement('SELECT CAST(sum(gwei) AS text) AS gwei FROM fee WHERE minute >= :minute')
const SELECT_OTHERS = statement(
  (sql) => `
    SELECT attempt.plan, gas_limit, max_fee_per_gas FROM attempt JOIN plan ON plan.id = attempt.plan
    WHERE plan.account IS DISTINCT FROM ${sql.value('account', 'bytes')}`,
)

/** Adds a fee in wei to those of this minute. */
export function* addFee(fee: bigint): Work<void> {
  if (fee === 0n) return
  const minute = minuteOf(clock.now())
  yield* all(DELETE_BEFORE, { minute: minute - MAX_FEE_AGE_MINUTES })
  yield* all(ADD, { minute, gwei: gweiOf(fee) })
}

/**
 * @param account The account whose plans in flight the caller knows. Those of others count here, as
 * if each cost its maximum.
 */
export function createFeeLog(database: Database, account?: Hex): FeeLog {
  return {
    async feesSince(time) {
      const [row] = await database.read(SUM, { minute: minuteOf(time) })
      const settled = BigInt((row?.gwei as string | null) ?? 0) * WEI_OF_GWEI
      if (!account) return settled
      return settled + inFlight(await database.read(SELECT_OTHERS, { account: bytesOf(account) }))
    },
  }
}

/** @param attempts The attempts, of which the most expensive of each plan counts. */
function inFlight(attempts: readonly Row[]): bigint {
  const dearest = new Map<unknown, bigint>()
  for (const { plan, gas_limit, max_fee_per_gas } of attempts) {
    const fee = BigInt(Number(gas_limit)) * BigInt(String(max_fee_per_gas))
    if (fee > (dearest.get(plan) ?? 0n)) dearest.set(plan, fee)
  }
  return [...dearest.values()].reduce((sum, fee) => sum + fee, 0n)
}
