import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { FormatError } from '#document/errors.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { REGISTRY_STATUSES } from '#verifier/ports.ts'
import { readHex } from '#verifier/readers/rpc-codec.ts'
import {
  BATCH_ISSUED_TOPIC,
  decodeIssued,
  decodeVerification,
  decodeVerifications,
  encodeVerificationCall,
  encodeVerificationsCall,
  ISSUED_TOPIC,
} from '#verifier/readers/verification-codec.ts'

const HASH: Hex = `0x${'5a'.repeat(32)}`
const ROOT: Hex = `0x${'6b'.repeat(32)}`
const KEY = { issuerId: 0xffff_fffe, documentHash: HASH }
const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toHex(bytes))
const text = fc.string({ unit: 'grapheme', maxLength: 80 })
const account = fc.record({
  account: address,
  accountIndex: uint(16),
  permissions: uint(8),
  addedBlock: uint(40),
  changedBlock: uint(40),
  retiredBlock: uint(40),
  distrustedFrom: uint(40),
})
const verification = fc.record({
  chainId: uint(53),
  blockNumber: uint(53),
  blockTime: uint(53),
  status: fc.nat(REGISTRY_STATUSES.length - 1),
  record: fc.record({
    accountIndex: uint(16),
    anchoredBlock: uint(40),
    anchoredAt: uint(40),
    validUntil: uint(40),
    revokerIndex: uint(16),
    revokedBlock: uint(40),
    revokedAt: uint(40),
    reason: uint(8),
    setAside: fc.boolean(),
  }),
  account,
  revoker: account,
  issuer: fc.record({
    name: text,
    uri: text,
    documentCount: uint(40),
    batchCount: uint(40),
    accountCount: uint(16),
    changedBlock: uint(40),
    closedBlock: uint(40),
  }),
})
type Value = typeof verification extends fc.Arbitrary<infer T> ? T : never

const encode = (value: Value) => registryAbi.encodeFunctionResult('verificationOf', [value])
const decode = (data: unknown) => decodeVerification(data, KEY.issuerId)
/** Numbers as the decoder has them. */
const plain = <T extends object>(part: T) =>
  Object.fromEntries(
    Object.entries(part).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? Number(value) : value,
    ]),
  )

test('encodes both calls as ethers does', () => {
  expect(encodeVerificationCall(KEY)).toBe(
    registryAbi.encodeFunctionData('verificationOf', [KEY.issuerId, HASH]),
  )
  for (const length of [0, 1, 17]) {
    const siblings = Array(length).fill(HASH)
    const proof = new Uint8Array(32 * length).fill(0x5a)
    const batch = { root: ROOT, validUntil: 2 ** 40 - 1, proof }
    expect(encodeVerificationCall({ ...KEY, batch })).toBe(
      registryAbi.encodeFunctionData('verificationInBatch', [
        KEY.issuerId,
        ROOT,
        HASH,
        2 ** 40 - 1,
        siblings,
      ]),
    )
  }
})

test('decodes what ethers encodes, for any verification', () => {
  fc.assert(
    fc.property(verification, (value) => {
      const { chainId, reading } = decode(encode(value))
      const { blockNumber, blockTime, status, record } = value
      expect([chainId, reading.blockNumber, reading.blockTime]).toEqual(
        [value.chainId, blockNumber, blockTime].map(Number),
      )
      expect(reading.status).toBe(REGISTRY_STATUSES[status])
      expect(reading.record).toEqual(plain(record))
      expect(reading.account).toEqual(plain(value.account))
      expect(reading.revoker).toEqual(plain(value.revoker))
      expect(reading.issuer).toEqual({
        id: KEY.issuerId,
        ...plain(value.issuer),
      })
    }),
  )
})

