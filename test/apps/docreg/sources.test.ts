import { keccak256 } from 'ethers'
import { expect, test } from 'vitest'
import { comparingCode } from '#cli/sources.ts'
import type { Hex } from '#document/hex.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createRequest } from '#verifier/readers/request.ts'

const registry = 'eip155:1:0x00000000000000000000000000000000000000aa'
const CODE: Hex = '0x600160'
const codeHash = keccak256(CODE) as Hex

/** @param codes What it answers for the code, one after the other; the last one again. */
function nodeWith(...codes: (Hex | Error)[]) {
  const asked: string[] = []
  const node: Eip1193Provider = {
    async request({ method }) {
      asked.push(method)
      if (method !== 'eth_getCode') return '0x1'
      const code = codes.length > 1 ? codes.shift() : codes[0]
      if (code instanceof Error) throw code
      return code
    },
  }
  return { node, asked }
}
const ask = (node: Eip1193Provider) => createRequest(node)('eth_chainId', [])

test('reads the code once, before the first answer', async () => {
  const { node, asked } = nodeWith(CODE)
  const comparing = comparingCode(node, { registry, codeHash })
  await Promise.all([ask(comparing), ask(comparing)])
  expect(asked).toEqual(['eth_getCode', 'eth_chainId', 'eth_chainId'])
})

test('does not read the code without a known hash', async () => {
  const { node, asked } = nodeWith(CODE)
  await ask(comparingCode(node, { registry }))
  expect(asked).toEqual(['eth_chainId'])
})

test('rejects other code, also through a reader', async () => {
  const { node, asked } = nodeWith('0x6002')
  const comparing = comparingCode(node, { registry, codeHash })
  await expect(ask(comparing)).rejects.toMatchObject({ code: 'other_code' })
  const key = { issuerId: 1, documentHash: `0x${'11'.repeat(32)}` as Hex }
  const reading = createChainReader(comparing, registry).read(key)
  await expect(reading).rejects.toMatchObject({ code: 'other_code' })
  expect(new Set(asked)).toEqual(new Set(['eth_getCode']))
})

test('asks again a node that is down or behind; reports missing code', async () => {
  const { node } = nodeWith(new Error('down'), '0x', '0x6002')
  const comparing = comparingCode(node, { registry, codeHash })
  await expect(ask(comparing)).rejects.toMatchObject({ code: 'rpc_unreachable' })
  await expect(ask(comparing)).resolves.toBe('0x1')
  await expect(ask(comparing)).rejects.toMatchObject({ code: 'other_code' })
})
