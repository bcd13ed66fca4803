import { clock } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import type { KeyStore } from '#keys/ports.ts'
import type { IssueError } from '#promise/errors.ts'
import type { Locks } from '#promise/lock.ts'
import type { MirrorRows } from '#promise/ports.ts'
import { createBatchDrafts } from './batch-drafts.ts'
import { createBatchLog } from './batches.ts'
import { type Binding, bind, type Refusals } from './binding.ts'
import { createActLog } from './changes.ts'
import type { Database, KeysDatabase, Session, Sessions } from './database.ts'
import type { ErasureList } from './erasure-list.ts'
import { createErasures, onNewConnection, type Scrubber } from './erasures.ts'
import { createEventLog } from './events.ts'
import { createLeaderRow } from './leader-row.ts'
import { createMirrorRows, mirrorLag } from './mirror.ts'
import { createLeaderOutbox, createOutbox, type LeaderOutbox } from './outbox.ts'
import { OUTCOME_CHANNEL, WAITING_CHANNEL } from './outcomes.ts'
import { createPayloadStore } from './payloads.ts'
import { createDocumentIndex, createRequestLog, createSuccessions } from './records.ts'
import { createHistory } from './sends/history.ts'
import { numberOrNull, statement } from './sql.ts'
import { createTallies } from './tallies.ts'
import type { IsBlockErased } from './tombstones.ts'

/** Everything a database needs from outside. */
export type DatabaseDeps = {
  binding: Binding
  erasureList: ErasureList
  /** A gateway that is stopped or cut off for longer than this loses its locks; milliseconds. */
  termMs: number
  log: Log
  /** Whether to go on with a database that has lost writes. */
  acceptLoss: boolean
  /** Ends the process, because it is unknown what is on disk. */
  end(error: IssueError): void
}

