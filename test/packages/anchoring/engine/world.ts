import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createBlockTime } from '#engine/block-time.ts'
import { createForeignWatch } from '#engine/foreign.ts'
import { createLeader } from '#engine/leader.ts'
import type { AccountPorts } from '#engine/seats.ts'
import type { FeeCaps } from '#engine/spending.ts'
import type { TermTiming } from '#engine/term.ts'
import { type Action, type IssueAction, reasonOf } from '#promise/action.ts'
import { LockLost } from '#promise/lock.ts'
import type { Account, Blocks, RegistryReader, Transactions } from '#promise/ports.ts'
import type { SignedTransaction } from '#promise/send.ts'
import type { Session, Sessions } from '#store/database.ts'
import { openSqlite, type SqliteDatabase } from '#store/drivers/sqlite/driver.ts'
import { createLeaderOutbox, createOutbox } from '#store/outbox.ts'
import { createPayloadStore } from '#store/payloads.ts'
import { createShared } from '#store/stores.ts'

// A chain in memory, whose timing tests choose. Database, outbox and store are real.

export const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
export const ADA: Hex = `0x${'ac'.repeat(20)}`
export const BOB: Hex = `0x${'b0'.repeat(20)}`
const RECORD = {
  accountIndex: 0,
  anchoredAt: 0,
  validUntil: 0,
  distrusted: false,
  revoker: null,
  revokerIndex: 0,
  revokedBlock: 0,
  revokedAt: 0,
  reason: 0,
  setAside: false,
}

/** The leader's view of the chain through an account. */
export type Ports = Account & Transactions & RegistryReader & Blocks

/** Locks in memory, for several gateways over one database. */
export function createTestSessions(database: SqliteDatabase) {
  const holders = new Map<string, AbortController>()
  const found = new Map<AbortController, string>()

  const open: Sessions['open'] = async () => {
    const ending = new AbortController()
    ending.signal.addEventListener('abort', () => {
      for (const [name, holder] of holders) if (holder === ending) holders.delete(name)
      found.delete(ending)
    })
    const live =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        ending.signal.aborted ? Promise.reject(new LockLost()) : call(...args)
    const session: Session = {
      database: {
        ...database,
        read: live(database.read),
        write: live(database.write) as typeof database.write,
        change: live(database.change),
      },
      ended: ending.signal,
      async assertHeld() {
        if (ending.signal.aborted) throw new LockLost()
      },
      async alsoTake(name) {
        const holder = holders.get(name) ?? ending
        holders.set(name, holder)
        return holder === ending
      },
      async stand(name) {
        found.set(ending, name)
      },
      hasRival: async () => found.size > 1,
      release: async () => ending.abort(),
    }
    return session
  }

  return {
    open,
    async take(name: string) {
      const session = await open()
      if (await session.alsoTake(name)) return session
      await session.release()
      return undefined
    },
    /** Ends the session that has a lock. */
    lose: (name: string) => holders.get(name)?.abort(),
    held: () => [...holders.keys()].sort(),
  }
}

/** A gateway over a database, with an account for each chain. */
export function startGateway(
  { database, sessions }: { database: SqliteDatabase; sessions: Sessions },
  accounts: ReadonlyMap<Hex, Ports>,
  options: { isSole?: boolean; feeCaps?: FeeCaps; timing?: TermTiming } = {},
) {
  const { isSole = true, feeCaps = {}, timing } = options
  const outbox = createOutbox(database)
  const events: string[] = []
  const note = (event: string) => void events.push(event)
  const log = { debug: note, info: note, warn: note, error: note }
  const shared = createShared(database, sessions, isSole)
  const [first] = accounts.values()
  const portsOf = (ports: Ports): AccountPorts => ({
    account: ports,
    transactions: ports,
    registry: ports,
    blocks: ports,
  })
  const leader = createLeader(
    {
      accounts: new Map([...accounts].map(([address, ports]) => [address, portsOf(ports)])),
      keyless: () => portsOf(first as Ports),
      foreignWatch: (account) => createForeignWatch({ account, log, found() {} }),
      async lead() {
        const session = await shared.lead()
        return session && { ...session, tell: (state) => session.tell(JSON.stringify(state)) }
      },
      leave: shared.leave,
      async told() {
        const last = await shared.told()
        return last && { state: JSON.parse(last.state), age: last.age }
      },
      isSole,
      outbox,
      outcomeOf: async () => ({ status: 'absent' }),
      requested: () => {},
      planned: () => {},
      concluded: () => {},
      blockTime: createBlockTime(first as Ports),
      feeCaps,
      log,
    },
    timing,
  )
  onTestFinished(() => leader.stop())
  return { leader, outbox, events }
}

/** A database in a folder that the test removes. */
export function openWorld() {
  const dir = mkdtempSync(join(tmpdir(), 'leader-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  onTestFinished(async () => {
    await database.close()
    rmSync(dir, { recursive: true })
  })
  return { database, sessions: createTestSessions(database) }
}

