import { Interface } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FormatError } from '../../document/errors.ts'
import type { Hex } from '../../document/hex.ts'
import { REGISTRY_STATUSES } from '../../verifier/ports.ts'
import { registryAbi } from '../../verifier/readers/registry-abi.ts'
import { readBytes } from '../../verifier/readers/rpc-codec.ts'
import {
  decodeIssued,
  decodeVerification,
  encodeVerificationCall,
  ISSUED_TOPIC,
} from '../../verifier/readers/verification-codec.ts'

const abi = new Interface(registryAbi)
const HASH: Hex = `0x${'5a'.repeat(32)}`
const uint = (bits: number) =>
  fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })
const account = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
const text = fc.string({ unit: 'grapheme', maxLength: 80 })
const verification = fc.tuple(
  fc.tuple(uint(53), uint(53), uint(53)),
  fc.nat(REGISTRY_STATUSES.length - 1),
  fc.tuple(...[32, 16, 40, 40, 40, 40, 40, 8].map(uint)),
  account,
  text,
  text,
  uint(40),
)
type Values = [bigint[], number, bigint[], string, string, string, bigint]

const encode = ([head, status, ...rest]: Values) =>
  abi.encodeFunctionResult('verificationOf', [[...head, status, ...rest]])

test('default: as ethers encodes and decodes, for any verification', () => {
  expect(encodeVerificationCall(HASH)).toBe(
    abi.encodeFunctionData('verificationOf', [HASH]),
  )
  fc.assert(
    fc.property(verification, (value) => {
      const values = value as unknown as Values
      const [head, status, record, by, name, uri] = values
      const { chainId, reading } = decodeVerification(encode(values))
      expect([chainId, reading.blockNumber, reading.blockTime]).toEqual(
        head.map(Number),
      )
      expect(reading.status).toBe(REGISTRY_STATUSES[status])
      expect(Object.values(reading.record)).toEqual(record.map(Number))
      expect(reading.issuer).toEqual({ account: by, name, uri })
    }),
  )
})

const read = ({ topics, data }: { topics: string[]; data: string }) => ({
  topics: topics as Hex[],
  data: readBytes(data),
})

test('default: the event, as ethers decodes it', () => {
  expect(abi.getEvent('DocumentIssued')?.topicHash).toBe(ISSUED_TOPIC)
  fc.assert(
    fc.property(uint(32), account, uint(40), (issuerId, by, validUntil) => {
      const log = abi.encodeEventLog('DocumentIssued', [
        HASH,
        issuerId,
        by,
        validUntil,
      ])
      expect(decodeIssued(read(log))).toEqual({
        issuerId: Number(issuerId),
        account: by,
        validUntil: Number(validUntil),
      })
    }),
  )
})

const SAMPLE: Values = [
  [1n, 2n, 3n],
  1,
  [1n, 0n, 2n, 3n, 0n, 0n, 0n, 0n],
  `0x${'ab'.repeat(20)}`,
  'A name that is longer than one word of the ABI',
  'https://example',
  0n,
]
const good = encode(SAMPLE)
const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const changed = (at: number, value: number) => {
  const bytes = bytesOf(good)
  bytes[at] = value
  return `0x${bytes.toString('hex')}`
}
/** The last byte of a word of the answer; word 0 is the offset of the tuple. */
const word = (index: number) => index * 32 + 31

describe('what Solidity would not encode is refused', () => {
  test.each<[string, unknown]>([
    ['nothing', '0x'],
    ['null', null],
    ['no text', 5],
    ['an odd number of digits', `${good}0`],
    ['letters', good.replace('1', 'g')],
    ['upper-case digits', good.replace('ab', 'AB')],
    ['eight megabytes', `0x${'00'.repeat(8e6)}`],
    ['a word too many', `${good}${'0'.repeat(64)}`],
    ['a word too few', good.slice(0, -64)],
    ['the head alone', good.slice(0, 2 + 17 * 64)],
    ['another offset of the tuple', changed(word(0), 0x40)],
    ['another offset of the name', changed(word(14), 0x20)],
    ['another offset of the URI', changed(word(15), 0x00)],
    ['a name as long as the answer', changed(word(17) - 2, 0xff)],
    ['a chain id over 53 bits', changed(32 + 20, 1)],
    ['a status that is none', changed(word(4), REGISTRY_STATUSES.length)],
    ['an issuer over 32 bits', changed(word(5) - 4, 1)],
    ['a reason over 8 bits', changed(word(12) - 1, 1)],
    ['an account over 160 bits', changed(word(13) - 20, 1)],
    ['a distrust over 40 bits', changed(word(16) - 5, 1)],
    ['padding that is not zero', changed(good.length / 2 - 2, 1)],
    ['a name that is not UTF-8', changed(18 * 32, 0xff)],
  ])('error: %s', (_, data) => {
    expect(() => decodeVerification(data)).toThrow(FormatError)
  })

  test('error: an event of another kind, with other topics or other data', () => {
    const log = abi.encodeEventLog('DocumentIssued', [
      HASH,
      1,
      `0x${'ab'.repeat(20)}`,
      0,
    ])
    expect(decodeIssued(read(log)).issuerId).toBe(1)
    for (const other of [
      { ...log, topics: [HASH, ...log.topics.slice(1)] },
      { ...log, topics: log.topics.slice(0, 2) },
      { ...log, topics: [...log.topics.slice(0, 2), `0x01${'0'.repeat(62)}`] },
      { ...log, data: `${log.data}${'0'.repeat(64)}` },
      { ...log, data: '0x' },
    ])
      expect(() => decodeIssued(read(other))).toThrow(FormatError)
  })
})
