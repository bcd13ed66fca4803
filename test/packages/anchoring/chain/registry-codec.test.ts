import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import {
  decodeRecords,
  encodeIssueMany,
  encodeRecordsOf,
  encodeReleaseMany,
  encodeRevokeMany,
} from '#chain/registry-codec.ts'
import { toHex } from '#document/hex.ts'

const hashes = (count: number) => Array.from({ length: count }, () => toHex(randomBytes(32)))
const ISSUER_ID = 2 ** 32 - 1
const RECORD = [1, 2, 3, 2 ** 40 - 1, 5, 6, 7, 10, true]

for (const count of [0, 1, 2, 200])
  test(`encodes calldata for ${count} documents as ethers does`, () => {
    const list = hashes(count)
    const expiries = list.map((_, i) => i * 5_000_000_000)
    expect(encodeIssueMany(ISSUER_ID, list, expiries)).toBe(
      registryAbi.encodeFunctionData('issueMany', [ISSUER_ID, list, expiries]),
    )
    expect(encodeRevokeMany(ISSUER_ID, list, 9)).toBe(
      registryAbi.encodeFunctionData('revokeMany', [ISSUER_ID, list, 9]),
    )
    expect(encodeReleaseMany(ISSUER_ID, list)).toBe(
      registryAbi.encodeFunctionData('releaseMany', [ISSUER_ID, list]),
    )
    expect(encodeRecordsOf(ISSUER_ID, list)).toBe(
      registryAbi.encodeFunctionData('recordsOf', [ISSUER_ID, list]),
    )
  })

test('decodes records that ethers encodes', () => {
  const zeros = RECORD.map((value) => (value === true ? false : 0))
  const result = registryAbi.encodeFunctionResult('recordsOf', [[RECORD, zeros]])
  const [first, second] = decodeRecords(result, 2)
  expect(first).toEqual({
    accountIndex: 1,
    anchoredBlock: 2,
    anchoredAt: 3,
    validUntil: 2 ** 40 - 1,
    revokerIndex: 5,
    revokedBlock: 6,
    revokedAt: 7,
    reason: 10,
    setAside: true,
  })
  expect(Object.values(second ?? {})).toEqual(zeros)
})

test('refuses records that are fewer, more, shorter, longer, not hexadecimal or out of range', () => {
  const result = registryAbi.encodeFunctionResult('recordsOf', [[RECORD]])
  expect(() => decodeRecords(result, 0)).toThrow(RangeError)
  expect(() => decodeRecords(result, 2)).toThrow(RangeError)
  expect(() => decodeRecords(result.slice(0, -1), 1)).toThrow(RangeError)
  expect(() => decodeRecords(`${result}00`, 1)).toThrow(RangeError)
  expect(() => decodeRecords(`${result.slice(0, -1)}g`, 1)).toThrow(RangeError)
  const wide = `${result.slice(0, -64)}${'f'.repeat(64)}`
  expect(() => decodeRecords(wide, 1)).toThrow(RangeError)
})
