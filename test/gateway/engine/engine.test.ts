import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fromHex, type Hex } from '#document/hex.ts'
import { createBlockTime } from '#engine/block-time.ts'
import { createEngine } from '#engine/engine.ts'
import { createEngines } from '#engine/engines.ts'
import { createForeignWatch } from '#engine/foreign.ts'
import type { FeeCaps } from '#engine/spending.ts'
import { IssueError } from '#promise/errors.ts'
import { type Intent, type IssueIntent, reasonOf } from '#promise/intent.ts'
import type { SignedTransaction } from '#promise/plan.ts'
import type { Account, Blocks, RegistryReader, Transactions } from '#promise/ports.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createLeases } from '#store/leases.ts'
import { createFresh } from '#store/outbox/requests.ts'
import { createOutbox, createPersistence } from '#store/outbox.ts'
import { createPayloadStore } from '#store/payloads.ts'
import { createOwner, createShared } from '#store/stores.ts'

// Cases whose timing a real chain does not allow. Database, outbox and store are real; a test may
// delay the disk's flush.

let disk = (done: () => void) => done()
vi.mock('node:fs', async (actual) => {
  const fs = await actual<typeof import('node:fs')>()
  return { ...fs, fdatasync: (_: number, done: () => void) => disk(done) }
})

const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const ACCOUNT: Hex = `0x${'ac'.repeat(20)}`
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

const AWAY = new IssueError('store_unavailable', 'the database is away')

/** The batcher's view of the chain. */
type Ports = Account & Transactions & RegistryReader & Blocks

