import { expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createInFlight } from '#engine/in-flight.ts'
import { createSettling } from '#engine/settle.ts'
import type { Intent } from '#promise/intent.ts'
import type { Plan } from '#promise/plan.ts'

const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`

const intent: Intent = {
  kind: 'issue',
  documentHash: word(1),
  validUntil: 0,
}
const plan: Plan = {
  id: 1,
  account: '0x',
  nonce: 7,
  intents: [intent],
  attempts: [
    {
      nonce: 7,
      hash: word(2),
      raw: '0x',
      gasLimit: 10n,
      maxFeePerGas: 6n,
      maxPriorityFeePerGas: 1n,
    },
  ],
}

test('behavior: an abandoned plan counts under the cap, since it may be mined later', async () => {
  const none = async () => Promise.reject(new Error('not called'))
  const inFlight = createInFlight()
  inFlight.add([plan])
  const charged: bigint[] = []
  const requeued: Intent[] = []
  const given: Plan[] = []
  const { abandon } = createSettling({
    inFlight,
    registry: {
      records: none,
      transactionsOf: none,
      receiptOf: none,
      isPooled: none,
    },
    outbox: {
      plans: none,
      plan: none,
      replace: none,
      async settle(_, __, fee) {
        charged.push(fee)
      },
    },
    blockTime: {
      interval: () => undefined,
      async look() {},
      included() {},
      newest: () => undefined,
    },
    foreign: {
      suspect() {},
      abandoned: (plans) => given.push(...plans),
    },
    costOf: async () => 60n,
    conclude: (intent) => requeued.push(intent),
    noted() {},
    failed() {},
  })
  await abandon([plan])
  expect(charged).toEqual([60n])
  expect(requeued).toEqual([intent])
  expect(inFlight.unsettled()).toEqual([])
  expect(given).toEqual([plan])
})
