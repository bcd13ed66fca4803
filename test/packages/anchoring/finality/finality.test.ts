import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import { watchFinality } from '#finality/finality.ts'
import { type Action, keyOfAction } from '#promise/action.ts'
import { type Anchored, type Anchoring, type Outcome, UNSEEN } from '#promise/anchoring.ts'
import type { SentBlocks } from '#promise/ports.ts'
import type { TrustedRecord } from '#promise/record.ts'
import type { Member, SignedTransaction } from '#promise/send.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { ACCOUNT, createWholeOutbox, waitingFor } from '#test/support/outbox.ts'
import { RELEASED } from '#verifier/reasons.ts'

// Time passes twenty times faster between polls.
vi.mock('node:timers/promises', async (actual) => {
  const timers = await actual<typeof import('node:timers/promises')>()
  const setTimeout: typeof timers.setTimeout = (delay = 0, ...rest) =>
    timers.setTimeout(delay / 20, ...rest)
  return { ...timers, setTimeout }
})

const log = { debug() {}, info() {}, warn() {}, error() {} }
const hash = (): Hex => toHex(randomBytes(32))
const none = async () => Promise.reject(new Error('not called'))
const issueOf = (): Action => ({ kind: 'issue', documentHash: hash(), validUntil: 0 })
const placeIn = (blockNumber: number) => ({
  blockNumber,
  blockHash: hash(),
  transactionHash: hash(),
})
const anchoredAt = (place: Anchoring): Outcome => ({ status: 'anchored', ...place })
const RECORD: TrustedRecord = {
  accountIndex: 0,
  anchoredAt: 1,
  anchoredBlock: 4,
  validUntil: 0,
  distrusted: false,
  revoker: null,
  setAside: false,
  revokerIndex: 0,
  revokedBlock: 0,
  revokedAt: 0,
  reason: 0,
}

