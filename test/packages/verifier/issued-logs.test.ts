import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { parseRegistryId, type RegistryId } from '#document/registry-id.ts'
import { collectIssued, type Eip1193Provider, RpcResponseError } from '#verifier/index.ts'
import {
  documents,
  hashOf,
  type IssuedList,
  roots,
  startIssuedList,
} from '../../support/issued-list.ts'

const refused = (code: string) => expect.objectContaining({ code })

let list: IssuedList
let provider: Eip1193Provider
let registry: RegistryId
beforeAll(async () => {
  list = await startIssuedList()
  ;({ provider, registry } = list)
})
afterAll(() => list?.close())

test('returns every hash and root once, and the manifests of the batches', async () => {
  const found = await collectIssued(provider, registry, 1)
  expect([...found.documentHashes].sort()).toEqual(documents)
  expect([...found.roots].sort()).toEqual(roots)
  expect(found.manifests).toEqual(new Map(roots.map((root) => [root, hashOf(5, 0)])))
  const of2 = await collectIssued(provider, registry, 2)
  expect(of2.documentHashes).toHaveLength(2)
})

/** A node that answers for some blocks at a time, or not at all. */
const limited = (refuse: (range: { from: number; to: number }) => Error | undefined) => {
  const ranges: number[] = []
  const request: Eip1193Provider['request'] = async (args) => {
    if (args.method === 'eth_getLogs') {
      const [filter] = args.params as [{ fromBlock: Hex; toBlock: Hex }]
      const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
      const error = refuse({ from, to })
      if (error) throw error
      ranges.push(to - from + 1)
    }
    return provider.request(args)
  }
  return { request, ranges }
}

test('asks for shorter ranges where the node limits them', async () => {
  const node = limited(({ from, to }) =>
    to - from >= 3 ? new RpcResponseError(-32005, 'block range too large', undefined) : undefined,
  )
  const found = await collectIssued(node, registry, 1)
  expect([...found.documentHashes].sort()).toEqual(documents)
  expect(Math.max(...node.ranges)).toBeLessThanOrEqual(3)
})

test('reports a node that has pruned its logs', async () => {
  const node = limited(() => new RpcResponseError(4444, 'pruned history unavailable', undefined))
  await expect(collectIssued(node, registry, 1)).rejects.toThrow(refused('pruned'))
})

test('gives up on a node that is down, and on logs of other contracts', async () => {
  let asked = 0
  const down = limited(() => {
    asked++
    return new Error('down')
  })
  await expect(collectIssued(down, registry, 1)).rejects.toThrow(refused('rpc_unreachable'))
  expect(asked).toBe(3)
  const other = registry.replace(/.$/, (c) => (c === '0' ? '1' : '0'))
  const liar: Eip1193Provider = {
    async request(args) {
      const answer = await provider.request(args)
      const text = JSON.stringify(answer)
      const address = (id: string) => parseRegistryId(id).address
      return JSON.parse(text.replaceAll(address(registry), address(other)))
    },
  }
  await expect(collectIssued(liar, registry, 1)).rejects.toThrow(refused('rpc_unreachable'))
})
