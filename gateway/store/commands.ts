import { fromHex, type Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import { type Lease, type Leases, leaseOfAccount } from '#promise/lease.ts'
import { addBatch } from './batches.ts'
import { bind, lockBinding, type Refusals, UNFINISHED } from './binding.ts'
import type { ClaimedAccount, CommandDatabase } from './command-database.ts'
import { loseStatusLists } from './credentials.ts'
import { type Database, fenced } from './database.ts'
import { createErasures, type Scrubber } from './erasures.ts'
import { createAnchoredLog, createHistory } from './history.ts'
import { createIndexRebuild } from './index-rebuild.ts'
import { addHistory } from './outcomes.ts'
import { createIsErased, createPayloadStore } from './payloads.ts'
import { KEPT_STATUSES } from './rules.ts'
import { all, first, isSet, statement, type Work } from './sql.ts'

const REBUILD = 'command reindex'

/** A database for operators' commands. It leases what only one process may use. */
export function createCommandDatabase(
  database: Database,
  deps: { leases: Leases; refusals: Refusals; scrubber: Scrubber; close: () => Promise<void> },
): CommandDatabase {
  const { leases, refusals, scrubber, close } = deps
  const held: Lease[] = []
  let isFilling = false

  async function take(name: string, command: string): Promise<Lease> {
    const lease = await leases.take([name])
    if (lease === undefined) throw refusals.busy(command)
    held.push(lease)
    return lease
  }

  return {
    embedded: createPayloadStore(database),
    isErased: createIsErased(database),
    history: createHistory(database),
    anchored: createAnchoredLog(database),
    bindTo: (binding) => bind(database, binding, { refusals, mayBeUnfinished: isFilling }),
    mergeErasures: (list) => createErasures(database, scrubber, list).mergeList(),
    loseStatusLists: () => loseStatusLists(database),
    addBatch: (...batch) => database.write(() => restoreBatch(...batch)),
    claimAccount: (accounts) => claimAccount(database, { leases, held }, accounts),
    async rebuildIndex(blindTenant) {
      const lease = await take(REBUILD, 'reindex')
      return createIndexRebuild(fenced(database, lease), blindTenant)
    },
    async claimEmpty(command) {
      const mark = `${UNFINISHED}${command}`
      await database.write(() => markUnfinished(mark, refusals.notEmpty(command)))
      const lease = await take(mark, command)
      isFilling = true
      return {
        async filled() {
          await database.change(DELETE_LEASE, { name: mark })
          await lease.release()
        },
      }
    },
    async close() {
      await Promise.all(held.map((lease) => lease.release().catch(() => {})))
      await close()
    },
  }
}

const DELETE_LEASE = statement('DELETE FROM lease WHERE name = :name')
const SELECT_PLAN = statement(
  'SELECT 1 FROM plan WHERE account = :account OR account IS NULL LIMIT 1',
)

/** Leases an account without transactions in flight. */
async function claimAccount(
  database: Database,
  { leases, held }: { leases: Leases; held: Lease[] },
  accounts: readonly Hex[],
): Promise<ClaimedAccount> {
  const rest = new Set(accounts)
  let isInFlight = false
  while (rest.size > 0) {
    const lease = await leases.take([...rest].map(leaseOfAccount))
    if (lease === undefined) break
    const account = accounts.find((one) => leaseOfAccount(one) === lease.name) as Hex
    const plans = await database.read(SELECT_PLAN, { account: fromHex(account) })
    if (plans.length === 0) {
      held.push(lease)
      return { account, lease }
    }
    isInFlight = true
    rest.delete(account)
    await lease.release()
  }
  throw new IssueError(
    'account_shared',
    isInFlight
      ? 'each free account has transactions in flight: start a gateway until they are in a block'
      : 'gateways use all accounts of the settings: stop one of them while the command runs, or add another account of the issuer to ISSUER_KEY',
  )
}

const SELECT_LEASE = statement('SELECT name FROM lease WHERE name = :name')
const SELECT_USED = statement(`
  SELECT EXISTS (SELECT 1 FROM bound_to) OR EXISTS (SELECT 1 FROM block)
    OR EXISTS (SELECT 1 FROM history) OR EXISTS (SELECT 1 FROM intent) AS used`)
const INSERT_LEASE = statement('INSERT INTO lease (name) VALUES (:name)')

/** Begins to fill an empty database. Gateways refuse it until the mark is removed. */
function* markUnfinished(mark: string, notEmpty: Error): Work<void> {
  yield* lockBinding()
  if (yield* first(SELECT_LEASE, { name: mark })) return
  const row = yield* first(SELECT_USED)
  if (isSet(row?.used)) throw notEmpty
  yield* all(INSERT_LEASE, { name: mark })
}

const PROMISE_BATCH = statement(`
  UPDATE batch SET promised = true, promised_at = :blockTime, block_number = :blockNumber,
    status = :status
  WHERE id = :id`)

function* restoreBatch(
  ...[batch, anchoring]: Parameters<CommandDatabase['addBatch']>
): Work<number> {
  const { blockNumber, blockTime, transactionHash, status } = anchoring
  const { id } = yield* addBatch(batch)
  const code = KEPT_STATUSES.indexOf(status)
  yield* all(PROMISE_BATCH, { id, blockTime, blockNumber, status: code })
  yield* addHistory(true, [{ hash: batch.root, blockNumber, transactionHash }])
  return id
}
