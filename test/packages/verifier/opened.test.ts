import { beforeEach, expect, test } from 'vitest'
import type { Document } from '#document/document.ts'
import { encodePublicId } from '#document/public-id.ts'
import { seal } from '#document/sealed.ts'
import { ChainError } from '#verifier/errors.ts'
import type { ChainReader, ChainReading, OpenedDocuments } from '#verifier/ports.ts'
import { emptyIssuer, NO_ACCOUNT } from '#verifier/status.ts'
import { type VerifyOptions, verify } from '#verifier/verify.ts'

// Documents that were opened before: the same verdicts, with nothing of the chain remembered.

const document: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
  registry: `eip155:31337:0x${'a'.repeat(40)}`,
  issuerId: 7,
}
const KEYS = {
  salt: new Uint8Array(16).fill(1),
  documentKey: new Uint8Array(16).fill(2),
  iv: new Uint8Array(12).fill(3),
}
const { bytes, documentHash } = await seal(document, KEYS)
const issued = {
  kind: 'single' as const,
  issuerId: 7,
  hash: documentHash,
  documentKey: KEYS.documentKey,
}
const publicId = encodePublicId(issued)
const RECORD = {
  accountIndex: 1,
  anchoredBlock: 7,
  anchoredAt: 70,
  validUntil: 0,
  revokerIndex: 0,
  revokedBlock: 0,
  revokedAt: 0,
  reason: 0,
  setAside: false,
}

let reading: ChainReading
let payloads: number
let added: number
let options: VerifyOptions
beforeEach(() => {
  const account = { ...NO_ACCOUNT, account: `0x${'b'.repeat(40)}` as const, accountIndex: 1 }
  reading = {
    blockNumber: 9,
    blockTime: 100,
    status: 'valid',
    revoker: null,
    record: RECORD,
    account,
    issuer: emptyIssuer(7),
  }
  const unproven = async () => {
    throw new ChainError('unproven', 'no event')
  }
  const chain: ChainReader = {
    registry: document.registry,
    read: async () => reading,
    issuedEvent: unproven,
    finalityOf: unproven,
    blockTime: unproven,
  }
  payloads = 0
  added = 0
  const remembered = new Map<string, Document>()
  const idOf = (hash: string, key: Uint8Array) => `${hash} ${key}`
  const opened: OpenedDocuments = {
    get: async (hash, key) => remembered.get(idOf(hash, key)),
    async add(hash, key, document) {
      added++
      remembered.set(idOf(hash, key), document)
    },
  }
  const get = async () => {
    payloads++
    return { status: 'found' as const, bytes }
  }
  options = { chain, blocks: [{ get }], opened }
})

test('reads and opens a document once, and gives the same verdict again', async () => {
  const codes: string[][] = [[], []]
  const verdicts = []
  for (const told of codes)
    verdicts.push(await verify(publicId, { ...options, onCheck: ({ code }) => told.push(code) }))
  const [first, second] = verdicts
  expect(first?.status).toBe('valid')
  expect(JSON.stringify(second)).toBe(JSON.stringify(first))
  expect(codes[1]?.toSorted()).toEqual(codes[0]?.toSorted())
  expect({ payloads, added }).toEqual({ payloads: 1, added: 1 })
  const { opened: _, ...without } = options
  expect(await verify(publicId, without)).toEqual(second)
})

test('reads the chain for every verdict', async () => {
  expect((await verify(publicId, options)).status).toBe('valid')
  const revoked = { ...RECORD, revokerIndex: 1, revokedBlock: 8, revokedAt: 80, reason: 1 }
  reading = { ...reading, status: 'revoked', record: revoked, revoker: reading.account }
  const verdict = await verify(publicId, options)
  expect(verdict).toMatchObject({ valid: false, status: 'revoked', document })
  expect(payloads).toBe(1)
})

test('detects that a record contradicts a remembered document', async () => {
  expect((await verify(publicId, options)).status).toBe('valid')
  reading = { ...reading, record: { ...RECORD, validUntil: 4_102_444_800 } }
  const verdict = await verify(publicId, options)
  expect(verdict).toMatchObject({ valid: false, status: 'tampered', document: null })
  expect(verdict.checks).toContainEqual({
    check: 'content',
    outcome: 'fail',
    code: 'other_expiry',
  })
  expect(payloads).toBe(1)
})

test('returns the document only for its key', async () => {
  expect((await verify(publicId, options)).status).toBe('valid')
  const other = encodePublicId({ ...issued, documentKey: new Uint8Array(16) })
  for (let i = 0; i < 2; i++)
    expect(await verify(other, options)).toMatchObject({ status: 'wrong_key', document: null })
  expect({ payloads, added }).toEqual({ payloads: 3, added: 1 })
})
