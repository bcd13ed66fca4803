import { randomBytes } from 'node:crypto'
import { keccak256, Wallet } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Hex, toHex } from '../../document/hex.ts'
import { signCall } from '../../gateway/adapters/transaction.ts'

const wallet = new Wallet(toHex(randomBytes(32)))
const bytes = (options: object) =>
  fc.uint8Array(options).map((value): Hex => toHex(value))
const wei = fc.bigInt(0n, 2n ** 128n - 1n)
const call = fc.record({
  chainId: fc.integer({ min: 1, max: 2 ** 48 }),
  nonce: fc.integer({ min: 0, max: 2 ** 40 }),
  maxPriorityFeePerGas: wei,
  maxFeePerGas: wei,
  gasLimit: fc.bigInt(21_000n, 2n ** 40n),
  to: bytes({ minLength: 20, maxLength: 20 }),
  data: bytes({ maxLength: 400, size: 'max' }),
})

async function expectSame(transaction: Parameters<typeof signCall>[1]) {
  const raw = await wallet.signTransaction({ type: 2, ...transaction })
  expect(signCall(wallet.signingKey, transaction)).toEqual({
    raw,
    hash: keccak256(raw),
  })
}

test('default: the bytes that ethers makes', () =>
  fc.assert(
    fc.asyncProperty(call, (transaction) => {
      // ethers refuses a tip over the fee.
      fc.pre(transaction.maxPriorityFeePerGas <= transaction.maxFeePerGas)
      return expectSame(transaction)
    }),
  ))

for (const length of [0, 1, 54, 55, 56, 255, 256, 65_535, 65_536, 122_880])
  test(`args: ${length} bytes of data`, () =>
    expectSame({
      chainId: 1,
      nonce: 0,
      maxPriorityFeePerGas: 0n,
      maxFeePerGas: 1n,
      gasLimit: 16_777_216n,
      to: toHex(randomBytes(20)),
      data: toHex(new Uint8Array(length).fill(length % 256)),
    }))
