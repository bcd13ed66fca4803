import { SigningKey, Wallet } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signEip1559 } from '#chain/signer.ts'
import type { Hex } from '#document/hex.ts'

const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const bytes = (minLength: number, maxLength = minLength) =>
  fc.uint8Array({ minLength, maxLength }).map(hex)
const wei = fc.bigInt({ min: 0n, max: 2n ** 128n })

const transaction = fc
  .record({
    type: fc.constant(2 as const),
    chainId: fc.integer({ min: 1, max: 2 ** 40 }),
    nonce: fc.nat(),
    to: bytes(20),
    data: bytes(0, 600),
    gasLimit: fc.bigInt({ min: 0n, max: 2n ** 40n }),
    maxFeePerGas: wei,
    maxPriorityFeePerGas: wei,
  })
  .filter((one) => one.maxPriorityFeePerGas <= one.maxFeePerGas)

test('signs transactions as ethers does', async () => {
  const key = fc
    .bigInt({ min: 1n, max: 2n ** 255n })
    .map((number): Hex => `0x${number.toString(16).padStart(64, '0')}`)
  await fc.assert(
    fc.asyncProperty(key, transaction, async (key, transaction) => {
      const signed = signEip1559(new SigningKey(key), transaction)
      expect(signed).toBe(await new Wallet(key).signTransaction(transaction))
    }),
  )
})