test('encodes and decodes a call of many as ethers does', () => {
  const keys = fc.array(
    fc.record({
      issuerId: uint(32).map(Number),
      documentHash: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes)),
    }),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(keys, (keys) => {
      expect(encodeVerificationsCall(keys)).toBe(
        registryAbi.encodeFunctionData('verificationsOf', [
          keys.map(({ issuerId, documentHash }) => [issuerId, documentHash]),
        ]),
      )
    }),
  )
  fc.assert(
    fc.property(fc.array(verification, { maxLength: 5 }), (values) => {
      const data = registryAbi.encodeFunctionResult('verificationsOf', [values])
      const issuerIds = values.map((_, i) => i)
      expect(decodeVerifications(data, issuerIds)).toEqual(
        values.map((value, i) => decodeVerification(encode(value), i)),
      )
    }),
  )
})

test('a revoker of zeros means no revoker', () => {
  expect(decode(good).reading.revoker).toBeNull()
})

const read = ({ topics, data }: { topics: string[]; data: string }) => ({
  topics: topics as Hex[],
  data: readHex(data),
})

test('decodes the event as ethers does', () => {
  expect(registryAbi.getEvent('DocumentIssued')?.topicHash).toBe(ISSUED_TOPIC)
  fc.assert(
    fc.property(uint(32), address, uint(40), (issuerId, by, validUntil) => {
      const log = registryAbi.encodeEventLog('DocumentIssued', [HASH, issuerId, by, validUntil])
      expect(decodeIssued(read(log))).toEqual({
        issuerId: Number(issuerId),
        account: by,
        validUntil: Number(validUntil),
      })
    }),
  )
})

test('decodes the event of a batch, which has no expiry', () => {
  expect(registryAbi.getEvent('BatchIssued')?.topicHash).toBe(BATCH_ISSUED_TOPIC)
  const by = `0x${'ab'.repeat(20)}`
  const log = registryAbi.encodeEventLog('BatchIssued', [ROOT, 7, by, 1000, HASH])
  expect(decodeIssued(read(log))).toEqual({
    issuerId: 7,
    account: by,
    validUntil: null,
  })
})

const NOBODY = {
  account: `0x${'00'.repeat(20)}` as const,
  accountIndex: 0n,
  permissions: 0n,
  addedBlock: 0n,
  changedBlock: 0n,
  retiredBlock: 0n,
  distrustedFrom: 0n,
}
const SAMPLE: Value = {
  chainId: 1n,
  blockNumber: 2n,
  blockTime: 3n,
  status: 1,
  record: {
    accountIndex: 0n,
    anchoredBlock: 2n,
    anchoredAt: 3n,
    validUntil: 0n,
    revokerIndex: 0n,
    revokedBlock: 0n,
    revokedAt: 0n,
    reason: 0n,
    setAside: false,
  },
  account: { ...NOBODY, account: `0x${'ab'.repeat(20)}`, permissions: 1n },
  revoker: NOBODY,
  issuer: {
    name: 'A name that is longer than one word of the ABI',
    uri: 'https://example',
    documentCount: 1n,
    batchCount: 0n,
    accountCount: 1n,
    changedBlock: 1n,
    closedBlock: 0n,
  },
}
const good = encode(SAMPLE)
const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const changed = (at: number, value: number) => {
  const bytes = bytesOf(good)
  bytes[at] = value
  return `0x${bytes.toString('hex')}`
}
/** The last byte of a word of the answer; word 0 is the offset of the tuple. */
const word = (index: number) => index * 32 + 31

