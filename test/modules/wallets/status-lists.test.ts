import { inflateSync } from 'node:zlib'
import { decodeProtectedHeader, importJWK, jwtVerify } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { hkdfWithNode } from '#base/node-crypto.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { deriveSubkeys } from '#document/keys.ts'
import { LIST_SIZE, STATUS } from '#modules/wallets/status-list.ts'
import { createStatusLists, REFRESH_MS } from '#modules/wallets/status-lists.ts'
import {
  type Entry,
  indexesOf,
  type KnownDocuments,
  type Listed,
  type StatusSlots,
} from '#modules/wallets/status-slots.ts'
import { type CredentialKeys, readCredentialKeys } from '#parts/credential-keys.ts'
import { IssueError } from '#promise/errors.ts'
import type { TrustedRecord } from '#promise/record.ts'
import { statusesIn } from '#test/support/status-list.ts'

const pem = (await import('node:crypto')).generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey
const keys = await readCredentialKeys(pem)
const subkeys = [deriveSubkeys(new Uint8Array(32).fill(7))] as const
const hash = (seed: number): Hex => toHex(new Uint8Array(32).fill(seed))

const RECORD: TrustedRecord = {
  accountIndex: 1,
  anchoredBlock: 10,
  anchoredAt: 1,
  validUntil: 0,
  revokerIndex: 0,
  revokedBlock: 0,
  revokedAt: 0,
  reason: 0,
  setAside: false,
  distrusted: false,
  revoker: null,
}
const revised = (reason: number, distrustedFrom = 0) => ({
  ...RECORD,
  revokerIndex: 1,
  revokedBlock: 15,
  revokedAt: 2,
  reason,
  revoker: { distrustedFrom },
})
const NOT_ISSUED = { ...RECORD, anchoredBlock: 0 }

/** Status lists over records that a test sets. @param lost What is known of a lost list. */
function lists(
  entries: Entry[],
  records: Map<Hex, TrustedRecord>,
  {
    maxHeadAge,
    lost,
    keys: signing = keys,
  }: { maxHeadAge?: number; lost?: KnownDocuments; keys?: CredentialKeys } = {},
) {
  const head = vi.fn(async () => ({ number: 20, timestamp: Math.floor(Date.now() / 1000) }))
  const slots: StatusSlots = {
    take: async (_, indexesIn) => ({ list: 1, index: indexesIn(1)[0] ?? 0 }),
    entries: async (list) => (list === 1 ? { entries, isLost: lost !== undefined } : undefined),
    known: async () => lost ?? { documents: [], alone: 0, batches: 0 },
  }
  const registry = {
    records: async (keys: readonly { documentHash: Hex }[]) =>
      keys.map(({ documentHash }) => records.get(documentHash) ?? NOT_ISSUED),
  }
  const baseUrl = 'https://documents.example'
  const did = 'did:web:documents.example'
  const blocks = { head }
  const counts = async () => ({ documents: 2, batches: 1 })
  const parts = {
    slots,
    counts,
    registry,
    blocks,
    keys: signing,
    did,
    subkeys,
    hkdf: hkdfWithNode,
    baseUrl,
    maxHeadAge,
  }
  return { head, ...createStatusLists(parts) }
}

async function read(token: string | undefined) {
  const { jwk } = decodeProtectedHeader(token ?? '') as { jwk: { kty: string } }
  const { payload } = await jwtVerify(token ?? '', await importJWK(jwk, 'ES256'))
  const { bits, lst } = payload.status_list as { bits: number; lst: string }
  const size = inflateSync(Buffer.from(lst, 'base64url')).length * 4
  return { payload, bits, size, statusAt: statusesIn(token ?? '') }
}

