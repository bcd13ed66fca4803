import { expect, test } from 'vitest'
import proofs from '#corpus/vectors/state-proofs.json' with { type: 'json' }
import vectors from '#corpus/vectors/verifications.json' with { type: 'json' }
import { fromHex, type Hex } from '#document/hex.ts'
import { encodePublicId } from '#document/public-id.ts'
import type { StateProof } from '#document/state-proof.ts'
import { RpcResponseError } from '#verifier/errors.ts'
import type { ChainReader, Eip1193Provider } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import { createProofReader } from '#verifier/readers/state-proof.ts'
import { verify } from '#verifier/verify.ts'

const found = vectors.cases.find(({ name }) => name.startsWith('of a closed issuer'))
const open = vectors.cases.find(({ name }) => name === 'valid')
if (!found || !open) throw new Error('no vector of a closed issuer')
const { closedBlock } = found.reading.issuer
const { blockTime } = found.reading
const registry = vectors.registry as `eip155:${string}` as ChainReader['registry']
const publicIdOf = ({ issuerId, documentHash }: { issuerId: number; documentHash: string }) =>
  encodePublicId({
    kind: 'single',
    issuerId,
    hash: fromHex(documentHash as Hex),
    documentKey: new Uint8Array(16),
  })

/** A node that has the answer of a vector, and answers like this about a block. */
function readerOf(block: () => unknown, { answer } = found as { answer: string }) {
  const asked: unknown[] = []
  const provider: Eip1193Provider = {
    async request({ method, params }) {
      if (method === 'eth_call') return answer
      if (method === 'eth_getLogs') return []
      asked.push([method, params])
      return block()
    },
  }
  return { chain: createChainReader(provider, registry), asked }
}

const number = `0x${closedBlock.toString(16)}`
const blockAt = (time: number, more: object = {}) => ({
  number,
  timestamp: `0x${time.toString(16)}`,
  ...more,
})
const judge = (chain: ChainReader, of = found as NonNullable<typeof found>) =>
  verify(publicIdOf(of), { chain, blocks: [] })

test('names the block, and the time with one more request', async () => {
  const { chain, asked } = readerOf(() => blockAt(blockTime - 5))
  const { blockchainProof } = await judge(chain)
  expect(blockchainProof?.issuer).toMatchObject({ closedBlock, closedAt: blockTime - 5 })
  expect(asked).toEqual([['eth_getBlockByNumber', [number, false]]])
})

test('requests nothing about an open issuer', async () => {
  const { chain, asked } = readerOf(() => blockAt(1), open)
  const { blockchainProof } = await judge(chain, open as never)
  expect(blockchainProof?.issuer).toMatchObject({ closedBlock: null, closedAt: null })
  expect(asked).toEqual([])
})

test.each<[string, () => unknown]>([
  ['no block', () => null],
  ['another block', () => blockAt(1, { number: '0x1' })],
  ['no time', () => ({ number })],
  ['a time that is no quantity', () => blockAt(1, { timestamp: '1' })],
  ['a time after that of the answer', () => blockAt(blockTime + 1)],
  [
    'an error',
    () => {
      throw new RpcResponseError(-32000, 'pruned', undefined)
    },
  ],
  [
    'no answer',
    () => {
      throw new Error('down')
    },
  ],
])('%s leaves the time unknown, and the verdict unchanged', async (_, block) => {
  const good = await judge(readerOf(() => blockAt(1)).chain)
  const { blockchainProof, ...verdict } = await judge(readerOf(block).chain)
  expect(blockchainProof?.issuer).toMatchObject({ closedBlock, closedAt: null })
  expect(verdict).toEqual({ ...verdict, status: good.status, checks: good.checks })
})

test('returns the time that enough of several nodes give', async () => {
  const reader = (...times: number[]) =>
    createQuorumReader(
      times.map((time) => readerOf(() => blockAt(time)).chain),
      2,
    )
  const closedAt = async (chain: ChainReader) =>
    (await judge(chain)).blockchainProof?.issuer.closedAt
  expect(await closedAt(reader(7, 3, 7))).toBe(7)
  expect(await closedAt(reader(7, 3))).toBeNull()
  const down = readerOf(() => Promise.reject(new Error('down'))).chain
  expect(await closedAt(createQuorumReader([down, readerOf(() => blockAt(7)).chain], 2))).toBeNull()
})

test('a proof gives the block, but not the time', async () => {
  const one = proofs.cases.find(({ name }) => name.includes('closed issuer'))
  if (!one) throw new Error('no proof of a closed issuer')
  const { blockHash } = one as { blockHash: Hex }
  const reader = createProofReader(
    { registry: one.registry as never, stateProof: one.stateProof as StateProof },
    { blockHash },
    { registry: one.registry as never, trustedBlocks: [blockHash] },
  )
  const { blockchainProof } = await judge(reader, one as never)
  expect(blockchainProof?.issuer).toMatchObject({
    closedBlock: one.reading.issuer.closedBlock,
    closedAt: null,
  })
})
