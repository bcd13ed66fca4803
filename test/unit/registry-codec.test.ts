import { randomBytes } from 'node:crypto'
import { Interface } from 'ethers'
import { expect, test } from 'vitest'
import { toHex } from '../../document/hex.ts'
import {
  decodeRecords,
  encodeIssueMany,
  encodeRecordsOf,
  encodeRevokeMany,
} from '../../gateway/adapters/registry-codec.ts'
import { registryAbi } from '../../verifier/readers/registry-abi.ts'

const abi = new Interface(registryAbi)
const hashes = (count: number) =>
  Array.from({ length: count }, () => toHex(randomBytes(32)))
const RECORD = [1, 2, 3, 4, 2 ** 40 - 1, 6, 7, 10]

for (const count of [0, 1, 2, 200])
  test(`default: calldata for ${count} documents is what ethers makes`, () => {
    const list = hashes(count)
    const expiries = list.map((_, i) => i * 5_000_000_000)
    expect(encodeIssueMany(list, expiries)).toBe(
      abi.encodeFunctionData('issueMany', [list, expiries]),
    )
    expect(encodeRevokeMany(list, 9)).toBe(
      abi.encodeFunctionData('revokeMany', [list, 9]),
    )
    expect(encodeRecordsOf(list)).toBe(
      abi.encodeFunctionData('recordsOf', [list]),
    )
  })

test('default: records are what ethers encodes', () => {
  const zeros = RECORD.map(() => 0)
  const result = abi.encodeFunctionResult('recordsOf', [[RECORD, zeros]])
  const [first, second] = decodeRecords(result, 2)
  expect(first).toEqual({
    issuerId: 1,
    accountIndex: 2,
    anchoredBlock: 3,
    anchoredAt: 4,
    validUntil: 2 ** 40 - 1,
    revokedBlock: 6,
    revokedAt: 7,
    reason: 10,
  })
  expect(Object.values(second ?? {})).toEqual(zeros)
})

test('error: fewer, more, shorter, longer, no hexadecimal, out of range', () => {
  const result = abi.encodeFunctionResult('recordsOf', [[RECORD]])
  expect(() => decodeRecords(result, 0)).toThrow(RangeError)
  expect(() => decodeRecords(result, 2)).toThrow(RangeError)
  expect(() => decodeRecords(result.slice(0, -1), 1)).toThrow(RangeError)
  expect(() => decodeRecords(`${result}00`, 1)).toThrow(RangeError)
  expect(() => decodeRecords(`${result.slice(0, -1)}g`, 1)).toThrow(RangeError)
  const wide = `${result.slice(0, -64)}${'f'.repeat(64)}`
  expect(() => decodeRecords(wide, 1)).toThrow(RangeError)
})