describe('the statuses are those of the chain', () => {
  test.each<[string, TrustedRecord, number]>([
    ['valid', RECORD, STATUS.valid],
    ['expired, which the credential says itself', { ...RECORD, validUntil: 1 }, STATUS.valid],
    ['revoked', revised(1), STATUS.invalid],
    ['superseded', revised(4), STATUS.invalid],
    ['suspended', revised(6), STATUS.suspended],
    ['released', revised(8), STATUS.valid],
    ['released by a distrusted account', revised(8, 15), STATUS.suspended],
    ['distrusted', { ...RECORD, distrusted: true }, STATUS.invalid],
    ['not on the chain', NOT_ISSUED, STATUS.suspended],
  ])('%s', async (_, record, status) => {
    const entries = [3, 4, 5].map((index) => ({ index, documentHash: hash(index), erased: false }))
    const records = new Map([
      [hash(3), RECORD],
      [hash(4), record],
      [hash(5), RECORD],
    ])
    const { statusAt } = await read(await lists(entries, records).token('1'))
    expect([3, 4, 5, 0, LIST_SIZE - 1].map(statusAt)).toEqual([0, status, 0, 0, 0])
  })

  test.each<[string, TrustedRecord, TrustedRecord, number]>([
    ['valid', NOT_ISSUED, RECORD, STATUS.valid],
    ['revoked alone', { ...revised(1), anchoredBlock: 0 }, RECORD, STATUS.invalid],
    ['suspended with its batch', NOT_ISSUED, revised(6), STATUS.suspended],
    ['of a distrusted batch', NOT_ISSUED, { ...RECORD, distrusted: true }, STATUS.invalid],
    ['of a batch that is not there', RECORD, NOT_ISSUED, STATUS.suspended],
  ])('in a batch, %s', async (_, own, batch, status) => {
    const entries = [{ index: 9, documentHash: hash(1), root: hash(2), erased: false }]
    const records = new Map([
      [hash(1), own],
      [hash(2), batch],
    ])
    const { statusAt } = await read(await lists(entries, records).token('1'))
    expect(statusAt(9)).toBe(status)
  })

  test('an erased document is invalid; of two with one index the worse status counts', async () => {
    const entries = [
      { index: 1, documentHash: hash(1), erased: true },
      { index: 2, documentHash: hash(2), erased: false },
      { index: 2, documentHash: hash(3), erased: false },
      { index: 2, documentHash: hash(4), erased: false },
    ]
    const records = new Map([
      [hash(1), RECORD],
      [hash(2), revised(6)],
      [hash(3), revised(1)],
      [hash(4), RECORD],
    ])
    const { statusAt } = await read(await lists(entries, records).token('1'))
    expect([statusAt(1), statusAt(2)]).toEqual([STATUS.invalid, STATUS.invalid])
  })
})

describe('the status list token', () => {
  test('is valid for at most two minutes', async () => {
    const token = await lists([], new Map()).token('1')
    const { payload, bits, size } = await read(token)
    expect(decodeProtectedHeader(token ?? '')).toMatchObject({
      alg: 'ES256',
      typ: 'statuslist+jwt',
      kid: `did:web:documents.example#${keys.published[0].kid}`,
    })
    expect(payload).toMatchObject({
      iss: 'did:web:documents.example',
      sub: 'https://documents.example/v1/status-lists/1',
      ttl: 60,
    })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThanOrEqual(120)
    expect([bits, size]).toEqual([2, LIST_SIZE])
    expect(token?.length).toBeLessThan(2_000)
  })

  test('has the certificates, or the id of the key if the issuer is a DID', async () => {
    const certified = { ...keys, x5c: ['a certificate'] }
    const { token } = lists([], new Map(), { keys: certified })
    const [plain, did] = await Promise.all([token('1'), token('1-did')])
    const kid = `did:web:documents.example#${keys.published[0].kid}`
    expect(decodeProtectedHeader(plain ?? '')).toMatchObject({ x5c: ['a certificate'] })
    expect(decodeProtectedHeader(plain ?? '')).not.toHaveProperty('kid')
    expect(decodeProtectedHeader(did ?? '')).toMatchObject({ kid })
    expect(decodeProtectedHeader(did ?? '')).not.toHaveProperty('x5c')
    expect((await read(did)).payload.sub).toBe('https://documents.example/v1/status-lists/1-did')
  })

  test('is dated before the chain was read', async () => {
    const { head, token } = lists([], new Map())
    const before = Math.floor(Date.now() / 1000)
    head.mockImplementation(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      return { number: 20, timestamp: Date.now() / 1000 }
    })
    const { payload } = await read(await token('1'))
    expect(payload.iat).toBe(before)
  })

  test('is made once for many readers, and again after some seconds', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] })
    try {
      const { head, token } = lists([], new Map())
      await Promise.all([token('1'), token('1'), token('1')])
      expect(head).toHaveBeenCalledTimes(1)
      vi.advanceTimersByTime(REFRESH_MS)
      await token('1')
      expect(head).toHaveBeenCalledTimes(2)
    } finally {
      vi.useRealTimers()
    }
  })

  test('is refused while the chain is down or does not advance', async () => {
    const away = lists([], new Map())
    away.head.mockRejectedValue(new IssueError('chain_unavailable', 'down'))
    await expect(away.token('1')).rejects.toMatchObject({ code: 'chain_unavailable' })
    const still = lists([], new Map(), { maxHeadAge: 900 })
    still.head.mockResolvedValue({ number: 20, timestamp: Date.now() / 1000 - 1_000 })
    await expect(still.token('1')).rejects.toMatchObject({ code: 'chain_unavailable' })
  })

  test('is refused for a list without documents', async () => {
    expect(await lists([], new Map()).token('2')).toBeUndefined()
  })
})

