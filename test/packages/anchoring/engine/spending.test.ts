import { describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createSpending, type FeeCaps } from '#engine/spending.ts'
import type { RegistryReader } from '#promise/ports.ts'
import type { Send } from '#promise/send.ts'

const HASHES: Hex[] = ['0x01', '0x02']

/** A send with two attempts; the more expensive one may cost 60 wei. */
const send: Send = {
  id: 1,
  account: '0x',
  nonce: 0,
  members: [],
  attempts: HASHES.map((hash, i) => ({
    nonce: 0,
    hash,
    raw: hash,
    carried: 0,
    gasLimit: 10n,
    maxFeePerGas: BigInt(5 + i),
    maxPriorityFeePerGas: 1n,
  })),
}

function open(
  caps: FeeCaps,
  settled: bigint,
  receiptOf: RegistryReader['receiptOf'] = async () => undefined,
) {
  const none = async () => Promise.reject(new Error('not called'))
  const registry = {
    receiptOf,
    records: none,
    transactionsOf: none,
  }
  return createSpending(caps, { feesSince: async () => settled }, registry, () => [send])
}

describe('allowance', () => {
  test('allows any fee without caps', async () => {
    expect(await open({}, 1_000n).allowance()).toBeUndefined()
  })

  test('allows the rest of the hour, less the fees in flight', async () => {
    expect(await open({ hour: 100n }, 30n).allowance()).toBe(10n)
  })

  test('counts a replacement instead of the previous attempt', async () => {
    expect(await open({ hour: 100n }, 30n).allowance(send)).toBe(70n)
  })

  test('allows nothing once the hour is spent', async () => {
    expect(await open({ hour: 100n }, 300n).allowance()).toBe(0n)
  })

  test.each([
    [5n, 5n],
    [50n, 10n],
  ])('with a cap of %i for a transaction, allows %i', async (transaction, allowed) => {
    const { allowance } = open({ hour: 100n, transaction }, 30n)
    expect(await allowance()).toBe(allowed)
  })
})

describe('serial execution', () => {
  test('runs one task after the other, also after a failure', async () => {
    const { inTurn } = open({}, 0n)
    const events: string[] = []
    const work = (name: string, fails: boolean) => async () => {
      events.push(`${name} begins`)
      await new Promise(setImmediate)
      events.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    }
    const one = expect(inTurn(work('one', true))).rejects.toThrow('one')
    const other = inTurn(work('other', false))
    await one
    expect(await other).toBe('other')
    expect(events).toEqual(['one begins', 'one ends', 'other begins', 'other ends'])
  })
})

describe('cost of a send', () => {
  test("is that of the mined attempt's receipt", async () => {
    const { costOf } = open({ hour: 100n }, 0n, async (hash) =>
      hash === '0x01'
        ? {
            blockNumber: 1,
            blockHash: '0x09',
            succeeded: true,
            issued: new Set<Hex>(),
            revised: new Map(),
            fee: 33n,
          }
        : undefined,
    )
    expect(await costOf(send)).toBe(33n)
  })

  test('ignores a receipt above the maximum cost', async () => {
    const { costOf } = open({ hour: 100n }, 0n, async () => ({
      blockNumber: 1,
      blockHash: '0x09',
      succeeded: true,
      issued: new Set<Hex>(),
      revised: new Map(),
      fee: 2n ** 500n,
    }))
    expect(await costOf(send)).toBe(60n)
  })

  test('is the maximum of the most expensive attempt if no receipt is known', async () => {
    expect(await open({ hour: 100n }, 0n).costOf(send)).toBe(60n)
    const down = open({ hour: 100n }, 0n, async () => Promise.reject(new Error('down')))
    expect(await down.costOf(send)).toBe(60n)
  })

  test('is not read without a cap', async () => {
    expect(await open({}, 0n).costOf(send)).toBe(0n)
  })
})
