import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createInFlight } from '#engine/in-flight.ts'
import { createSettling } from '#engine/settle.ts'
import type { IssueAction } from '#promise/action.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { IssueError } from '#promise/errors.ts'
import type { Send, SignedTransaction } from '#promise/send.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { ACCOUNT, createWholeOutbox, waitingFor } from '#test/support/outbox.ts'

const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const NONCE = 7
/** The newest block. */
const HEAD = 20
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

const actionOf = (n: number): IssueAction => ({
  kind: 'issue',
  documentHash: word(n),
  validUntil: 0,
})
const sign = (n: number): SignedTransaction => ({
  nonce: NONCE,
  hash: word(n),
  raw: word(n),
  gasLimit: 10n,
  maxFeePerGas: 6n,
  maxPriorityFeePerGas: 1n,
})
const anchoring = (blockNumber: number, transactionHash: Hex) => ({
  blockNumber,
  blockHash: word(blockNumber),
  transactionHash,
})

/** A send of documents in a real outbox, and a chain that only the test changes. */
async function start(documents: number) {
  const dir = mkdtempSync(join(tmpdir(), 'settle-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  onTestFinished(async () => {
    await database.close()
    rmSync(dir, { recursive: true })
  })
  const outbox = createWholeOutbox(database)
  const actions = Array.from({ length: documents }, (_, i) => actionOf(i + 1))
  for (const action of actions) await outbox.add(action)
  const send = await outbox.plan({ account: ACCOUNT }, sign(100), await waitingFor(outbox))
  const inFlight = createInFlight()
  inFlight.add([send])
  const chain = {
    /** The documents that are on the chain, by hash, and where. */
    anchored: new Map<Hex, ReturnType<typeof anchoring>>(),
    /** Why its records cannot be read. */
    failure: undefined as Error | undefined,
  }
  const concluded: [Hex, Outcome['status']][] = []
  const suspected: Send[] = []
  const noted: Send[] = []
  const failed = vi.fn()
  const { settle } = createSettling({
    inFlight,
    account: { nextNonce: async () => Number.MAX_SAFE_INTEGER },
    registry: {
      async records(keys) {
        if (chain.failure) throw chain.failure
        return keys.map(({ documentHash }) => ({
          ...RECORD,
          anchoredBlock: chain.anchored.get(documentHash)?.blockNumber ?? 0,
        }))
      },
      transactionsOf: async (_, blockNumber) =>
        new Map([...chain.anchored].filter(([, place]) => place.blockNumber === blockNumber)),
      async receiptOf(transactionHash) {
        const own = [...chain.anchored].filter(([, at]) => at.transactionHash === transactionHash)
        const place = own[0]?.[1]
        if (!place) return undefined
        const issued = new Set(own.map(([documentHash]) => documentHash))
        return { ...place, succeeded: true, issued, revised: new Map() }
      },
    },
    blocks: {
      head: async () => ({ number: HEAD, timestamp: 0 }),
      block: async (number) => ({ number, timestamp: 0 }),
      blockHash: async (number) => word(number),
      finalizedBlock: async () => 0,
    },
    outbox,
    blockTime: {
      interval: () => undefined,
      async look() {},
      included() {},
      newest: () => undefined,
    },
    foreign: { suspect: (sends) => suspected.push(...sends) },
    costOf: async () => 60n,
    conclude: ({ documentHash }, { status }) => concluded.push([documentHash, status]),
    noted: (sends) => noted.push(...sends),
    failed,
  })
  /** Puts documents on the chain. */
  const anchor = (blockNumber: number, transactionHash: Hex, ...numbers: number[]) => {
    for (const n of numbers) chain.anchored.set(word(n), anchoring(blockNumber, transactionHash))
  }
  const written = vi.spyOn(outbox, 'settle')
  const isWritten = () => expect.poll(() => noted).toEqual([send])
  const waiting = async () => (await waitingFor(outbox)).map(({ action }) => action)
  return {
    outbox,
    inFlight,
    send,
    chain,
    settle,
    anchor,
    isWritten,
    waiting,
    written,
    concluded,
    suspected,
    failed,
  }
}