describe('a list whose documents the database has lost', () => {
  const known = [
    { documentHash: hash(1), erased: false },
    { documentHash: hash(2), erased: false },
    { documentHash: hash(3), root: hash(4), erased: false },
  ]
  const records = new Map([
    [hash(1), revised(1)],
    [hash(2), RECORD],
    [hash(4), revised(6)],
  ])
  const indexesIn = (listed: Listed) => indexesOf(subkeys[0], listed, 1, hkdfWithNode)

  test('has every document at each index it may have had', async () => {
    const lost = { documents: known, alone: 2, batches: 1 }
    const own = [{ index: 5, documentHash: hash(1), erased: false }]
    const { statusAt } = await read(await lists(own, records, { lost }).token('1'))
    const [revoked, valid, inBatch] = known.map((one) => indexesIn(one).map(statusAt))
    expect(statusAt(5)).toBe(STATUS.invalid)
    expect([revoked, valid, inBatch]).toEqual([
      [STATUS.invalid, STATUS.invalid],
      [STATUS.valid, STATUS.valid],
      [STATUS.suspended, STATUS.suspended],
    ])
  })

  test.each([
    ['documents', { documents: known, alone: 1, batches: 1 }],
    ['batches', { documents: known, alone: 2, batches: 0 }],
  ])('is not served while the index lacks %s', async (_, lost) => {
    await expect(lists([], records, { lost }).token('1')).rejects.toMatchObject({
      code: 'store_unavailable',
    })
  })
})

test('indexes are derived from secret, document, batch and list, and look random', () => {
  const of = (seed: number, list = 1, root?: Hex) =>
    indexesOf(subkeys[0], { documentHash: hash(seed), root }, list, hkdfWithNode)
  expect(of(1)).toEqual(of(1))
  const all = [of(1), of(2), of(1, 2), of(1, 1, hash(3))].flat()
  expect(new Set(all).size).toBe(8)
  expect(all.every((index) => index >= 0 && index < LIST_SIZE)).toBe(true)
  const other = deriveSubkeys(new Uint8Array(32).fill(8))
  expect(indexesOf(other, { documentHash: hash(1) }, 1, hkdfWithNode)).not.toEqual(of(1))
})

test('a document has an address and an index', async () => {
  const { placeOf } = lists([], new Map())
  const [idx] = indexesOf(subkeys[0], { documentHash: hash(1) }, 1, hkdfWithNode)
  const uri = 'https://documents.example/v1/status-lists/1'
  expect(await placeOf({ documentHash: hash(1) }, 'https')).toEqual({ uri, idx })
  expect(await placeOf({ documentHash: hash(1) }, 'did:web')).toEqual({ uri: `${uri}-did`, idx })
})
