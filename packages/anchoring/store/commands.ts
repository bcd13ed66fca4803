import type { Log } from '#base/log.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { KeyStore } from '#keys/ports.ts'
import { UNSEEN } from '#promise/anchoring.ts'
import type { KnownBatch } from '#promise/batch-log.ts'
import type { KeptStatus } from '#promise/document-index.ts'
import { IssueError } from '#promise/errors.ts'
import { lockOfAccount } from '#promise/lock.ts'
import { addBatch } from './batches.ts'
import {
  type Binding,
  bind,
  type Health,
  lockBinding,
  type Refusals,
  unfinishedCommand,
} from './binding.ts'
import type { Database, KeysDatabase, Session, Sessions } from './database.ts'
import type { ErasureList } from './erasure-list.ts'
import { createErasures, type Scrubber } from './erasures.ts'
import { createIndexRebuild } from './index-rebuild.ts'
import type { KeptRows } from './kept-rows.ts'
import { loseStatusLists } from './lost-lists.ts'
import { createIsErased, createPayloadStore } from './payloads.ts'
import { createHistory } from './sends/history.ts'
import { placeBatch, placeRecords } from './sends/write.ts'
import { all, first, hexOf, isSet, statement, type Work } from './sql.ts'
import type { DatabaseDeps, DatabaseStores } from './stores.ts'
import { KEPT_STATUSES } from './tables.ts'

/** A kind of database, and its location. */
export type DatabaseAdapter = {
  openStores(deps: DatabaseDeps): Promise<DatabaseStores>
  /** Opens the API keys, and the tables beside them. The gateway may be running. */
  openKeys(log: Log): Promise<OpenKeyStore>
  /**
   * Opens it for a command. With SQLite, no gateway runs until it is closed; with gateways on
   * PostgreSQL, each method says what it excludes.
   *
   * @throws {Error} when it cannot be used; the message says what to do.
   */
  openForCommand(options: CommandOptions): Promise<CommandDatabase>
  /**
   * Opens it to read, without changing anything, not even the schema. The gateway may be running.
   */
  openToRead(log: Log): Promise<KeptRows>
  /**
   * Reports its state without changing anything.
   *
   * @param fingerprints The fingerprints of the issuer secrets in the settings, if there are any.
   */
  examine(fingerprints: readonly Hex[] | undefined): Promise<Health[]>
}

type OpenKeyStore = {
  store: KeyStore
  database: KeysDatabase
  /** @returns Whether it has ever had a key. */
  hadKeys(): Promise<boolean>
  close(): Promise<void>
}

export type CommandOptions = {
  /** Whether to create the data folder if it is missing. */
  create?: boolean
  /** See `DatabaseDeps`. */
  termMs: number
  log: Log
}

/** A database for operators' commands. */
export type CommandDatabase = ReturnType<typeof createCommandDatabase>

/** It locks what only one process may use. */
export function createCommandDatabase(
  database: Database,
  deps: { sessions: Sessions; refusals: Refusals; scrubber: Scrubber; close: () => Promise<void> },
) {
  const { sessions, refusals, scrubber, close } = deps
  const held: Session[] = []
  let isFilling = false

  async function take(command: string): Promise<Session> {
    const session = await sessions.take(`command ${command}`)
    if (session === undefined) throw refusals.busy(command)
    held.push(session)
    return session
  }

  return {
    embedded: createPayloadStore(database),
    isErased: createIsErased(database),
    history: createHistory(database),
    /** The places where documents that were issued alone, and batches, are anchored. */
    anchored: createAnchoredLog(database),
    /** @throws {Error} as opening the stores does, for the database of another gateway. */
    bindTo: (binding: Binding) => bind(database, binding, { refusals, mayBeUnfinished: isFilling }),
    /** Begins the erasures of the list that it does not have. @returns The number of these. */
    mergeErasures: (list: ErasureList) => createErasures(database, scrubber, list).mergeList(),
    /** Call this when the database was made again: it may not know who is in the status lists. */
    loseStatusLists: () => loseStatusLists(database),
    /** Adds a promised batch from the chain. @returns Its id. */
    addBatch: (...batch: Parameters<typeof restoreBatch>) =>
      database.write(() => restoreBatch(...batch)),
    /**
     * Claims one of these accounts to send transactions, until the database is closed.
     *
     * @param accounts Addresses in lower case.
     * @throws {IssueError} `account_shared` when gateways use all of them, or left transactions in
     * flight.
     */
    async claimAccount(accounts: readonly Hex[]): Promise<{ account: Hex; lock: Session }> {
      const claimed = await claimAccount(database, sessions, accounts)
      held.push(claimed.lock)
      return claimed
    },
    /**
     * Begins to rebuild the index. Gateways may run, but not another rebuild.
     *
     * @param tenant The tenant for documents of an unknown tenant.
     */
    async rebuildIndex(tenant: string | null) {
      const session = await take('reindex')
      return createIndexRebuild(session.database, tenant)
    },
    /**
     * Claims an empty database, which no gateway uses until `filled`, or one that an earlier run
     * left unfinished.
     *
     * @param command The name of the command that fills it.
     * @throws {Error} when the database has other rows, or another run is filling it.
     */
    async claimEmpty(command: string) {
      const session = await take(command)
      await database.write(() => markUnfinished(command, refusals.notEmpty(command)))
      isFilling = true
      return {
        async filled(): Promise<void> {
          await database.change(FINISH, { command })
          await session.release()
        },
      }
    },
    async close(): Promise<void> {
      await Promise.all(held.map((session) => session.release().catch(() => {})))
      await close()
    },
  }
}