/** A chain that mines transactions in the order of nonces while `mining` is true. */
function startWorld(changes: (chain: Chain) => Partial<Ports> = () => ({}), feeCaps: FeeCaps = {}) {
  disk = (done) => done()
  const dir = mkdtempSync(join(tmpdir(), 'batcher-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  const { owner, assignTo } = createOwner()
  const fresh = createFresh()
  const outbox = createOutbox(database, { owner, fresh })
  const store = createPayloadStore(database)
  const persistence = createPersistence(store, outbox)
  const chain = createChain()
  const events: string[] = []
  const note = (event: string) => {
    events.push(event)
  }
  const ports = { ...chain.ports, ...changes(chain) }
  const log = { debug: note, info: note, warn: note, error: note }
  const leases = createLeases(database, log, 60_000)
  const shared = createShared(database, leases, fresh)
  const batcher = createEngines({
    accounts: [ACCOUNT],
    leases,
    isSole: true,
    busy: shared,
    outbox,
    requested: () => {},
    outcomeOf: async () => ({ status: 'absent' }),
    log,
    open(account, lease, answers) {
      const own = shared.outboxOf({ account, lease })
      const deps = {
        account: ports,
        transactions: ports,
        registry: ports,
        blocks: ports,
        blockTime: createBlockTime(ports),
        feeCaps,
        foreign: createForeignWatch({ account: ports, log, found() {} }),
        outbox: own,
        planned: () => {},
        concluded: () => {},
        log,
      }
      return {
        engine: createEngine(deps, answers),
        backlog: own,
        assertReady: async () => {},
        assertAlone: async () => {},
      }
    },
  })
  assignTo(batcher.own)
  const started = batcher.start()
  onTestFinished(async () => {
    chain.mining = true
    await batcher.stop()
    await database.close()
    rmSync(dir, { recursive: true })
  })
  let documents = 0
  const newIntent = (): IssueIntent => ({
    kind: 'issue',
    documentHash: word(1_000_000 + documents++),
    validUntil: 0,
  })
  async function issue(intent = newIntent(), wait = 20_000) {
    const documentHash = fromHex(intent.documentHash)
    await started
    await persistence.add(intent, { documentHash, bytes: Uint8Array.of(1) })
    return batcher.submit(intent, wait)
  }
  return { chain, batcher, outbox, store, events, issue, newIntent }
}

/** With a cap of an hour, an outcome is on disk only after its fee was read. */
function holdFee() {
  let noteFee = () => {}
  const held = new Promise<void>((resolve) => {
    noteFee = resolve
  })
  const asked = new Set<Hex>()
  return {
    noteFee: () => noteFee(),
    receiptOf: ({ ports }: Chain): Pick<Ports, 'receiptOf'> => ({
      // At first for the outcome, then for the fee.
      async receiptOf(hash) {
        if (asked.has(hash)) await held
        asked.add(hash)
        return ports.receiptOf(hash)
      },
    }),
  }
}

type Chain = ReturnType<typeof createChain>

function createChain() {
  const carried = new Map<Hex, readonly Intent[]>()
  const pool = new Map<number, Hex>()
  /** The transaction that anchored each documentHash. */
  const anchored = new Map<Hex, Hex>()
  const chain = {
    nonce: 0,
    mining: true,
    anchored,
    pool,
    /** Nonces that were signed, in order. */
    signed: [] as number[],
    mine() {
      for (let hash = pool.get(chain.nonce); hash && chain.mining; hash = pool.get(chain.nonce)) {
        for (const { documentHash } of carried.get(hash) ?? [])
          if (!anchored.has(documentHash)) anchored.set(documentHash, hash)
        pool.delete(chain.nonce++)
      }
    },
  }
  const anchorings = async () =>
    new Map(
      [...anchored].map(([documentHash, transactionHash]) => [
        documentHash,
        { blockNumber: 1, blockHash: word(9), transactionHash },
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
    async prepare(intents, { nonce }): Promise<SignedTransaction> {
      const hash = word(chain.signed.push(nonce))
      carried.set(hash, intents)
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
    isPooled: async (hash) => [...pool.values()].includes(hash),
    blockHash: async () => word(9),
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
    receiptOf: async (transactionHash) => ({
      blockNumber: 1,
      blockHash: word(9),
      succeeded: true,
      revised: new Map(
        carried
          .get(transactionHash)
          ?.flatMap((intent) =>
            intent.kind === 'issue' ? [] : [[intent.documentHash, reasonOf(intent)]],
          ),
      ),
      issued: new Set(
        [...anchored]
          .filter(([, by]) => by === transactionHash)
          .map(([documentHash]) => documentHash),
      ),
    }),
  }
  return Object.assign(chain, { ports })
}

test('behavior: an outage answers a request and its repeat with pending, and anchors them once', async () => {
  const first = Promise.withResolvers<never>()
  let isOutage = true
  let prepared = 0
  const { chain, batcher, store, events, issue, newIntent } = startWorld(({ ports }) => ({
    async prepare(...args) {
      if (prepared++ === 0) return first.promise
      if (isOutage) throw new IssueError('fee_too_high', 'the price of gas')
      return ports.prepare(...args)
    },
  }))
  const intent = newIntent()
  const one = issue(intent)
  await expect.poll(() => prepared).toBe(1)
  const other = issue(intent)
  await expect.poll(() => batcher.depth().queued).toBe(1)
  first.reject(new IssueError('fee_too_high', 'the price of gas'))
  const pending = { status: 'pending', transactionHash: null }
  expect(await Promise.all([one, other])).toEqual([pending, pending])
  expect(() => batcher.assertOpen()).toThrow('the price of gas')
  expect(chain.anchored.size).toBe(0)
  isOutage = false
  await expect.poll(() => chain.anchored.has(intent.documentHash), { timeout: 10_000 }).toBe(true)
  expect(chain.signed).toEqual([0])
  await expect.poll(() => events).toContain('issuing_resumed')
  expect((await store.get(fromHex(intent.documentHash))).status).toBe('found')
})

test('behavior: recovers at once from a chain that goes back while transactions are made', async () => {
  const { chain, events, issue } = startWorld(({ ports }) => ({
    async prepare(...args) {
      await sleep(400)
      return ports.prepare(...args)
    },
  }))
  chain.nonce = 20
  const answers = [issue()]
  await answers[0]
  chain.mining = false
  const load = setInterval(() => answers.push(issue()), 20)
  await expect.poll(() => chain.pool.size).toBeGreaterThan(1)
  chain.nonce = 3
  chain.pool.clear()
  chain.mining = true
  await expect.poll(() => chain.nonce).toBeGreaterThan(3)
  clearInterval(load)
  for (const answer of await Promise.all(answers)) expect(answer.status).toBe('anchored')
  expect(events.filter((event) => event === 'nonces_lost')).toHaveLength(1)
})

test('behavior: concludes without receipts', async () => {
  const { batcher, events, issue } = startWorld(() => ({
    receiptOf: async () => {
      throw new IssueError('chain_unavailable', 'indexing is in progress')
    },
  }))
  expect(await issue()).toMatchObject({ status: 'anchored' })
  batcher.assertOpen()
  expect(events).toEqual(['account_leased'])
})

test('behavior: a mined transaction counts under the cap of an hour until its fee is noted', async () => {
  const allowed: (bigint | undefined)[] = []
  const { noteFee, receiptOf } = holdFee()
  const { issue } = startWorld(
    (chain) => ({
      ...receiptOf(chain),
      prepare(intents, terms) {
        allowed.push(terms.maxFee)
        return chain.ports.prepare(intents, terms)
      },
    }),
    { hour: 10n },
  )
  expect(await issue()).toMatchObject({ status: 'anchored' })
  expect(await issue()).toMatchObject({ status: 'anchored' })
  expect(allowed).toEqual([10n, 9n])
  noteFee()
})

test('behavior: answers a repeat that came before the outcome was noted', async () => {
  const { noteFee, receiptOf } = holdFee()
  const { batcher, issue, newIntent } = startWorld(receiptOf, { hour: 10n })
  const intent = newIntent()
  const first = await issue(intent)
  const repeat = batcher.submit(intent, 60_000)
  await sleep(50)
  noteFee()
  expect(await repeat).toMatchObject({
    status: 'anchored',
    transactionHash: word(1),
  })
  expect(first).toMatchObject({ status: 'anchored' })
})

test('behavior: stops only once the outcome that was answered is on disk', async () => {
  const { noteFee, receiptOf } = holdFee()
  const { batcher, outbox, issue } = startWorld(receiptOf, { hour: 10n })
  expect(await issue()).toMatchObject({ status: 'anchored' })
  setTimeout(noteFee, 50)
  await batcher.stop()
  expect(await outbox.plans()).toEqual([])
})

test('behavior: slow looks do not delay planned transactions', async () => {
  const [begun, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isSecond = false
  let isSlow = false
  const { chain, issue } = startWorld(({ ports }) => ({
    async nextNonce() {
      if (isSlow) {
        begun.resolve()
        await answered.promise
      }
      return ports.nextNonce()
    },
    // Goes on once the next look has begun.
    async prepare(...args) {
      isSlow = isSecond
      if (isSlow) await begun.promise
      return ports.prepare(...args)
    },
  }))
  await issue()
  chain.mining = false
  const first = issue()
  await expect.poll(() => chain.pool.size).toBe(1)
  isSecond = true
  const second = issue()
  await expect.poll(() => chain.pool.size).toBe(2)
  isSlow = false
  answered.resolve()
  chain.mining = true
  chain.mine()
  expect(await first).toMatchObject({ status: 'anchored' })
  expect(await second).toMatchObject({ status: 'anchored' })
})

test('behavior: an intent in flight is pending, with its transaction', async () => {
  const { chain, issue } = startWorld()
  chain.mining = false
  const answer = issue(undefined, 500)
  await expect.poll(() => chain.pool.size).toBe(1)
  const [transactionHash] = chain.pool.values()
  expect(await answer).toEqual({ status: 'pending', transactionHash })
  chain.mining = true
  chain.mine()
})

test('behavior: an intent in flight is pending, also when the database cannot be read', async () => {
  const { chain, outbox, issue, newIntent } = startWorld()
  chain.mining = false
  const intent = newIntent()
  const answer = issue(intent, 500)
  await expect.poll(() => chain.pool.size).toBe(1)
  vi.spyOn(outbox, 'find').mockRejectedValue(AWAY)
  expect(await answer).toEqual({ status: 'pending', transactionHash: null })
  chain.mining = true
  chain.mine()
  expect(chain.anchored.has(intent.documentHash)).toBe(true)
})

test('behavior: a queued intent is pending when the database cannot be read, and is anchored', async () => {
  const gate = Promise.withResolvers<void>()
  const { chain, batcher, outbox, issue, newIntent } = startWorld(({ ports }) => ({
    async prepare(...args) {
      await gate.promise
      return ports.prepare(...args)
    },
  }))
  const intent = newIntent()
  const answer = issue(intent, 300)
  await expect.poll(() => batcher.depth().queued).toBe(1)
  vi.spyOn(outbox, 'find').mockRejectedValue(AWAY)
  expect(await answer).toEqual({ status: 'pending', transactionHash: null })
  gate.resolve()
  await expect.poll(() => chain.anchored.has(intent.documentHash)).toBe(true)
  expect(chain.signed).toEqual([0])
})

test('behavior: does not queue an intent again that is in flight', async () => {
  const { chain, batcher, issue, newIntent } = startWorld()
  chain.mining = false
  const intent = newIntent()
  const answer = issue(intent)
  await expect.poll(() => chain.pool.size).toBe(1)
  batcher.wake()
  expect(batcher.depth()).toEqual({ queued: 0, refused: 0, inFlight: 1 })
  chain.mining = true
  chain.mine()
  expect(await answer).toMatchObject({ status: 'anchored' })
  expect(chain.signed).toEqual([0])
})

test('behavior: sends a revocation once its document is noted, without another event', async () => {
  const { chain, batcher, outbox, issue, newIntent } = startWorld()
  chain.mining = false
  const intent = newIntent()
  const issued = issue(intent)
  await expect.poll(() => chain.pool.size).toBe(1)
  const { documentHash } = intent
  const revocation = { kind: 'revoke', documentHash, reason: 1 } as const
  await outbox.add(revocation)
  const revoked = batcher.submit(revocation, 20_000)
  // The chain has the document; the disk is slow to record it.
  const flushes: (() => void)[] = []
  disk = (done) => flushes.push(done)
  chain.mining = true
  chain.mine()
  expect(await issued).toMatchObject({ status: 'anchored' })
  await sleep(300)
  expect(batcher.depth()).toEqual({ queued: 1, refused: 0, inFlight: 0 })
  disk = (done) => done()
  for (const done of flushes) done()
  expect(await revoked).toMatchObject({ status: 'anchored' })
})

test('behavior: tells documents that it anchored from those anchored before', async () => {
  const { chain, issue, newIntent } = startWorld()
  expect(await issue()).toMatchObject({ byAnother: false })
  const intent = newIntent()
  chain.anchored.set(intent.documentHash, word(7))
  expect(await issue(intent)).toMatchObject({
    status: 'anchored',
    transactionHash: word(7),
    byAnother: true,
  })
})

test('error: an intent that cannot be looked up is anchored all the same', async () => {
  const { chain, batcher, outbox, issue } = startWorld()
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  onTestFinished(() => void process.off('unhandledRejection', unhandled))
  vi.spyOn(outbox, 'find').mockRejectedValue(AWAY)
  // The engine finds it in the backlog.
  expect(await issue()).toMatchObject({ status: 'anchored' })
  chain.mining = false
  expect(await issue(undefined, 50)).toEqual({ status: 'pending', transactionHash: null })
  chain.mining = true
  chain.mine()
  await batcher.stop()
  await sleep(10)
  expect(unhandled).not.toHaveBeenCalled()
})
