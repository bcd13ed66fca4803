import { WEI_OF_GWEI } from '#base/wei.ts'
import { fromHex } from '#document/hex.ts'
import type { BlockId, Outcome } from '#promise/anchoring.ts'
import { IssueError } from '#promise/errors.ts'
import type { FeeLog, Sender, Sends } from '#promise/ports.ts'
import type { Attempt, Member, Send, SignedTransaction, UsedIn } from '#promise/send.ts'
import { type Database, lockOutcomes } from '../database.ts'
import { itemColumns, itemJoins, itemOf } from '../items.ts'
import { pinLater } from '../mirror.ts'
import { all, bytesOf, first, hexOf, numberOrNull, type Row, statement, type Work } from '../sql.ts'
import { maySend, senderValues } from '../waiting.ts'
import { joinSend, settleItems } from './write.ts'

// The sends whose nonces are not used yet.

export function createSends(database: Database): Sends {
  return {
    inFlight: () => database.snapshot(readInFlight),
    async openNonces(account, from) {
      const rows = await database.read(SELECT_OPEN_NONCES, { account: fromHex(account), from })
      return rows.map(({ nonce }) => Number(nonce))
    },
    plan: (sender, signed, members, head) =>
      database.write(() => addSend({ sender, signed, members, head }), true),
    replace: (send, signed, carried) =>
      database.write(function* () {
        yield* addAttempt(send.id, { ...signed, carried })
        return { ...send, attempts: [...send.attempts, { ...signed, carried }] }
      }),
    settle: (send, outcomes, usedIn, fee) =>
      database.write(function* () {
        yield* lockOutcomes()
        yield* settle(send, outcomes, { usedIn, fee })
      }),
  }
}

const SELECT_OPEN_NONCES = statement(`
  SELECT nonce FROM send
  WHERE account = :account AND nonce IS NOT NULL AND NOT final AND nonce >= :from ORDER BY nonce`)
const IN_FLIGHT = 'send.block_number IS NULL AND NOT send.final'
const SELECT_SENDS = statement(`
  SELECT id, account, nonce, head FROM send WHERE ${IN_FLIGHT} ORDER BY nonce`)
const SELECT_ATTEMPTS = statement(`
  SELECT * FROM attempt WHERE send IN (SELECT id FROM send WHERE ${IN_FLIGHT}) ORDER BY id`)
const SELECT_MEMBERS = statement(`
  SELECT member.send, ${itemColumns('member')} FROM member ${itemJoins('member')}
  WHERE member.send IN (SELECT id FROM send WHERE ${IN_FLIGHT})
  ORDER BY member.send, member.place`)

function* readInFlight(): Work<Send[]> {
  const rows = yield* all(SELECT_SENDS)
  const bySend = (of: readonly Row[]) => Map.groupBy(of, ({ send }) => Number(send))
  const attempts = bySend(yield* all(SELECT_ATTEMPTS))
  const members = bySend(yield* all(SELECT_MEMBERS))
  return rows.map((row) => {
    const [id, nonce] = [Number(row.id), Number(row.nonce)]
    return {
      id,
      account: hexOf(row.account),
      nonce,
      members: (members.get(id) ?? []).map(memberOf),
      attempts: (attempts.get(id) ?? []).map((made) => attemptOf(made, nonce)),
      ...(row.head !== null && { head: Number(row.head) }),
    }
  })
}

function memberOf(row: Row): Member {
  const { action, place } = itemOf(row)
  return { action, place }
}

/** @param nonce The nonce of its send. */
function attemptOf(row: Row, nonce: number): Attempt {
  return {
    nonce,
    hash: hexOf(row.hash),
    raw: hexOf(row.raw),
    carried: Number(row.carried),
    gasLimit: BigInt(Number(row.gas_limit)),
    maxFeePerGas: BigInt(String(row.max_fee_per_gas)),
    maxPriorityFeePerGas: BigInt(String(row.max_priority_fee_per_gas)),
  }
}

// The node that was asked for the head may be behind blocks that are known.
const INSERT_SEND = statement(
  (sql) => `
    INSERT INTO send (nonce, head, account)
    SELECT ${sql.value('nonce', 'integer')}, CASE WHEN ${sql.value('head', 'integer')} IS NOT NULL THEN ${sql.larger(
      sql.value('head', 'integer'),
      `coalesce((SELECT max(block_number) FROM send
        WHERE block_number IS NOT NULL AND NOT final), 0)`,
    )} END, ${sql.value('account', 'bytes')}
    RETURNING id, head`,
)
const COUNT_READY = statement(
  (sql) => `
    SELECT count(*) AS count FROM waiting LEFT JOIN change ON change.id = waiting.change
    WHERE ${sql.isIn('waiting.id', 'places', 'integer')} AND ${maySend(sql)}`,
)
const CARRY = statement(
  (sql) => `
    INSERT INTO member (send, place, record, batch, change, counted)
    SELECT ${sql.value('send', 'integer')}, id, record, batch, change, counted FROM waiting
    WHERE ${sql.isIn('id', 'places', 'integer')}`,
)
const LEAVE_QUEUE = statement(
  (sql) => `DELETE FROM waiting WHERE ${sql.isIn('id', 'places', 'integer')}`,
)