type Place = { blockNumber: number; transactionHash: Hex | null }
export type AnchoredLog = ReturnType<typeof createAnchoredLog>

const DOCUMENTS_SINCE = statement(`
  SELECT record.hash AS hash FROM send JOIN member ON member.send = send.id
    JOIN record ON record.id = member.record
  WHERE send.block_number >= :block`)
const BATCHES_SINCE = statement(`
  SELECT batch.root AS hash FROM send JOIN member ON member.send = send.id
    JOIN batch ON batch.id = member.batch
  WHERE send.block_number >= :block`)

/** Where documents and batches are, for commands, which also write it. */
function createAnchoredLog(database: Database) {
  return {
    /** @param place The block and transaction of a command that issued them again. */
    moveDocuments: (documentHashes: readonly Hex[], place: Place) =>
      database.write(() => placeRecords(documentHashes, { ...place, blockHash: UNSEEN }, true)),
    moveBatch: (root: Hex, place: Place) =>
      database.write(() => placeBatch(root, { ...place, blockHash: UNSEEN }, true)),
    /** @returns The documents and the roots of batches that are in a block from this one on. */
    async since(block: number): Promise<{ documentHashes: Hex[]; roots: Hex[] }> {
      const documents = await database.read(DOCUMENTS_SINCE, { block })
      const batches = await database.read(BATCHES_SINCE, { block })
      return {
        documentHashes: documents.map(({ hash }) => hexOf(hash)),
        roots: batches.map(({ hash }) => hexOf(hash)),
      }
    },
  }
}

const FINISH = statement('DELETE FROM unfinished WHERE command = :command')
const SELECT_IN_FLIGHT = statement(`
  SELECT 1 FROM send WHERE account = :account AND block_number IS NULL AND NOT final LIMIT 1`)

/** Locks an account without transactions in flight. */
async function claimAccount(
  database: Database,
  sessions: Sessions,
  accounts: readonly Hex[],
): Promise<{ account: Hex; lock: Session }> {
  let isInFlight = false
  for (const account of accounts) {
    const lock = await sessions.take(lockOfAccount(account))
    if (lock === undefined) continue
    const sends = await database.read(SELECT_IN_FLIGHT, { account: fromHex(account) })
    if (sends.length === 0) return { account, lock }
    isInFlight = true
    await lock.release()
  }
  throw new IssueError(
    'account_shared',
    isInFlight
      ? 'each free account has transactions in flight: start a gateway until they are in a block'
      : 'a gateway uses the account of the settings: stop every gateway while the command runs, or add another account of the issuer to ISSUER_KEY',
  )
}

const SELECT_USED = statement(`
  SELECT EXISTS (SELECT 1 FROM bound_to) OR EXISTS (SELECT 1 FROM payload)
    OR EXISTS (SELECT 1 FROM record) OR EXISTS (SELECT 1 FROM change) AS used`)
const BEGIN = statement('INSERT INTO unfinished (command) VALUES (:command)')

/** Begins to fill an empty database. Gateways refuse it until the mark is removed. */
function* markUnfinished(command: string, notEmpty: Error): Work<void> {
  yield* lockBinding()
  if ((yield* unfinishedCommand()) === command) return
  const row = yield* first(SELECT_USED)
  if (isSet(row?.used)) throw notEmpty
  yield* all(BEGIN, { command })
}

const PROMISE_BATCH = statement(`
  UPDATE batch SET promised = true, promised_at = :blockTime, status = :status WHERE id = :id`)

function* restoreBatch(
  batch: Omit<KnownBatch, 'id'>,
  anchoring: {
    blockNumber: number
    /** The time of the block, in seconds of the Unix epoch. */
    blockTime: number
    transactionHash: Hex | null
    status: KeptStatus | null
  },
): Work<number> {
  const { blockNumber, blockTime, transactionHash, status } = anchoring
  const { id } = yield* addBatch(batch)
  const code = KEPT_STATUSES.indexOf(status)
  yield* all(PROMISE_BATCH, { id, blockTime, status: code })
  yield* placeBatch(batch.root, { blockNumber, blockHash: UNSEEN, transactionHash }, true)
  return id
}