describe('anything that Solidity would not encode is refused', () => {
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
    ['the head alone', good.slice(0, 2 + 29 * 64)],
    ['another offset of the tuple', changed(word(0), 0x40)],
    ['another offset of the issuer', changed(word(28), 0x20)],
    ['another offset of the name', changed(word(29), 0x20)],
    ['another offset of the URI', changed(word(30), 0x00)],
    ['a name as long as the answer', changed(word(36) - 2, 0xff)],
    ['a chain id over 53 bits', changed(32 + 20, 1)],
    ['an unknown status', changed(word(4), REGISTRY_STATUSES.length)],
    ['an account index over 16 bits', changed(word(5) - 2, 1)],
    ['a reason over 8 bits', changed(word(12) - 1, 1)],
    ['a setAside that is not a bit', changed(word(13), 2)],
    ['an account over 160 bits', changed(word(14) - 20, 1)],
    ['permissions over 8 bits', changed(word(16) - 1, 1)],
    ['a revoker over 160 bits', changed(word(21) - 20, 1)],
    ['a distrust of the revoker over 40 bits', changed(word(27) - 5, 1)],
    ['a count over 40 bits', changed(word(31) - 5, 1)],
    ['a closing over 40 bits', changed(word(35) - 5, 1)],
    ['padding that is not zero', changed(good.length / 2 - 2, 1)],
  ])('%s', (_, data) => {
    expect(() => decode(data)).toThrow(FormatError)
  })

  test('a name that is not UTF-8 is read with U+FFFD', () => {
    expect(decode(changed(37 * 32, 0xff)).reading.issuer.name).toMatch(/^\ufffd[^\ufffd]*$/)
  })

  test('refuses a list that is laid out in another way', () => {
    const list = registryAbi.encodeFunctionResult('verificationsOf', [[SAMPLE, SAMPLE]])
    const [first, second] = [2, 3].map((index) => list.slice(2 + index * 64, 2 + (index + 1) * 64))
    const laidOut = (...offsets: (string | undefined)[]) =>
      `${list.slice(0, 2 + 2 * 64)}${offsets.join('')}${list.slice(2 + 4 * 64)}`
    const later = (offset: string | undefined) =>
      (Number(`0x${offset}`) + 32).toString(16).padStart(64, '0')
    expect(decodeVerifications(laidOut(first, second), [1, 2])).toHaveLength(2)
    for (const other of [
      laidOut(second, first),
      laidOut(first, first),
      laidOut(second, second),
      laidOut(first, `${'0'.repeat(62)}ff`),
      laidOut(first, `${'f'.repeat(64)}`),
      `${list}${'0'.repeat(64)}`,
      list.slice(0, -64),
      // A word between the offsets and what they name.
      `${laidOut(later(first), later(second)).slice(0, 2 + 4 * 64)}${'0'.repeat(64)}${list.slice(2 + 4 * 64)}`,
    ])
      expect(() => decodeVerifications(other, [1, 2])).toThrow(FormatError)
    expect(() => decodeVerifications(list, [1])).toThrow(FormatError)
    expect(() => decodeVerifications(list, [1, 2, 3])).toThrow(FormatError)
  })

  test('does not mix up issuers and accounts of one answer', () => {
    const other = { ...SAMPLE.account, account: `0x${'cd'.repeat(20)}` as const }
    const values = [
      SAMPLE,
      { ...SAMPLE, account: other },
      { ...SAMPLE, issuer: { ...SAMPLE.issuer, name: 'Another name' } },
      { ...SAMPLE, revoker: other },
      SAMPLE,
    ]
    const data = registryAbi.encodeFunctionResult('verificationsOf', [values])
    expect(decodeVerifications(data, [1, 2, 3, 4, 5])).toEqual(
      values.map((value, i) => decodeVerification(encode(value), i + 1)),
    )
  })

  test('refuses an event of another kind, with other topics or other data', () => {
    const log = registryAbi.encodeEventLog('DocumentIssued', [HASH, 1, `0x${'ab'.repeat(20)}`, 0])
    expect(decodeIssued(read(log)).issuerId).toBe(1)
    for (const other of [
      { ...log, topics: [HASH, ...log.topics.slice(1)] },
      { ...log, topics: log.topics.slice(0, 2) },
      { ...log, topics: [...log.topics.slice(0, 2), `0x01${'0'.repeat(62)}`] },
      { ...log, data: `${log.data}${'0'.repeat(64)}` },
      { ...log, data: '0x' },
      { ...log, topics: [BATCH_ISSUED_TOPIC, ...log.topics.slice(1)] },
    ])
      expect(() => decodeIssued(read(other))).toThrow(FormatError)
  })
})