/** A database, a chain whose blocks and records tests choose, and a watch that they start. */
function openWorld() {
  const dir = mkdtempSync(join(tmpdir(), 'finality-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  const outbox = createWholeOutbox(database)
  const chain = {
    finalized: 0,
    /** By number; `null` = no node has it any more. */
    blocks: new Map<number, Hex | null>(),
    /** By the hash of the document. */
    records: new Map<Hex, TrustedRecord>(),
    /** The events of each block; without one, no node has them. */
    events: new Map<number, Map<Hex, Anchoring>>(),
  }
  let nonces = 0
  const asked: number[] = []
  const final: Anchored[] = []
  const wake = vi.fn()
  const resume = vi.fn(async () => {})
  const stops: (() => Promise<void>)[] = []
  onTestFinished(async () => {
    for (const stop of stops) await stop()
    await database.close()
    rmSync(dir, { recursive: true })
  })

  async function waitingOf(actions: readonly Action[]): Promise<Member[]> {
    await Promise.all(actions.map((action) => outbox.add(action)))
    const byKey = new Map(
      (await waitingFor(outbox)).map(({ action, place }) => [
        keyOfAction(action),
        { action, place },
      ]),
    )
    return actions.flatMap((action) => byKey.get(keyOfAction(action)) ?? [])
  }
  const sign = (): SignedTransaction => ({
    nonce: nonces++,
    hash: hash(),
    raw: hash(),
    gasLimit: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
  })

  return {
    outbox,
    chain,
    asked,
    final,
    wake,
    resume,
    /** A send of this gateway that is in a block. */
    async sendIn(block: { blockNumber: number; blockHash: Hex }, ...actions: Action[]) {
      const signed = sign()
      const members = await waitingOf(actions)
      const send = await outbox.plan({ account: ACCOUNT }, signed, members)
      const place = { ...block, transactionHash: signed.hash }
      const outcomes = members.map(() => anchoredAt(place))
      await outbox.settle(send, outcomes, place, 0n)
      return { send, place }
    },
    /** Notes where others have put actions. */
    async found(...places: { action: Action; anchoring: Anchoring }[]) {
      const members = await waitingOf(places.map(({ action }) => action))
      const found = members.map((member, i) => {
        const { anchoring = placeIn(0) } = places[i] ?? {}
        return { ...member, outcome: anchoredAt(anchoring) }
      })
      await outbox.resolve(found)
    },
    waiting: async () => (await waitingFor(outbox)).map(({ action }) => action),
    /** Where an action of the outbox is; `undefined` when it is final or unknown. */
    placeOf: async ({ kind, documentHash }: Action) =>
      (await outbox.find(kind, documentHash))?.outcome,
    watch(watched: SentBlocks = outbox) {
      const stop = watchFinality({
        registry: {
          receiptOf: async () => undefined,
          transactionsOf: async (_, blockNumber) => chain.events.get(blockNumber),
          records: async (keys) =>
            keys.map(
              ({ documentHash }) =>
                chain.records.get(documentHash) ?? { ...RECORD, anchoredBlock: 0, anchoredAt: 0 },
            ),
        },
        blocks: {
          head: none,
          block: none,
          finalizedBlock: async () => chain.finalized,
          async blockHash(blockNumber) {
            asked.push(blockNumber)
            return chain.blocks.get(blockNumber) ?? null
          },
        },
        outbox: watched,
        leader: { wake, resume },
        final: (some) => final.push(...some),
        interval: () => undefined,
        inFlight: () => 0,
        log,
      })
      stops.push(stop)
      return stop
    },
    /** Resolves after so many polls that ask for a block. */
    async polls(blockNumber: number, count: number) {
      const before = asked.length
      const isAsked = () => asked.slice(before).filter((one) => one === blockNumber).length >= count
      await expect.poll(isAsked).toBe(true)
    },
  }
}

describe('a block that the chain still has', () => {
  test('is final with everything in it once the chain says so', async () => {
    const { outbox, chain, sendIn, found, watch, polls, ...seen } = openWorld()
    const [one, two, other] = [issueOf(), issueOf(), issueOf()]
    const { place } = await sendIn(placeIn(5), one, two)
    const anchoring = { ...place, transactionHash: hash() }
    await found({ action: other, anchoring })
    chain.blocks.set(5, place.blockHash)
    chain.finalized = 4
    watch()
    await polls(5, 3)
    expect(seen.final).toEqual([])
    chain.finalized = 5
    await expect
      .poll(() => seen.final)
      .toEqual([
        { action: one, anchoring: place },
        { action: two, anchoring: place },
        { action: other, anchoring },
      ])
    expect(await outbox.upTo(10, 1)).toEqual([])
    expect([await seen.waiting(), await seen.placeOf(one)]).toEqual([[], undefined])
    expect(seen.resume).not.toHaveBeenCalled()
  })

  test('is not read again once it is final', async () => {
    const { chain, sendIn, watch, final, asked } = openWorld()
    const { place } = await sendIn(placeIn(5), issueOf())
    chain.blocks.set(5, place.blockHash)
    chain.finalized = 5
    watch()
    await expect.poll(() => final).toHaveLength(1)
    // Some polls.
    await sleep(6_000)
    expect(asked).toEqual([5])
  })
})

describe('a block that was replaced', () => {
  test('puts the sends of its own accounts in flight again, with their bytes', async () => {
    const { outbox, chain, sendIn, watch, ...seen } = openWorld()
    const [one, two] = [issueOf(), issueOf()]
    const { send } = await sendIn(placeIn(5), one, two)
    chain.blocks.set(5, hash())
    chain.finalized = 10
    watch()
    await expect.poll(() => seen.resume.mock.calls.length).toBe(1)
    expect(await outbox.inFlight()).toEqual([send])
    const { hash: transactionHash } = send.attempts[0] as SignedTransaction
    expect(await seen.placeOf(one)).toEqual({ status: 'pending', transactionHash })
    expect([await seen.waiting(), seen.final, seen.wake.mock.calls]).toEqual([[], [], []])
  })

  test('leaves the sends in flight until they are in a block again, which becomes final', async () => {
    const { outbox, chain, sendIn, watch, final, resume } = openWorld()
    const action = issueOf()
    const { send, place } = await sendIn(placeIn(5), action)
    chain.blocks.set(5, hash())
    chain.finalized = 10
    watch()
    await expect.poll(() => resume.mock.calls.length).toBe(1)
    const anchoring = { ...placeIn(6), transactionHash: place.transactionHash }
    chain.blocks.set(6, anchoring.blockHash)
    await outbox.settle(send, [anchoredAt(anchoring)], anchoring, 0n)
    await expect.poll(() => final).toEqual([{ action, anchoring }])
    expect(await outbox.inFlight()).toEqual([])
  })

  test('is ignored when it is missing at only one poll', async () => {
    const { chain, sendIn, watch, polls, final, resume } = openWorld()
    const { place } = await sendIn(placeIn(5), issueOf())
    watch()
    await polls(5, 1)
    chain.blocks.set(5, place.blockHash)
    await polls(5, 3)
    chain.finalized = 5
    await expect.poll(() => final).toHaveLength(1)
    expect(resume).not.toHaveBeenCalled()
  })

  test('gets the sends of others read again, which move or wait', async () => {
    const { chain, found, watch, ...seen } = openWorld()
    const [moved, lost] = [issueOf(), issueOf()]
    const before = placeIn(5)
    await found({ action: moved, anchoring: before }, { action: lost, anchoring: before })
    const after = { ...placeIn(6), transactionHash: before.transactionHash }
    chain.blocks.set(5, hash()).set(6, after.blockHash)
    chain.records.set(moved.documentHash, { ...RECORD, anchoredBlock: 6 })
    chain.events.set(6, new Map([[moved.documentHash, after]]))
    watch()
    await expect.poll(() => seen.wake.mock.calls.length).toBe(1)
    expect(await seen.waiting()).toEqual([lost])
    expect(await seen.placeOf(moved)).toEqual(anchoredAt(after))
    expect(seen.resume).not.toHaveBeenCalled()
  })
})

describe('a block whose hash is unknown', () => {
  const unknown = { blockNumber: 5, blockHash: UNSEEN, transactionHash: null }

  test('is read again', async () => {
    const { chain, found, watch, placeOf, waiting } = openWorld()
    const action = issueOf()
    await found({ action, anchoring: unknown })
    const place = placeIn(5)
    chain.blocks.set(5, place.blockHash)
    chain.records.set(action.documentHash, { ...RECORD, anchoredBlock: 5 })
    chain.events.set(5, new Map([[action.documentHash, place]]))
    watch()
    await expect.poll(() => placeOf(action)).toEqual(anchoredAt(place))
    expect(await waiting()).toEqual([])
  })

  test('is final by its number when no node has its events', async () => {
    const { chain, found, watch, final, waiting } = openWorld()
    const action = issueOf()
    await found({ action, anchoring: unknown })
    chain.finalized = 5
    watch()
    await expect.poll(() => final).toEqual([{ action, anchoring: unknown }])
    expect(await waiting()).toEqual([])
  })
})

/** A suspension in block 5, final by now, which another account of the issuer released in block 6. */
async function released(isOnChain: boolean) {
  const world = openWorld()
  const { outbox, chain, found, watch } = world
  const suspension: Action = { kind: 'suspend', documentHash: hash() }
  const anchoring = placeIn(5)
  await found({ action: suspension, anchoring })
  chain.finalized = 10
  chain.blocks.set(5, isOnChain ? anchoring.blockHash : hash())
  const revoked = { revokedBlock: 6, revokedAt: 1, revokerIndex: 1, reason: RELEASED }
  chain.records.set(suspension.documentHash, { ...RECORD, ...revoked })
  watch()
  await expect.poll(() => outbox.upTo(10, 1)).toEqual([])
  return { ...world, suspension }
}

test('does not repeat a suspension without a receipt after its release', async () => {
  const { waiting } = await released(true)
  expect(await waiting()).toEqual([])
})

test('repeats a suspension whose block is gone', async () => {
  const { waiting, suspension } = await released(false)
  await expect.poll(waiting).toEqual([suspension])
})

/** More than one read returns. */
const BLOCKS = 200
const PAGE = 64

/** A send of others in each of many blocks of the chain. */
async function manyBlocks() {
  const world = openWorld()
  const places = Array.from({ length: BLOCKS }, (_, i) => placeIn(i + 1))
  for (const { blockNumber, blockHash } of places) world.chain.blocks.set(blockNumber, blockHash)
  await world.found(...places.map((anchoring) => ({ action: issueOf(), anchoring })))
  return { ...world, numbers: places.map(({ blockNumber }) => blockNumber) }
}

test('reads each block once, also after a restart, and a few at a time', async () => {
  const { outbox, watch, asked, numbers } = await manyBlocks()
  const read: number[] = []
  const counting: SentBlocks = {
    ...outbox,
    unseen: async (...args) => {
      const blocks = await outbox.unseen(...args)
      read.push(blocks.length)
      return blocks
    },
  }
  const first = watch(counting)
  // With each part, the newest block of those before it.
  const once = numbers.flatMap((number) =>
    number > PAGE && (number % PAGE === 0 || number === BLOCKS)
      ? [number, Math.floor((number - 1) / PAGE) * PAGE]
      : [number],
  )
  const isComplete = (looks: number) => () => asked.length >= once.length + looks
  await expect.poll(isComplete(1)).toBe(true)
  await first()
  watch(counting)
  await expect.poll(isComplete(2)).toBe(true)
  expect(asked.slice(0, once.length)).toEqual(once)
  expect(new Set(asked.slice(once.length))).toEqual(new Set([BLOCKS]))
  expect(Math.max(...read)).toBe(PAGE)
})

test('goes on where a read failed', async () => {
  const { chain, watch, asked, polls } = await manyBlocks()
  const failing = 150
  const get = chain.blocks.get.bind(chain.blocks)
  const spy = vi.spyOn(chain.blocks, 'get').mockImplementation((number) => {
    if (number === failing) throw new Error('the node is away')
    return get(number)
  })
  watch()
  await polls(failing, 2)
  spy.mockRestore()
  await polls(BLOCKS, 2)
  const timesOf = (number: number) => asked.filter((one) => one === number).length
  expect(timesOf(PAGE - 1)).toBe(1)
  expect(timesOf(failing)).toBeGreaterThan(2)
})

test('puts the sends of many replaced blocks in flight again at once', async () => {
  const { outbox, chain, sendIn, watch, resume } = openWorld()
  const count = 20
  for (let number = 1; number <= count; number++) {
    await sendIn(placeIn(number), issueOf())
    chain.blocks.set(number, hash())
  }
  watch()
  await expect.poll(() => resume.mock.calls.length).toBe(1)
  expect(await outbox.inFlight()).toHaveLength(count)
})