/** The parts that only one kind of database has, and that its repositories need. */
export type DatabaseParts = {
  keys: KeyStore
  /** For the tables of modules that are beside the keys. */
  besideKeys: KeysDatabase
  sessions: Sessions
  refusals: Refusals
  scrubber: Scrubber
  /** Present when it has lost writes that were on the disk: what that is, and what to do. */
  loss?: string
  /** Opened after the erasures of the list have been merged. */
  openErased(): Promise<IsBlockErased>
  /** Whether only one gateway can use the database. */
  isSole: boolean
  /**
   * Makes a test write, at most once a second.
   *
   * @throws {IssueError} `store_unavailable` when it accepts no writes at the moment.
   */
  assertReady(): Promise<void>
  /**
   * Copies it with everything that was acknowledged, while it is in use.
   *
   * @param path The copy, which must not exist. Only one copy can be made at a time.
   * @param beside Runs once the copy is complete and before the next commit, so that whatever it
   * copies is of the same moment. With it, writes wait until both are done.
   * @throws {Error} when the database has to be copied with its own tools; the message names them.
   */
  copyTo(path: string, beside?: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** The ports of one database. */
export type DatabaseStores = Awaited<ReturnType<typeof openStores>>

/** Coordinates the gateways that use one database. */
export type SharedDatabase = DatabaseStores['shared']

/**
 * Opens the ports of a database, and closes it when that fails.
 *
 * @throws One of the refusals, for the database of another owner, or one that is not filled yet.
 */
export async function openStores(
  database: Database,
  parts: DatabaseParts,
  { binding, erasureList, log }: DatabaseDeps,
) {
  const { sessions, refusals, scrubber, openErased, isSole, ...rest } = parts
  try {
    await bind(database, binding, { refusals })
    const outbox = createOutbox(database)
    const embedded = createPayloadStore(database)
    const erasures = createErasures(database, scrubber, erasureList)
    const mergeList = async () => {
      const merged = await erasures.mergeList()
      if (merged > 0) log.warn('erasures_merged', { documents: merged })
    }
    await mergeList()
    const isErased = await openErased()
    const stopMerging = onNewConnection(database, mergeList, log)
    const shared = createShared(database, sessions, isSole)
    return {
      ...rest,
      async close() {
        await stopMerging()
        await rest.close()
      },
      /** For the tables of modules. */
      database,
      outbox,
      /** The payloads. It does not store erased ones again. */
      embedded,
      erasures,
      isErased,
      requests: createRequestLog(database),
      history: createHistory(database),
      acts: createActLog(database),
      tallies: createTallies(database),
      /** Absent for PostgreSQL, which is backed up with its own tools. */
      backups: isSole ? createBackups(database) : undefined,
      documentIndex: createDocumentIndex(database),
      successions: createSuccessions(database),
      events: createEventLog(database),
      batchLog: createBatchLog(database),
      batchDrafts: createBatchDrafts(database, { locks: sessions, isSole }),
      /** @returns See {@link mirrorLag}. */
      mirrorLag: () => database.snapshot(mirrorLag),
      shared,
    }
  } catch (error) {
    await rest.close()
    throw error
  }
}

/** What the gateway that leads can do, for as long as its session lasts. */
export type Leading = Omit<Session, 'hasRival'> & {
  /** The outbox through the session. */
  outbox: LeaderOutbox
  mirror: MirrorRows
  /** @returns Whether another gateway could lead. */
  hasRival(): Promise<boolean>
  /** Tells the other gateways. @param state JSON. */
  tell(state: string): Promise<void>
}

/** The name of the lock of the gateway that leads, and of the one that all gateways share. */
export const LEADER = 'leader'
export const GATEWAY = 'gateway'

/** Coordinates the gateways that use one database. */
export function createShared(database: Database, sessions: Sessions, isSole: boolean) {
  const row = createLeaderRow(database)
  /** With it, this gateway stands for election, and leads. */
  let session: Session | undefined

  async function stand(): Promise<Session> {
    if (session && !session.ended.aborted) return session
    const opened = await sessions.open()
    await opened.stand(GATEWAY)
    session = opened
    return opened
  }

  return {
    locks: sessions as Locks,
    /** Whether only one gateway can use the database. */
    isSole,
    /** @returns `undefined` while another gateway leads. */
    async lead(): Promise<Leading | undefined> {
      const own = await stand()
      if (!(await own.alsoTake(LEADER))) return undefined
      return {
        ...own,
        outbox: createLeaderOutbox(own.database),
        mirror: createMirrorRows(own.database),
        hasRival: () => own.hasRival(GATEWAY),
        tell: createLeaderRow(own.database).write,
      }
    },
    /** Stands for election no more. */
    async leave(): Promise<void> {
      await session?.release().catch(() => {})
    },
    /** @returns What the gateway that leads told last, as JSON; see `Leading`. */
    told: row.read,
    /**
     * @param channel Something waits for the gateway that leads, or outcomes were written.
     * @param heard Called when that is so, and when it may have gone unnoticed.
     * @returns A function that stops listening.
     */
    listen: (channel: 'waiting' | 'outcome', heard: () => void): (() => void) =>
      database.listen(channel === 'waiting' ? WAITING_CHANNEL : OUTCOME_CHANNEL, heard),
  }
}

const NOTE_BACKUP = statement(`
  INSERT INTO backup (id, made_at) VALUES (1, :now)
  ON CONFLICT (id) DO UPDATE SET made_at = excluded.made_at`)
const SELECT_BACKUP = statement('SELECT made_at FROM backup')

/** The backups that the service made itself. */
function createBackups(database: Database) {
  return {
    /** Records that one has just been made. */
    async note(): Promise<void> {
      await database.change(NOTE_BACKUP, { now: clock.now() })
    },
    /** @returns When the last one was made, in milliseconds of the Unix epoch; `null` = none. */
    async last(): Promise<number | null> {
      const [row] = await database.read(SELECT_BACKUP)
      return numberOrNull(row?.made_at ?? null)
    },
  }
}
