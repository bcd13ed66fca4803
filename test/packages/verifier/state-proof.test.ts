import { decodeRlp as ethersDecode, encodeRlp as ethersEncode, keccak256 } from 'ethers'
import { describe, expect, test } from 'vitest'
import vectors from '#corpus/vectors/state-proofs.json' with { type: 'json' }
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { StateProof } from '#document/state-proof.ts'
import { type ChainReading, REGISTRY_STATUSES } from '#verifier/ports.ts'
import { decodeHeader, encodeHeader } from '#verifier/proof/header.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '#verifier/proof/rlp.ts'
import { readVerification, slotsOfIssuer } from '#verifier/proof/slots.ts'
import { readStateProof, readStorageRoot } from '#verifier/proof/state-proof.ts'
import { keyOf, type Vectors } from '../../support/vector-runner.ts'

type Case = Vectors['proofs'][number] & {
  stateProof: StateProof
  reading: Pick<ChainReading, 'status' | 'record' | 'account' | 'revoker'>
}
const cases = vectors.cases as Case[]
const [sample] = cases as [Case]
const refused = (code: string) => expect.objectContaining({ code })

describe('proofs of real nodes', () => {
  test.each(cases)('$name', (one) => {
    const { registry, blockHash, stateProof, reading } = one
    expect(readStateProof(stateProof, registry, keyOf(one))).toEqual({
      ...reading,
      blockHash,
    })
  })

  test('the vectors cover every status of both nodes, and names longer than a slot', () => {
    for (const node of ['Anvil', 'geth']) {
      const statuses = cases
        .filter(({ name }) => name.startsWith(node))
        .map(({ reading }) => reading.status)
      expect(new Set(statuses)).toEqual(new Set(REGISTRY_STATUSES))
    }
    expect(sample.stateProof.storageProof.length).toBeGreaterThan(5)
  })

  const named = (name: string) => {
    const found = cases.find((one) => one.name.endsWith(`: ${name}`))
    if (!found) throw new Error(`no vector of ${name}`)
    return found
  }
  const count = (name: string) => named(name).stateProof.storageProof.length

  test('absence takes one slot, also under a revocation', () => {
    for (const { reading, stateProof } of cases)
      if (reading.status === 'not_issued') expect(stateProof.storageProof).toHaveLength(1)
    const { record } = named('not issued alone, and revoked in a batch').reading
    expect(record).toMatchObject({ anchoredBlock: 0, reason: 1 })
    expect(record.revokedBlock).toBeGreaterThan(0)
  })

  test('the revoker adds slots of its own, a batch one more', () => {
    expect(count('revoked')).toBe(count('valid'))
    expect(count('revoked by another account')).toBe(count('valid') + 2)
    expect(count('valid in a batch')).toBe(count('valid') + 1)
  })

  test('a revocation that is ignored after a theft leaves the document valid, with a notice', () => {
    const { reading } = named('set aside')
    expect(reading).toMatchObject({
      status: 'valid',
      record: { setAside: true, reason: 8 },
    })
    expect(named('issued again').reading.status).toBe('valid')
  })

  // A batch and its document have a slot each, an account has two, of which a releaser needs one.
  test.each<[string, number, string, number | undefined]>([
    ['batch released by a thief', 3, 'suspended', 8],
    ['both released by a thief', 3, 'suspended', 8],
    ['batch released by a thief, and its own slot by a trusted account', 3, 'suspended', 8],
    ['batch released by a thief, and not shown since its own slot is revoked', 2, 'revoked', 1],
    ['released by a thief in a batch that is revoked, which is shown', 2, 'revoked', 1],
    ['batch released by a trusted account, in which it is suspended', 1, 'suspended', 6],
    ['batch released by the same account before its theft', 2, 'valid', 0],
  ])('%s: %i slots more than a document', (name, more, status, reason) => {
    const { reading, stateProof } = named(name)
    expect(reading).toMatchObject({ status, record: { reason } })
    expect(stateProof.storageProof).toHaveLength(count('valid') + more)
    const keys = stateProof.storageProof.map(({ key }) => key)
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('the releaser comes after batch and document, also when not shown', () => {
    const slotsAt = (one: Case) => {
      const { issuerId, documentHash, batch } = keyOf(one)
      const { record, batch: ofBatch, signer, account } = slotsOfIssuer(issuerId)
      return { documentHash, root: batch?.root as Hex, record, ofBatch, signer, account }
    }
    const hidden = named('batch released by a thief, and not shown since its own slot is revoked')
    const slots = slotsAt(hidden)
    const [thief, issuer] = [3, 1]
    expect(hidden.stateProof.storageProof.slice(0, 5).map(({ key }) => key)).toEqual([
      slots.ofBatch(slots.root),
      slots.record(slots.documentHash),
      slots.signer(thief),
      slots.signer(issuer),
      slots.account(hidden.reading.account.account),
    ])
    // Without the thief's slot, or with it at the end, it proves nothing.
    const [first, second, releaser, ...rest] = hidden.stateProof.storageProof
    for (const storageProof of [
      [first, second, ...rest],
      [first, second, ...rest, releaser],
    ])
      expect(() =>
        readStateProof(
          { ...hidden.stateProof, storageProof } as StateProof,
          hidden.registry,
          keyOf(hidden),
        ),
      ).toThrow(refused('proof_invalid'))
  })

  test('lists a slot once when the issuing account also released both', () => {
    const one = named('batch released by a trusted account, in which it is suspended')
    expect(one.reading.revoker).toEqual(one.reading.account)
    expect(one.stateProof.storageProof[2]?.key).toBe(slotsOfIssuer(1).signer(1))
  })

  test('text that is not UTF-8 has the slots of its bytes', () => {
    const { reading, stateProof } = named('of a closed issuer with name and URI that are not UTF-8')
    const { issuer } = reading as unknown as Pick<ChainReading, 'issuer'>
    expect(issuer.name).toBe(`Amt ${'\ufffd'.repeat(34)}${'A'.repeat(32)}`)
    expect(issuer.uri).toBe('\ufffd')
    expect(issuer.closedBlock).toBeGreaterThan(0)
    // Record, account, state, name with three further slots, URI.
    expect(stateProof.storageProof).toHaveLength(9)
  })

  test.each(cases)('$name does not prove another document or issuer', (one) => {
    const { registry, stateProof } = one
    const key = keyOf(one)
    const hash: Hex = `0x${'5a'.repeat(32)}`
    const batch = key.batch && { ...key.batch, root: hash }
    for (const other of [
      { issuerId: 1, documentHash: hash, ...(batch && { batch }) },
      { ...key, issuerId: 9 },
    ])
      expect(() => readStateProof(stateProof, registry, other)).toThrow(refused('proof_invalid'))
  })

  test.each(cases)('$name rejects the proof of another chain', (one) => {
    const foreign = cases.find(({ registry }) => registry !== one.registry)
    for (const part of ['accountProof', 'storageProof', 'header'] as const)
      expect(() =>
        readStateProof(
          { ...one.stateProof, [part]: foreign?.stateProof[part] },
          one.registry,
          keyOf(one),
        ),
      ).toThrow(refused('proof_invalid'))
  })

  test('an existing document cannot be proven absent', () => {
    const absent = named('not issued')
    const forged = {
      ...sample.stateProof,
      storageProof: sample.stateProof.storageProof.slice(0, 1).map((slot) => ({
        ...slot,
        value: `0x${'00'.repeat(32)}` as const,
        proof: absent.stateProof.storageProof[0]?.proof ?? [],
      })),
    }
    expect(() => readStateProof(forged, sample.registry, keyOf(sample))).toThrow(
      refused('proof_invalid'),
    )
  })
})

describe('accounts without a registry, and invalid proofs', () => {
  const block = { blockNumber: 1, blockTime: 1 }
  const key = { issuerId: 1, documentHash: `0x${'01'.repeat(32)}` as const }
  const toHexWord = (value: bigint) => value.toString(16).padStart(64, '0')
  /** Of account 0; anchoredBlock begins at bit 16. */
  const ISSUED = toHexWord(7n << 16n)
  const NONE = toHexWord(0n)
  /** Record, both slots of the account, state, then these slots. */
  const readSlots = (...slots: string[]) => {
    const words = [ISSUED, toHexWord(0xabn), NONE, NONE, ...slots]
    const next = words[Symbol.iterator]()
    return readVerification(key, () => fromHex(`0x${next.next().value ?? '00'.repeat(32)}`), block)
      .issuer
  }
  const short = (bytes: string, length: number) =>
    bytes.padEnd(62, '0') + (2 * length).toString(16).padStart(2, '0')
  const long = (length: number) => (2 * length + 1).toString(16).padStart(64, '0')

  test('reads texts of up to 31 bytes, and longer ones', () => {
    expect(readSlots(short('4142', 2), short('', 0))).toMatchObject({
      name: 'AB',
      uri: '',
    })
    expect(readSlots(short('41'.repeat(31), 31)).name).toBe('A'.repeat(31))
    for (const length of [32, 33, 64]) {
      const parts = Array(Math.ceil(length / 32)).fill('41'.repeat(32))
      expect(readSlots(long(length), ...parts).name).toBe('A'.repeat(length))
    }
  })

  test('reads U+FFFD for each part of a text that is not UTF-8', () => {
    expect(readSlots(short('ff', 1), short('41c328e28241', 6))).toMatchObject({
      name: '\ufffd',
      uri: 'A\ufffd(\ufffdA',
    })
    // A byte order mark is a character like any other.
    expect(readSlots(short('efbbbf', 3)).name).toBe('\ufeff')
  })

  test.each([
    [0, 'valid'],
    [6, 'distrusted'],
    [7, 'distrusted'],
    [8, 'valid'],
  ])('issued in block 7, distrusted from %i: %s', (from, status) => {
    // The address of an account has 160 bits; distrustedFrom follows.
    const signer = toHexWord((BigInt(from) << 160n) | 0xabn)
    const words = [ISSUED, signer].values()
    const read = () => fromHex(`0x${words.next().value ?? NONE}`)
    expect(readVerification(key, read, block).status).toBe(status)
  })

  test('rejects a record of an account that does not exist', () => {
    const words = [ISSUED].values()
    const read = () => fromHex(`0x${words.next().value ?? NONE}`)
    expect(() => readVerification(key, read, block)).toThrow(refused('no_registry'))
  })

  test.each<[string, string]>([
    ['a short text of 32 bytes', short('', 32)],
    ['a long text of 31 bytes', long(31)],
  ])('%s', (_, slot) => {
    expect(() => readSlots(slot)).toThrow(refused('no_registry'))
  })

  test('does not read bytes after the end of a string', () => {
    expect(readSlots(short('4142ff', 2)).name).toBe('AB')
    const parts = [long(33), '41'.repeat(32), `41${'ff'.repeat(31)}`]
    expect(readSlots(...parts).name).toBe('A'.repeat(33))
  })

  test('an account has four items, and two hashes of 32 bytes', () => {
    const address: Hex = `0x${'ab'.repeat(20)}`
    const [none, hash, short] = [0, 32, 31].map((length) => new Uint8Array(length).fill(7)) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ]
    /** The account is alone in its trie. */
    const readAccount = (...account: RlpItem[]) => {
      const path = fromHex(`0x20${keccak256(address).slice(2)}`)
      const leaf = toHex(encodeRlp([path, encodeRlp(account)]))
      return readStorageRoot([leaf], { stateRoot: fromHex(keccak256(leaf) as Hex) }, address)
    }
    expect(readAccount(none, none, hash, hash)).toEqual(hash)
    for (const account of [
      [none, none, hash],
      [none, none, hash, hash, none],
      [none, none, hash, none],
      [none, none, hash, short],
      [none, none, short, hash],
      [none, none, none, hash],
      [none, none, [hash], hash],
    ])
      expect(() => readAccount(...account)).toThrow(refused('proof_invalid'))
  })

  test('rejects anything but lists of hexadecimal strings', () => {
    const { stateProof, registry } = sample
    for (const change of [
      { header: 'x' },
      { accountProof: ['0xzz'] },
      { accountProof: null },
      { accountProof: '0x' },
      { storageProof: undefined },
      { storageProof: {} },
      { storageProof: [{ ...stateProof.storageProof[0], proof: null }] },
      {
        storageProof: stateProof.storageProof.map((slot) => ({
          ...slot,
          proof: ['0x1'],
        })),
      },
    ])
      expect(() =>
        readStateProof({ ...stateProof, ...change } as StateProof, registry, keyOf(sample)),
      ).toThrow(refused('proof_invalid'))
  })
})

describe('headers', () => {
  const ZERO = `0x${'00'.repeat(32)}`
  const EMPTY = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
  /** Ethereum's genesis, of before London; the others have the fields of Prague. */
  const GENESIS: Record<string, unknown> = {
    origin: 'Ethereum, block 0',
    hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
    parentHash: ZERO,
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    miner: `0x${'00'.repeat(20)}`,
    stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
    transactionsRoot: EMPTY,
    receiptsRoot: EMPTY,
    logsBloom: `0x${'00'.repeat(256)}`,
    difficulty: '0x400000000',
    number: '0x0',
    gasLimit: '0x1388',
    gasUsed: '0x0',
    timestamp: '0x0',
    extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
    mixHash: ZERO,
    nonce: '0x0000000000000042',
  }
  const blocks: Record<string, unknown>[] = [GENESIS, ...vectors.blocks]

  test.each(blocks)('$origin', (block) => {
    const rlp = encodeHeader(block) as Hex
    const { blockHash, blockNumber, blockTime, stateRoot } = decodeHeader(rlp)
    expect(blockHash).toBe(block.hash)
    expect(blockNumber).toBe(Number(block.number))
    expect(blockTime).toBe(Number(block.timestamp))
    expect(toHex(stateRoot)).toBe(block.stateRoot)
  })

  test.each(blocks)('$origin rejects other fields', (block) => {
    for (const change of [
      { nonce: undefined },
      { requestsHash: block.requestsHash ? undefined : ZERO },
      { extraData: '0x01' },
      { number: 'x' },
      { hash: ZERO },
    ])
      expect(encodeHeader({ ...block, ...change })).toBeUndefined()
  })

  describe('of the fork after Prague', () => {
    const AMSTERDAM = {
      blockAccessListHash: `0x${'ba'.repeat(32)}`,
      slotNumber: '0x80',
    }
    const fieldsOf = (rlp: string) => ethersDecode(rlp) as string[]
    /** A block with the header that ethers encodes of these fields. */
    const blockWith = (change: object, ...more: string[]) => {
      const prague: Record<string, unknown> = { ...vectors.blocks[0] }
      const fields = fieldsOf(encodeHeader(prague) as Hex)
      const rlp = ethersEncode([...fields, ...more])
      const hash = keccak256(rlp)
      return {
        rlp,
        block: { ...prague, ...change, number: prague.number, hash },
      }
    }
    const { blockAccessListHash } = AMSTERDAM

    test.each([
      ['0x0', '0x'],
      ['0x1', '0x01'],
      ['0x80', '0x80'],
      ['0xc0de', '0xc0de'],
    ])('slot %s', (slotNumber, item) => {
      const { rlp, block } = blockWith(
        { blockAccessListHash, slotNumber },
        blockAccessListHash,
        item,
      )
      expect(encodeHeader(block)).toBe(rlp)
      expect(decodeHeader(rlp as Hex)).toMatchObject({
        blockHash: block.hash,
        blockNumber: Number(block.number),
      })
    })

    test('reads an access list without slot numbers', () => {
      const { rlp, block } = blockWith({ blockAccessListHash }, blockAccessListHash)
      expect(encodeHeader(block)).toBe(rlp)
    })

    test('rejects a missing field, and a field of a later fork', () => {
      const { block } = blockWith(AMSTERDAM, blockAccessListHash, '0x80')
      for (const change of [
        { slotNumber: undefined },
        { blockAccessListHash: undefined },
        { slotNumber: '0x080' },
        { slotNumber: blockAccessListHash },
        { slotNumber: 128 },
      ])
        expect(encodeHeader({ ...block, ...change })).toBeUndefined()
      const later = blockWith(AMSTERDAM, blockAccessListHash, '0x80', '0x01')
      expect(encodeHeader(later.block)).toBeUndefined()
      const { blockHash } = decodeHeader(later.rlp as Hex)
      expect(blockHash).toBe(later.block.hash)
    })
  })

  test('refuses an endless list of fields', () => {
    const fields = decodeRlp(fromHex(sample.stateProof.header)) as Uint8Array[]
    const longer = (count: number) =>
      toHex(encodeRlp([...fields, ...Array(count).fill(Uint8Array.of(1))]))
    expect(decodeHeader(longer(9)).blockNumber).toBeGreaterThan(0)
    expect(() => decodeHeader(longer(2 ** 16))).toThrow(refused('proof_invalid'))
  })

  test.each<[string, Hex]>([
    ['bytes', '0x80'],
    ['a list that is too short', '0xc20102'],
    ['15 fields, none of them a root', `0xcf${'01'.repeat(15)}`],
    [
      'a time with a leading zero',
      `0xf0${'01'.repeat(3)}a0${'11'.repeat(32)}${'01'.repeat(7)}00${'01'.repeat(3)}`,
    ],
  ])('%s', (_, rlp) => {
    expect(() => decodeHeader(rlp)).toThrow(refused('proof_invalid'))
  })
})
