import { expect, test } from 'vitest'
import { TooLargeError } from '#document/bytes.ts'
import { HttpStatusError, RpcResponseError } from '#verifier/errors.ts'
import { scanLogs } from '#verifier/readers/log-scan.ts'
import { patientRequest } from '#verifier/readers/patience.ts'
import { createRequest, type Request } from '#verifier/readers/request.ts'

type Range = { from: number; to: number; size: number }

/** A node with one log in each block, which refuses some ranges. */
function nodeThat(refuse: (range: Range) => Error | undefined) {
  const asked: Range[] = []
  const request = createRequest({
    async request({ params }) {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
      const [from, to] = [Number(fromBlock), Number(toBlock)]
      const range = { from, to, size: to - from + 1 }
      const error = refuse(range)
      if (error) throw error
      asked.push(range)
      return Array.from({ length: Math.min(range.size, 10) }, () => ({}))
    },
  })
  return { request, asked }
}

async function scan(request: Request, to: number): Promise<void> {
  for await (const _ of scanLogs(request, [{ address: '0x' }], { from: 0, to }));
}

const isWhole = (asked: Range[], to: number) =>
  asked.every(({ from }, i) => from === (asked[i - 1]?.to ?? -1) + 1) && asked.at(-1)?.to === to

test('reads every block once, in ranges that grow', async () => {
  const { request, asked } = nodeThat(() => undefined)
  await scan(request, 1_000_000)
  expect(isWhole(asked, 1_000_000)).toBe(true)
  expect(asked.length).toBeLessThan(12)
})

test.each([
  ['eth_getLogs is limited to a 1,000 block range', 1_000],
  ['exceed maximum block range: 500', 500],
  ['You can make eth_getLogs requests with up to a 2000 block range', 2_000],
])('respects the limit of %j', async (message, limit) => {
  const { request, asked } = nodeThat(({ size }) =>
    size > limit ? new RpcResponseError(-32602, message, undefined) : undefined,
  )
  await scan(request, 20_000)
  expect(isWhole(asked, 20_000)).toBe(true)
  expect(asked.filter(({ size }) => size === limit).length).toBeGreaterThan(5)
})

test('uses the range that a node suggests, and a shorter one after a long answer', async () => {
  const suggesting = nodeThat(({ from, size }) =>
    size > 70
      ? new RpcResponseError(
          -32602,
          `Log response size exceeded. This block range should work: [0x${from.toString(16)}, 0x${(from + 63).toString(16)}]`,
          undefined,
        )
      : undefined,
  )
  await scan(suggesting.request, 2_000)
  expect(isWhole(suggesting.asked, 2_000)).toBe(true)
  expect(suggesting.asked.some(({ size }) => size === 64)).toBe(true)
  const long = nodeThat(({ size }) => (size > 10 ? new TooLargeError('too long') : undefined))
  await scan(long.request, 200)
  expect(isWhole(long.asked, 200)).toBe(true)
})

test('waits as long as a busy node asks, and finally gives up', async () => {
  const waits: number[] = []
  const sleep = async (ms: number) => void waits.push(ms)
  const errors = [
    new HttpStatusError(429, 7_000),
    new RpcResponseError(-32005, 'project ID request rate exceeded, rate limit', undefined),
  ]
  const busy = nodeThat(() => errors.shift())
  await scan(patientRequest(busy.request, sleep), 10)
  expect(waits).toEqual([7_000, 1_000])
  expect(isWhole(busy.asked, 10)).toBe(true)
  const never = nodeThat(() => new HttpStatusError(429))
  await expect(scan(patientRequest(never.request, sleep), 10)).rejects.toMatchObject({
    code: 'rpc_unreachable',
  })
})

test('reports pruned logs, a node that is down, and a block that is refused alone', async () => {
  for (const [error, code] of [
    [new RpcResponseError(4444, 'pruned history unavailable', undefined), 'pruned'],
    [new Error('down'), 'rpc_unreachable'],
    [new RpcResponseError(-32000, 'too many results', undefined), 'rpc_error'],
  ] as const)
    await expect(scan(nodeThat(() => error).request, 1_000)).rejects.toMatchObject({ code })
})
