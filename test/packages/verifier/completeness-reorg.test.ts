import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import {
  createCompletenessProof,
  type Eip1193Provider,
  readCompleteness,
  verifyCompleteness,
} from '#verifier/index.ts'
import {
  documents,
  hashOf,
  hashOfNewest,
  ISSUER,
  type IssuedList,
  roots,
  startIssuedList,
} from '../../support/issued-list.ts'

// A reorg while a list is judged.

const refused = (code: string) => expect.objectContaining({ code })

let list: IssuedList
let provider: Eip1193Provider
let registry: RegistryId
beforeAll(async () => {
  list = await startIssuedList()
  ;({ provider, registry } = list)
})
afterAll(() => list?.close())

let start: string
beforeEach(async () => {
  start = await list.anvil.request('evm_snapshot')
  await list.anvil.request('evm_mine')
})
afterEach(() => list.anvil.request('evm_revert', start))

/**
 * Puts another block in the place of the newest around answers to this method: before views,
 * which ask for a block by its hash, and after anything else.
 */
function reorganising(method: string, times: number) {
  let before = Promise.resolve()
  const node = {
    reorgs: 0,
    async request(args: { method: string }) {
      const chosen = args.method === method && node.reorgs < times
      if (!chosen) {
        // In the middle of a reorg the newest block is one that stays.
        await before
        return provider.request(args)
      }
      const wei = `0x${(++node.reorgs).toString(16)}`
      const answer = method === 'eth_call' ? undefined : await provider.request(args)
      before = before.then(() => replaceNewest(wei))
      await before
      return answer ?? provider.request(args)
    },
  }
  return node
}
async function replaceNewest(wei: string) {
  await list.anvil.request('evm_revert', start)
  start = await list.anvil.request('evm_snapshot')
  // Another state, too.
  await list.anvil.request('anvil_setBalance', ISSUER, wei)
  await list.anvil.request('evm_mine')
}
// More than one request, also of proofs.
const strange = Array.from({ length: 300 }, (_, i) => hashOf(10 + (i >> 8), i & 0xff))
const given = { documentHashes: [...strange, ...documents], roots }

test.each(['eth_getBlockByNumber', 'eth_getProof'])(
  'a proof starts again after %s',
  async (method) => {
    const node = reorganising(method, 1)
    const made = await createCompletenessProof(node, registry, 1, given)
    expect(node.reorgs).toBe(1)
    const blockHash = await hashOfNewest(provider)
    expect(verifyCompleteness(made, { registry, trustedBlocks: [blockHash] })).toMatchObject({
      status: 'complete',
      asOf: { blockHash },
    })
  },
)

test('reading the views starts again, and never mixes two branches', async () => {
  const node = reorganising('eth_call', 1)
  const read = await readCompleteness(node, registry, 1, given)
  expect(node.reorgs).toBe(1)
  const method = 'eth_getBlockByNumber'
  const block = await provider.request({ method, params: ['latest', false] })
  const blockTime = Number((block as { timestamp: Hex }).timestamp)
  expect(read).toMatchObject({ status: 'complete', asOf: { blockTime } })
})

test('gives up on a chain that keeps changing', async () => {
  for (const [judge, method, code] of [
    [createCompletenessProof, 'eth_getProof', 'proof_invalid'],
    [readCompleteness, 'eth_call', 'state_unavailable'],
  ] as const)
    await expect(judge(reorganising(method, Infinity), registry, 1, given)).rejects.toThrow(
      refused(code),
    )
})