test('finishes nothing while the nonce is not used', async () => {
  const { inFlight, send, settle, written } = await start(1)
  expect(await settle(NONCE)).toBe(true)
  expect([inFlight.sends(), written.mock.calls]).toEqual([[send], []])
})

test('a send is in the block of its own transaction', async () => {
  const { inFlight, send, settle, anchor, isWritten, ...seen } = await start(2)
  anchor(9, word(100), 1, 2)
  expect(await settle(NONCE + 1)).toBe(true)
  await isWritten()
  const place = anchoring(9, word(100))
  const outcomes = [place, place].map((one) => ({ status: 'anchored', ...one }))
  expect(seen.written.mock.calls).toMatchObject([[send, outcomes, place, 60n]])
  expect(seen.concluded).toEqual([1, 2].map((n) => [word(n), 'anchored']))
  expect([seen.suspected, await seen.waiting(), inFlight.unsettled()]).toEqual([[], [], []])
})

test('a send whose nonce a foreign transaction used is in the newest block, and suspected', async () => {
  const { inFlight, send, settle, isWritten, ...seen } = await start(1)
  expect(await settle(NONCE + 1)).toBe(true)
  await isWritten()
  const place = { blockNumber: HEAD, blockHash: word(HEAD), transactionHash: null }
  // It counts with its whole cost, since it may be mined after a reorg.
  expect(seen.written.mock.calls).toEqual([[send, [{ status: 'absent' }], place, 60n]])
  expect(seen.suspected).toEqual([send])
  expect(seen.concluded).toEqual([[word(1), 'absent']])
  expect([await seen.waiting(), inFlight.unsettled()]).toEqual([[actionOf(1)], []])
  expect(await seen.outbox.unseen(undefined, 2)).toMatchObject([{ blockNumber: HEAD }])
})

test('a member that another transaction anchored stays there, and is not sent again', async () => {
  const { settle, anchor, isWritten, outbox, ...seen } = await start(2)
  anchor(8, word(200), 1)
  anchor(9, word(100), 2)
  expect(await settle(NONCE + 1)).toBe(true)
  await isWritten()
  expect([seen.suspected, await seen.waiting()]).toEqual([[], []])
  const placeOf = async (n: number) => (await outbox.find('issue', word(n)))?.outcome
  expect(await placeOf(1)).toMatchObject(anchoring(8, word(200)))
  expect(await placeOf(2)).toMatchObject(anchoring(9, word(100)))
})

test('members that a replacement left out wait again once the nonce is used', async () => {
  const { inFlight, send, settle, anchor, outbox, waiting } = await start(3)
  inFlight.replace(await outbox.replace(send, sign(101), 1))
  expect(await waiting()).toEqual([])
  anchor(9, word(101), 1)
  await settle(NONCE + 1)
  await expect.poll(() => inFlight.unsettled()).toEqual([])
  expect(await waiting()).toEqual([actionOf(2), actionOf(3)])
  expect((await outbox.find('issue', word(1)))?.outcome).toMatchObject(anchoring(9, word(101)))
})

test('members that a replacement left out do not wait again when the replaced one is mined', async () => {
  const { inFlight, send, settle, anchor, outbox, waiting } = await start(3)
  inFlight.replace(await outbox.replace(send, sign(101), 1))
  anchor(9, word(100), 1, 2, 3)
  await settle(NONCE + 1)
  await expect.poll(() => inFlight.unsettled()).toEqual([])
  expect(await waiting()).toEqual([])
})

test('an empty transfer uses its nonce, and nothing waits', async () => {
  const { inFlight, settle, isWritten, ...seen } = await start(0)
  await settle(NONCE + 1)
  await isWritten()
  expect([seen.concluded, await seen.waiting(), inFlight.unsettled()]).toEqual([[], [], []])
})

test('waits two seconds for a node that cannot show the result', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { chain, inFlight, send, settle, failed } = await start(1)
  chain.failure = new IssueError('chain_unavailable', 'the record has no event')
  expect(await settle(NONCE + 1)).toBe(false)
  vi.advanceTimersByTime(1_999)
  expect(await settle(NONCE + 1)).toBe(false)
  vi.advanceTimersByTime(1)
  await expect(settle(NONCE + 1)).rejects.toBe(chain.failure)
  expect([inFlight.sends(), failed.mock.calls]).toEqual([[send], []])
})