/** @throws {IssueError} when some of the members wait no more, or may not be sent yet. */
function* addSend(added: {
  sender: Sender
  signed: SignedTransaction
  members: readonly Member[]
  head: number | undefined
}): Work<Send> {
  const { sender, signed, members, head } = added
  const { account } = sender
  const { nonce } = signed
  const places = members.map(({ place }) => place)
  const ready = yield* first(COUNT_READY, { places, ...senderValues(sender) })
  if (Number(ready?.count) < members.length)
    throw new IssueError(
      'registry_refused',
      `${members.length} documents or changes may not be sent yet`,
    )
  const row = yield* first(INSERT_SEND, { nonce, head, account: fromHex(account) })
  const id = Number(row?.id)
  yield* all(CARRY, { send: id, places })
  yield* all(LEAVE_QUEUE, { places })
  const issues = members.filter(({ action }) => action.kind === 'issue')
  yield* pinLater(issues.map(({ action }) => fromHex(action.documentHash)))
  const attempt = { ...signed, carried: members.length }
  yield* addAttempt(id, attempt)
  const newest = numberOrNull(row?.head ?? null)
  return {
    id,
    account,
    nonce,
    members,
    attempts: [attempt],
    ...(newest !== null && { head: newest }),
  }
}

const INSERT_ATTEMPT = statement(`
  INSERT INTO attempt (
    send, hash, raw, carried, gas_limit, max_fee_per_gas, max_priority_fee_per_gas)
  VALUES (:send, :hash, :raw, :carried, :gas_limit, :max_fee, :max_tip)`)

function* addAttempt(
  send: number,
  { hash, raw, carried, gasLimit, maxFeePerGas, maxPriorityFeePerGas }: Attempt,
): Work<void> {
  yield* all(INSERT_ATTEMPT, {
    send,
    hash: fromHex(hash),
    raw: fromHex(raw),
    carried,
    gas_limit: gasLimit,
    max_fee: String(maxFeePerGas),
    max_tip: String(maxPriorityFeePerGas),
  })
}

const SELECT_STATE = statement(
  (sql) => `
    SELECT block_number, block_hash, settled_at FROM send WHERE id = :id ${sql.forUpdate('send')}`,
)
const SELECT_SAME = statement(
  'SELECT id FROM send WHERE transaction_hash = :transaction AND id <> :id',
)
const DELETE_SEND = statement('DELETE FROM send WHERE id = :id')
const USE_NONCE = statement(
  (sql) => `
    UPDATE send SET block_number = :block, block_hash = :hash, transaction_hash = :transaction,
      seen = false, fee = coalesce(fee, ${sql.value('fee', 'integer')}),
      settled_at = coalesce(settled_at, ${sql.nowMs})
    WHERE id = :id`,
)
const SELECT_OWN_MEMBERS = statement(`
  SELECT ${itemColumns('member')} FROM member ${itemJoins('member')}
  WHERE member.send = :id ORDER BY member.place`)

/** @param outcomes Those of the members, in their order. */
function* settle(
  send: Send,
  outcomes: readonly Outcome[],
  { usedIn, fee }: { usedIn: UsedIn; fee: bigint },
): Work<void> {
  const { id } = send
  const state = yield* first(SELECT_STATE, { id })
  // It was settled before, and the answer was lost.
  if (!state || (state.settled_at !== null && isIn(usedIn, state))) return
  const transaction = bytesOf(usedIn.transactionHash)
  const same = transaction && (yield* first(SELECT_SAME, { id, transaction }))
  if (same) {
    yield* joinSend(id, Number(same.id))
    yield* all(DELETE_SEND, { id: same.id })
  }
  yield* all(USE_NONCE, {
    id,
    block: usedIn.blockNumber,
    hash: fromHex(usedIn.blockHash),
    transaction,
    fee: fee === 0n ? null : gweiOf(fee),
  })
  const rows = yield* all(SELECT_OWN_MEMBERS, { id })
  const byPlace = new Map(send.members.map(({ place }, i) => [place, outcomes[i]]))
  const reads = rows.map(itemOf).flatMap((item) => {
    const outcome = byPlace.get(item.place)
    return outcome ? [{ item, outcome, before: null }] : []
  })
  const own = new Set(send.attempts.map(({ hash }) => hash))
  const from = { id, own }
  yield* settleItems(reads, { send: from, isFirst: state.settled_at === null })
}

function isIn({ blockNumber, blockHash }: BlockId, row: Row): boolean {
  if (row.block_number === null) return false
  return Number(row.block_number) === blockNumber && hexOf(row.block_hash) === blockHash
}

/** @returns The amount rounded up. */
const gweiOf = (wei: bigint) => (wei + WEI_OF_GWEI - 1n) / WEI_OF_GWEI

const SUM = statement(`
  SELECT CAST(sum(fee) AS text) AS gwei FROM send WHERE fee IS NOT NULL AND settled_at >= :time`)

export function createFeeLog(database: Database): FeeLog {
  return {
    async feesSince(time) {
      const [row] = await database.read(SUM, { time })
      return BigInt((row?.gwei as string | null) ?? 0) * WEI_OF_GWEI
    },
  }
}
