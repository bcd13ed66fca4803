import { fromHex, type Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import { type Lease, type Leases, leaseOfAccount } from '#promise/lease.ts'
import { bytesOf } from '../columns.ts'
import type { ClaimedAccount, CommandDatabase, CommandOptions } from '../command-database.ts'
import { openPostgres, type Postgres } from '../drivers/postgres/database.ts'
import { DatabaseUrlError } from '../drivers/postgres/errors.ts'
import { KEPT_STATUSES } from '../rules.ts'
import { addBatch } from './batch-log.ts'
import { bind, UNFINISHED } from './binding.ts'
import { createPostgresErasures } from './erasures.ts'
import { fenced } from './fence.ts'
import { createAnchoredLog, createPostgresHistory, INSERT_BATCH_HISTORY } from './history.ts'
import { createIndexRebuild } from './index-rebuild.ts'
import { createPostgresLeases } from './leases.ts'
import { createPostgresIsErased, createPostgresStore } from './store.ts'

/** How long a statement of a command may take; milliseconds. */
const STATEMENT_TIMEOUT_MS = 600_000
const REBUILD = 'command reindex'

/**
 * Opens a PostgreSQL database for a command. Gateways may run: the command leases what only one
 * process may hold.
 *
 * @throws {DatabaseUrlError} when it cannot be used.
 * @throws {IssueError} `store_unavailable`.
 */
export async function openPostgresCommands(
  url: string,
  { leaseTerm, log }: CommandOptions,
): Promise<CommandDatabase> {
  const database = await openPostgres(url, log, STATEMENT_TIMEOUT_MS)
  const leases = createPostgresLeases(database, log, leaseTerm)
  const held: Lease[] = []
  let isFilling = false

  async function take(names: readonly string[], refusal: () => Error): Promise<Lease> {
    const lease = await leases.take(names)
    if (lease === undefined) throw refusal()
    held.push(lease)
    return lease
  }

  return {
    embedded: createPostgresStore(database),
    isErased: createPostgresIsErased(database),
    history: createPostgresHistory(database),
    anchored: createAnchoredLog(database),
    bindTo: (binding) => bind(database, binding, { mayBeUnfinished: isFilling }),
    mergeErasures: (list) => createPostgresErasures(database, list).mergeList(),
    addBatch: createRestoreBatch(database),
    claimAccount: (accounts) => claimAccount(database, { leases, held }, accounts),
    async rebuildIndex(blindTenant) {
      const lease = await take([REBUILD], () => busy('another `docreg-gateway reindex` is at work'))
      return createIndexRebuild(fenced(database, lease), blindTenant)
    },
    async claimEmpty(command) {
      const mark = `${UNFINISHED}${command}`
      await markUnfinished(database, mark, command)
      const lease = await take([mark], () =>
        busy(`another \`docreg-gateway ${command}\` is at work`),
      )
      isFilling = true
      return {
        async filled() {
          await database.query('DELETE FROM lease WHERE name = $1', [mark])
          await lease.release()
        },
      }
    },
    async close() {
      await Promise.all(held.map((lease) => lease.release().catch(() => {})))
      await database.close()
    },
  }

  function busy(problem: string): Error {
    return new DatabaseUrlError(
      `leads to a database in use: ${problem}, or was killed less than ${leaseTerm / 1000} s ago`,
    )
  }
}

/** Leases an account that nothing is in flight of. */
async function claimAccount(
  { query }: Postgres,
  { leases, held }: { leases: Leases; held: Lease[] },
  accounts: readonly Hex[],
): Promise<ClaimedAccount> {
  const rest = new Set(accounts)
  let isInFlight = false
  while (rest.size > 0) {
    const lease = await leases.take([...rest].map(leaseOfAccount))
    if (lease === undefined) break
    const account = accounts.find((one) => leaseOfAccount(one) === lease.name) as Hex
    const plans = await query('SELECT 1 FROM plan WHERE account = $1 LIMIT 1', [fromHex(account)])
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
      : 'gateways use all accounts of the settings: stop one of them for as long as the command runs, or set ISSUER_KEY to one more account of the issuer',
  )
}

/** Begins to fill an empty database. Gateways refuse it until the mark is gone. */
function markUnfinished({ transaction }: Postgres, mark: string, command: string): Promise<void> {
  return transaction(async (query) => {
    await query('LOCK TABLE bound_to IN SHARE ROW EXCLUSIVE MODE')
    const begun = await query('SELECT 1 FROM lease WHERE name = $1', [mark])
    if (begun.length > 0) return
    const [row] = await query(`
      SELECT EXISTS (SELECT 1 FROM bound_to) OR EXISTS (SELECT 1 FROM block)
        OR EXISTS (SELECT 1 FROM history) OR EXISTS (SELECT 1 FROM intent) AS used`)
    if (row?.used === true)
      throw new DatabaseUrlError(
        `leads to a database that is not empty: create a new one to ${command}`,
      )
    await query('INSERT INTO lease (name) VALUES ($1)', [mark])
  })
}

/** @returns `addBatch`; see `CommandDatabase`. */
function createRestoreBatch({ transaction }: Postgres): CommandDatabase['addBatch'] {
  return (batch, { blockNumber, blockTime, transactionHash, status }) =>
    transaction(async (query) => {
      const { id } = await addBatch(query, batch)
      await query(
        `UPDATE batch SET promised = true, promised_at = $4, block_number = $2, status = $3
         WHERE id = $1`,
        [id, blockNumber, KEPT_STATUSES.indexOf(status), blockTime],
      )
      await query(INSERT_BATCH_HISTORY, [
        ...[[blockNumber], [fromHex(batch.root)]],
        [bytesOf(transactionHash)],
      ])
      return id
    })
}