/** A chain of one block that mines transactions in the order of nonces while `mining` is true. */
export function startWorld(
  changes: (chain: Chain) => Partial<Ports> = () => ({}),
  feeCaps: FeeCaps = {},
) {
  const world = openWorld()
  const chain = createChain()
  onTestFinished(() => {
    chain.mining = true
  })
  const ports = { ...chain.ports, ...changes(chain) }
  const gateway = startGateway(world, new Map([[ADA, ports]]), { feeCaps })
  const { leader, outbox, events } = gateway
  const sent = createLeaderOutbox(world.database)
  const store = createPayloadStore(world.database)
  const started = leader.start()
  const newAction = createActions()
  async function issue(action = newAction(), wait = 20_000) {
    await started
    const isNew = await outbox.add(action, { payload: { bytes: Uint8Array.of(1) } })
    return leader.submit(action, wait, isNew === true)
  }
  /**
   * Replaces the chain's block by one without the transactions from this nonce on, as soon as the
   * database has sends in it, and does what the finality watch does then.
   */
  async function replaceBlock(nonce: number) {
    const { block } = chain
    await expect.poll(async () => sent.upTo(1, 1)).toEqual([block])
    chain.goBack(nonce)
    await sent.lose([block])
    await leader.resume()
  }
  return { ...world, chain, leader, outbox, sent, store, events, issue, newAction, replaceBlock }
}

/** @returns A function that makes actions for different documents. */
export function createActions(): () => IssueAction {
  let documents = 0
  return () => ({ kind: 'issue', documentHash: word(1_000_000 + documents++), validUntil: 0 })
}

export type Chain = ReturnType<typeof createChain>

/** @param anchored The transaction that anchored each documentHash, shared by accounts. */
export function createChain(anchored = new Map<Hex, Hex>(), account = 0) {
  const carried = new Map<Hex, readonly Action[]>()
  /** The transactions in the block, and their nonces. */
  const mined = new Map<Hex, number>()
  const pool = new Map<number, Hex>()
  const chain = {
    nonce: 0,
    mining: true,
    block: { blockNumber: 1, blockHash: word(9) },
    anchored,
    pool,
    /** Nonces that were signed, in order. */
    signed: [] as number[],
    mine() {
      for (let hash = pool.get(chain.nonce); hash && chain.mining; hash = pool.get(chain.nonce)) {
        for (const { documentHash } of carried.get(hash) ?? [])
          if (!anchored.has(documentHash)) anchored.set(documentHash, hash)
        mined.set(hash, chain.nonce)
        pool.delete(chain.nonce++)
      }
    },
    /** Another block, without the transactions from this nonce on. The node forgets them. */
    goBack(nonce: number) {
      const lost = new Set([...mined].filter(([, used]) => used >= nonce).map(([hash]) => hash))
      for (const hash of lost) mined.delete(hash)
      for (const [documentHash, hash] of anchored) if (lost.has(hash)) anchored.delete(documentHash)
      chain.nonce = nonce
      chain.block = { blockNumber: 1, blockHash: word(Number(chain.block.blockHash) + 1) }
    },
  }
  const anchorings = async () =>
    new Map(
      [...anchored].map(([documentHash, transactionHash]) => [
        documentHash,
        { ...chain.block, transactionHash },
      ]),
    )
  const ports: Ports = {
    assertReady: async () => ({
      balance: 1n,
      mayIssue: true,
      mayRevoke: true,
    }),
    nextNonce: async () => chain.nonce,
    transactionWith: async () => undefined,
    async prepare(actions, { nonce }): Promise<SignedTransaction> {
      const hash = word(account * 1_000 + chain.signed.push(nonce))
      carried.set(hash, actions)
      return {
        nonce,
        hash,
        raw: hash,
        gasLimit: 1n,
        maxFeePerGas: 1n,
        maxPriorityFeePerGas: 1n,
      }
    },
    head: async () => ({ number: 1, timestamp: 1 }),
    block: async (number) => ({ number, timestamp: 1 }),
    pooledNonce: async () => {
      let nonce = chain.nonce
      while (pool.has(nonce)) nonce++
      return nonce
    },
    blockHash: async () => chain.block.blockHash,
    finalizedBlock: async () => 0,
    meetsCurrentFee: async () => true,
    assertAffordable: async () => {},
    async broadcast({ nonce, raw }) {
      if (nonce >= chain.nonce) pool.set(nonce, raw)
      chain.mine()
      return 'taken'
    },
    records: async (keys) =>
      keys.map(({ documentHash: hash }) =>
        anchored.has(hash) ? { ...RECORD, anchoredBlock: 1 } : { ...RECORD, anchoredBlock: 0 },
      ),
    transactionsOf: anchorings,
    receiptOf: async (transactionHash) =>
      mined.has(transactionHash)
        ? {
            ...chain.block,
            succeeded: true,
            revised: new Map(
              carried
                .get(transactionHash)
                ?.flatMap((action) =>
                  action.kind === 'issue' ? [] : [[action.documentHash, reasonOf(action)]],
                ),
            ),
            issued: new Set(
              [...anchored]
                .filter(([, by]) => by === transactionHash)
                .map(([documentHash]) => documentHash),
            ),
          }
        : undefined,
  }
  return Object.assign(chain, { ports })
}
