// Makes verifications.json, bundles.json and quorums.json. The bytes are those of a real Anvil with
// the contract; what they must read as comes from ethers' Interface, and slots, headers and
// publicIds from ethers and formats.md: no codec of this project takes part. The documents are
// those of documents.json. node tools/corpus/vectors/generate-answers.ts && biome check --write
// tools/corpus/vectors
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StandardMerkleTree } from '@openzeppelin/merkle-tree'
import {
  concat,
  dataSlice,
  encodeBase58,
  encodeBase64,
  encodeRlp,
  getBytes,
  Interface,
  keccak256,
  sha256,
  toBeHex,
  toUtf8Bytes,
  Wallet,
} from 'ethers'
import type { Hex } from '#document/hex.ts'
import { formatRegistryId, parseRegistryId, type RegistryId } from '#document/registry-id.ts'
import { startAnvilNode } from '#test/support/anvil.ts'
import { patient } from '#test/support/patient.ts'
import { deployRegistry, PERMISSION, setTexts, transact } from '#test/support/transact.ts'
import golden from './documents.json' with { type: 'json' }

const ORIGIN =
  'eth_call, eth_getProof, eth_getBlockByNumber and eth_getLogs of Anvil 1.7.1, read with ethers 6.17.0, by generate-answers.ts'

/** Anvil's first account, which gives the registry of documents.json. */
const ADMIN: Hex = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const MANAGER: Hex = `0x${'b2'.repeat(32)}`
const ISSUER: Hex = `0x${'c3'.repeat(32)}`
const STOLEN: Hex = `0x${'d4'.repeat(32)}`
const THIEF: Hex = `0x${'e5'.repeat(32)}`

/** The account in the form of docs/formats.md. */
const ACCOUNT =
  '(address account, uint16 accountIndex, uint8 permissions, uint40 addedBlock, uint40 changedBlock, uint40 retiredBlock, uint40 distrustedFrom)'
const VERIFICATION = `(uint256 chainId, uint256 blockNumber, uint256 blockTime, uint8 status,
  (uint16 accountIndex, uint40 anchoredBlock, uint40 anchoredAt, uint40 validUntil,
   uint16 revokerIndex, uint40 revokedBlock, uint40 revokedAt, uint8 reason, bool setAside) record,
  ${ACCOUNT} account, ${ACCOUNT} revoker,
  (string name, string uri, uint40 documentCount, uint40 batchCount, uint16 accountCount,
   uint40 changedBlock, uint40 closedBlock) issuer)`
const abi = new Interface([
  `function verificationOf(uint32 issuerId, bytes32 documentHash) view returns (${VERIFICATION})`,
  `function verificationInBatch(uint32 issuerId, bytes32 root, bytes32 documentHash, uint40 validUntil, bytes32[] proof) view returns (${VERIFICATION})`,
])

/** The same ABI with texts as bytes, because ethers reads only UTF-8. */
const ofBytes = new Interface([
  `function verificationOf(uint32 issuerId, bytes32 documentHash) view returns (${VERIFICATION.replace('string name, string uri', 'bytes name, bytes uri')})`,
])

type Values = { [name: string]: Value }
type Value = string | number | boolean | Values
type Key = {
  issuerId: number
  documentHash: string
  batch: { root: string; validUntil: number; proof: string[] } | null
}

/**
 * @returns The values that ethers decodes, with integers as numbers and addresses in lower case.
 */
function read(answer: string): Values {
  const [tuple] = ofBytes.decodeFunctionResult('verificationOf', answer)
  const plain = (value: unknown): Value => {
    if (typeof value === 'bigint') return Number(value)
    if (typeof value === 'boolean') return value
    if (typeof value === 'string')
      return /^0x[0-9a-fA-F]{40}$/.test(value) ? value.toLowerCase() : value
    const { toObject } = value as { toObject(): Record<string, unknown> }
    return Object.fromEntries(Object.entries(toObject.call(value)).map(([k, v]) => [k, plain(v)]))
  }
  const values = plain(tuple) as Values
  const issuer = part(values, 'issuer')
  for (const text of ['name', 'uri'])
    issuer[text] = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      getBytes(issuer[text] as string),
    )
  return values
}

/** @returns The answer with other values, as a node that lies or errs would send it. */
function rewrite(answer: string, change: (values: Values) => void): string {
  const values = read(answer)
  change(values)
  return abi.encodeFunctionResult('verificationOf', [values])
}
function part(values: Values, name: string): Values {
  return values[name] as Values
}

function dataOf({ issuerId, documentHash, batch }: Key): string {
  return batch
    ? abi.encodeFunctionData('verificationInBatch', [
        issuerId,
        batch.root,
        documentHash,
        batch.validUntil,
        batch.proof,
      ])
    : abi.encodeFunctionData('verificationOf', [issuerId, documentHash])
}

const hash = (byte: number) => `0x${toBeHex(byte).slice(2).repeat(32)}`
const word = (value: bigint | number | string) => toBeHex(BigInt(value), 32)
const FOREVER = 253402214400

const dir = mkdtempSync(join(tmpdir(), 'answers-'))
const anvil = await startAnvilNode(dir)
const provider = patient({
  request: ({ method, params = [] }) => anvil.request(method, ...(params as unknown[])),
})
const accountOf = (key: Hex) => new Wallet(key).address
for (const key of [ADMIN, MANAGER, ISSUER, STOLEN, THIEF])
  await anvil.request('anvil_setBalance', accountOf(key), '0x56bc75e2d63100000')
const registry = await deployRegistry(
  provider,
  { admin: ADMIN, manager: MANAGER, issuer: ISSUER },
  {
    name: 'Ämter und Behörden der Stadt Teststadt',
    uri: 'https://example.org',
  },
)
const document = (index: number) => {
  const found = golden.documents[index]
  if (!found) throw new Error('no document')
  return found
}
const [valid, held, revoked] = [document(0), document(3), document(4)]
if (registry !== valid.document.registry) throw new Error(registry)
const { address } = parseRegistryId(registry)
const send = (name: string, args: unknown[], key = ISSUER) =>
  transact(provider, registry, key, name, args)

const of = (documentHash: string, issuerId = 1): Key => ({
  issuerId,
  documentHash,
  batch: null,
})
const blockNumber = async () => Number(await anvil.request<string>('eth_blockNumber'))
const call = (key: Key, block: number) =>
  anvil.request<string>('eth_call', { to: address, data: dataOf(key) }, `0x${block.toString(16)}`)

await send('issue', [1, valid.documentHash, 0])
await send('issue', [1, held.documentHash, 0])
await send('issue', [1, revoked.documentHash, FOREVER])
const beforeRevocation = await blockNumber()
await send('setPermissions', [1, accountOf(MANAGER), 7], MANAGER)
await send('revoke', [1, revoked.documentHash, 1], MANAGER)
await send('revoke', [1, held.documentHash, 6])
await send('issue', [1, hash(1), 1_000_000_000])
await send('issue', [1, hash(2), 0])
await send('revoke', [1, hash(2), 6])
await send('release', [1, hash(2)])
await send('issue', [1, hash(3), 0])
await send('supersede', [1, word(0), hash(3), hash(4), 0])
await send('addAccount', [1, accountOf(STOLEN), 3], MANAGER)
await send('issue', [1, hash(5), 0], STOLEN)
await send('issue', [1, hash(6), 0])
await send('revoke', [1, hash(6), 1], STOLEN)
await send('distrustFrom', [1, accountOf(STOLEN), 1], MANAGER)
await send('release', [1, hash(6)], MANAGER)
await send('registerIssuer', [accountOf(MANAGER), 'N'.repeat(32), ''], ADMIN)
await send('setPermissions', [2, accountOf(MANAGER), PERMISSION.issue | PERMISSION.manage], MANAGER)
await send('issue', [2, hash(1), 0], MANAGER)

const leaves: [string, number][] = [
  [valid.documentHash, 0],
  [revoked.documentHash, FOREVER],
  [hash(7), 0],
]
const tree = StandardMerkleTree.of(leaves, ['bytes32', 'uint40'])
const inOrder = leaves.toSorted((one, other) =>
  tree.leafHash(one) < tree.leafHash(other) ? -1 : 1,
)
const chunk = concat(inOrder.flatMap(([leaf, until]) => [leaf, toBeHex(until, 5)]))
const manifest = sha256(
  toUtf8Bytes(
    JSON.stringify({
      chunks: [sha256(chunk)],
      issuerId: 1,
      registry,
      root: tree.root,
      size: leaves.length,
      v: 1,
    }),
  ),
)
await send('issueBatch', [1, tree.root, leaves.length, manifest])

// A thief releases one document that was issued alone, and a whole batch.
const released = hash(10)
await send('addAccount', [1, accountOf(THIEF), PERMISSION.revoke], MANAGER)
const reissued: [string, number][] = [
  [valid.documentHash, 0],
  [hash(8), 0],
  [hash(11), 0],
]
const releasedTree = StandardMerkleTree.of(reissued, ['bytes32', 'uint40'])
const { root: releasedRoot } = releasedTree
await send('issueBatch', [1, releasedRoot, reissued.length, manifest])
await send('revokeBatch', [1, releasedRoot, 6])
for (const one of [released, hash(9)]) {
  await send('issue', [1, one, 0])
  await send('revoke', [1, one, 6])
}
await send('release', [1, hash(9)], THIEF)
const beforeTheft = await blockNumber()
await send('release', [1, released], THIEF)
await send('releaseBatch', [1, releasedRoot], THIEF)
await send('distrustFrom', [1, accountOf(THIEF), beforeTheft + 1], MANAGER)

// Issuer 3 is closed, and its texts are not UTF-8.
await send('registerIssuer', [accountOf(MANAGER), 'N', ''], ADMIN)
await send('setPermissions', [3, accountOf(MANAGER), PERMISSION.issue | PERMISSION.manage], MANAGER)
await send('issue', [3, hash(1), 0], MANAGER)
await setTexts(provider, registry, ADMIN, 3, {
  // Each is decoded by WHATWG to one U+FFFD: a lone byte, two truncated sequences, and a
  // surrogate's three bytes.
  name: Buffer.from('41ff42e28243eda08044', 'hex'),
  uri: Buffer.concat([Buffer.from('https://example.org/'), Buffer.of(0xc3)]),
})
await send('closeIssuer', [3], ADMIN)
const head = await blockNumber()

const inBatch = (index: number): Key => {
  const [documentHash, validUntil] = leaves[index] as [string, number]
  const proof = tree.getProof(index)
  return { ...of(documentHash), batch: { root: tree.root, validUntil, proof } }
}
const batched = inBatch(0)
const inReleased: Key = {
  ...of(valid.documentHash),
  batch: { root: releasedRoot, validUntil: 0, proof: releasedTree.getProof(0) },
}

// verifications.json
const keys: [string, Key][] = [
  ['valid', of(valid.documentHash)],
  ['revoked by another account, with an expiry', of(revoked.documentHash)],
  ['suspended', of(held.documentHash)],
  ['expired', of(hash(1))],
  ['released', of(hash(2))],
  ['superseded', of(hash(3))],
  ['distrusted', of(hash(5))],
  ['a revocation was set aside', of(hash(6))],
  ['not issued', of(hash(99))],
  ['of another issuer, with a name of 32 bytes and no URI', of(hash(1), 2)],
  ['not issued by another issuer', of(hash(2), 2)],
  ['of an issuer that is not there', of(hash(1), 4294967295)],
  ['of a closed issuer with name and URI that are not UTF-8', of(hash(1), 3)],
  ['released by a distrusted account', of(released)],
  ['released by an account that is distrusted since', of(hash(9))],
  ['valid in a batch', batched],
  ['revoked in a batch by its own slot', inBatch(1)],
  ['in a batch that a distrusted account released', inReleased],
  [
    'in a batch with another expiry',
    { ...batched, batch: { ...inBatch(0).batch, validUntil: 1 } as never },
  ],
]
type Good = Key & {
  name: string
  data: string
  answer: string
  reading: Values
}
const good: (Good & { block: null })[] = []
for (const [name, key] of keys) {
  const answer = await call(key, head)
  const reading = read(answer)
  good.push({ name, ...key, data: dataOf(key), block: null, answer, reading })
}
const answerOf = (name: string) => {
  const found = good.find((one) => one.name === name)
  if (!found) throw new Error(name)
  return found.answer
}
const sound = answerOf('valid')
const patched = (at: number, byte: number) => {
  const bytes = Buffer.from(sound.slice(2), 'hex')
  bytes[at] = byte
  return `0x${bytes.toString('hex')}`
}
/** The last byte of a word. */
const last = (index: number) => index * 32 + 31
const lie = (change: (values: Values) => void, name = 'valid') => rewrite(answerOf(name), change)
const setIn = (name: string, member: string, value: Value, of = 'valid') =>
  lie((values) => {
    part(values, name)[member] = value
  }, of)
const REVOKED = 'revoked by another account, with an expiry'
/** The revocation of a document in a batch, which was not issued alone. */
const REVOCATION = { revokerIndex: 2, revokedBlock: 20, revokedAt: 1_700_000_000, reason: 1 }
const readAs = (name: string, answer: string) => {
  const base = good.find((one) => one.name === 'not issued')
  if (!base) throw new Error(name)
  good.push({ ...base, name, answer, reading: read(answer) })
}
readAs(
  'not issued, with a revocation of its own',
  lie((values) => {
    Object.assign(part(values, 'record'), REVOCATION)
  }, 'not issued'),
)
readAs(
  'not issued, with a revoker and a reason but no block of a revocation',
  lie((values) => {
    Object.assign(part(values, 'record'), { ...REVOCATION, revokedBlock: 0 })
  }, 'not issued'),
)
const THIEFS = 'released by a distrusted account'
const SERVED = 'released by an account that is distrusted since'
const IN_THIEFS = 'in a batch that a distrusted account released'
type Bad = [name: string, answer: unknown, code?: string, of?: string]
const bad: Bad[] = [
  ['no bytes', '0x'],
  ['null', null],
  ['a number', 5],
  ['half a byte', `${sound}0`],
  ['upper-case digits', `0x${sound.slice(2).toUpperCase()}`],
  ['without 0x', sound.slice(2)],
  ['a word after the end', sound + '0'.repeat(64)],
  ['the last word is missing', sound.slice(0, -64)],
  ['the head alone', sound.slice(0, 2 + 29 * 64)],
  ['another offset of the tuple', patched(last(0), 0x40)],
  ['another offset of the issuer', patched(last(28), 0x20)],
  ['another offset of the name', patched(last(29), 0x20)],
  ['a block number of 2^53', patched(64 + 25, 0x20)],
  ['a status of 7', patched(last(4), 7)],
  ['an account index over 16 bits', patched(last(5) - 2, 1)],
  ['a reason over 8 bits', patched(last(12) - 1, 1)],
  ['a bool of 2', patched(last(13), 2)],
  ['an address over 160 bits', patched(last(14) - 20, 1)],
  ['a count over 40 bits', patched(last(31) - 5, 1)],
  ['padding that is not zero', patched(sound.length / 2 - 2, 1)],
  [
    'the status is not that of the record',
    lie((values) => {
      values.status = 1
    }, REVOKED),
    'no_registry',
    REVOKED,
  ],
  [
    'valid, and expired by the time of the block',
    lie((values) => {
      values.status = 1
    }, 'expired'),
    'no_registry',
    'expired',
  ],
  [
    'valid, and released by a distrusted account',
    lie((values) => {
      values.status = 1
    }, THIEFS),
    'no_registry',
    THIEFS,
  ],
  [
    'suspended, and released before the distrust',
    lie((values) => {
      values.status = 3
    }, SERVED),
    'no_registry',
    SERVED,
  ],
  [
    'valid in a batch that a distrusted account released',
    lie((values) => {
      values.status = 1
    }, IN_THIEFS),
    'no_registry',
    IN_THIEFS,
  ],
  [
    'not issued, with an account',
    setIn('account', 'permissions', 1, 'not issued'),
    'no_registry',
    'not issued',
  ],
  [
    'not issued, with a count',
    setIn('issuer', 'documentCount', 1, 'not issued'),
    'no_registry',
    'not issued',
  ],
  ['no account', setIn('account', 'account', `0x${'00'.repeat(20)}`)],
  [
    'a revoker of the index 0, all zero',
    lie((values) => {
      part(values, 'record').revokerIndex = 0
      values.revoker = part(read(sound), 'revoker')
    }, REVOKED),
    'no_registry',
    REVOKED,
  ],
  [
    'a revoker without an address',
    setIn('revoker', 'account', `0x${'00'.repeat(20)}`, REVOKED),
    'no_registry',
    REVOKED,
  ],
  [
    'not issued and revoked, with a revoker',
    lie((values) => {
      Object.assign(part(values, 'record'), REVOCATION)
      part(values, 'revoker').accountIndex = REVOCATION.revokerIndex
    }, 'not issued'),
    'no_registry',
    'not issued',
  ],
  ['the account of another index', setIn('account', 'accountIndex', 9)],
  ['a reason without a revocation', setIn('record', 'reason', 1)],
  ['a revoker without a revocation', setIn('revoker', 'accountIndex', 1)],
  [
    'the revoker of another index',
    setIn('revoker', 'accountIndex', 9, REVOKED),
    'no_registry',
    REVOKED,
  ],
  [
    'one account in two states',
    setIn('revoker', 'permissions', 1, 'suspended'),
    'no_registry',
    'suspended',
  ],
  [
    'another chain',
    lie((values) => {
      values.chainId = 1
    }),
    'wrong_chain',
  ],
]
const mustFail: object[] = bad.map(([name, answer, code = 'no_registry', base = 'valid']) => {
  const [, key] = keys.find(([one]) => one === base) ?? []
  if (!key) throw new Error(base)
  return { name, ...key, block: null, answer, code }
})
mustFail.push({
  name: 'as of a block, the answer for another',
  ...of(valid.documentHash),
  block: head - 1,
  answer: sound,
  code: 'state_unavailable',
})
const save = (name: string, content: object) =>
  writeFileSync(
    new URL(`${name}.json`, import.meta.url),
    JSON.stringify({ origin: ORIGIN, ...content }),
  )
save('verifications', { registry, cases: good, mustFail })

// bundles.json
const HEADER =
  'parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed timestamp extraData mixHash nonce baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash'
const QUANTITIES =
  'difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas'.split(' ')
const at = (key: string, slot: string) => keccak256(concat([key, slot]))
const plus = (slot: string, by: number) => word((BigInt(slot) + BigInt(by)) % 2n ** 256n)
const BASE = '0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200'
const bits = (value: bigint, from: number, count: number) =>
  (value >> BigInt(from)) & (2n ** BigInt(count) - 1n)

type Block = Record<string, string> & { hash: string }
const quantity = (block: number) => `0x${block.toString(16)}`
const blockAt = (block: number) =>
  anvil.request<Block>('eth_getBlockByNumber', quantity(block), false)

/** @returns The slots that formats.md says are read, in that order. */
async function slotsOf(key: Key, block: number): Promise<string[]> {
  const N = at(word(key.issuerId), BASE)
  const load = async (slot: string) =>
    BigInt(await anvil.request<string>('eth_getStorageAt', address, slot, quantity(block)))
  const own = at(key.documentHash, plus(N, 1))
  const slots = key.batch ? [at(key.batch.root, plus(N, 2)), own] : [own]
  const anchor = await load(slots[0] as string)
  if (bits(anchor, 16, 40) === 0n) return slots.slice(0, 1)
  const signer = (index: bigint | number) => at(word(index), plus(N, 4))
  if (key.batch)
    for (const one of [anchor, await load(own)])
      if (bits(one, 152, 40) !== 0n && bits(one, 232, 8) === 8n)
        slots.push(signer(bits(one, 136, 16)))
  // The record of the slots, as ethers reads it.
  const record = part(read(await call(key, block)), 'record') as Record<string, number>
  const indexes = [bits(anchor, 0, 16)]
  if (record.revokedBlock !== 0) indexes.push(BigInt(record.revokerIndex ?? 0))
  for (const index of indexes) {
    const account = bits(await load(signer(index)), 0, 160)
    slots.push(signer(index), at(word(account), plus(N, 3)))
  }
  slots.push(N)
  for (const slot of [plus(N, 6), plus(N, 7)]) {
    slots.push(slot)
    const content = await load(slot)
    if (content % 2n === 0n) continue
    const length = Number(content / 2n)
    for (let i = 0; i * 32 < length; i++) slots.push(plus(keccak256(slot), i))
  }
  return [...new Set(slots)]
}

async function proofOf(key: Key, block: number) {
  const slots = await slotsOf(key, block)
  const [header, proof] = await Promise.all([
    blockAt(block),
    anvil.request<{
      accountProof: string[]
      storageProof: { value: string; proof: string[] }[]
    }>('eth_getProof', address, slots, quantity(block)),
  ])
  const rlp = encodeRlp(
    HEADER.split(' ')
      .filter((name) => typeof header[name] === 'string')
      .map((name) => {
        const value = header[name] as string
        if (!QUANTITIES.includes(name)) return value
        return BigInt(value) === 0n ? '0x' : toBeHex(BigInt(value))
      }),
  )
  if (keccak256(rlp) !== header.hash) throw new Error('another header')
  return {
    header: rlp,
    accountProof: proof.accountProof,
    storageProof: proof.storageProof.map(({ value, proof }, i) => ({
      key: slots[i],
      value: word(value),
      proof,
    })),
  }
}

async function eventOf(key: Key) {
  const answer = read(await call(key, head))
  const block = quantity(Number(part(answer, 'record').anchoredBlock))
  const logs = await anvil.request<Record<string, string>[]>('eth_getLogs', {
    address,
    fromBlock: block,
    toBlock: block,
  })
  const log = logs.at(-1)
  if (logs.length !== 1 || !log) throw new Error('not one event')
  const { transactionHash, blockHash, logIndex } = log
  return { transactionHash, blockHash, logIndex: Number(logIndex) }
}

function publicIdOf(kind: number, of: string, documentKey: string): string {
  const body = concat([toBeHex(kind), toBeHex(1, 4), of, `0x${documentKey}`])
  return encodeBase58(concat([body, dataSlice(sha256(body), 0, 4)]))
}
function blockOf(key: Key): string {
  const { batch, documentHash } = key
  if (!batch) throw new Error('issued alone')
  const proof = encodeBase64(concat(batch.proof))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
  return JSON.stringify({
    documentHash,
    issuerId: 1,
    manifest,
    proof,
    registry,
    root: batch.root,
    size: leaves.length,
    v: 1,
    validUntil: batch.validUntil,
  })
}

const codeHash = keccak256(await anvil.request<string>('eth_getCode', address, 'latest'))
const trusted = await blockAt(head)
const earlier = await blockAt(beforeRevocation)
type Golden = typeof valid
type Wanted = { status: string; notPassed: string[]; document: boolean }
const UNPROVEN = 'event unknown unproven'
async function bundleOf(
  name: string,
  key: Key,
  { publicId, documentKey, sealed, document: content }: Golden,
  expected: Wanted,
  more: {
    sealed?: null
    publicId?: string
    block?: Block
    event?: object
  } = {},
) {
  const block = more.block ?? trusted
  const batch = key.batch ? blockOf(key) : null
  const isIssued = !expected.notPassed.includes('record fail not_issued')
  const ofBatch = batch && publicIdOf(2, sha256(toUtf8Bytes(batch)), documentKey)
  return {
    name,
    registry,
    trustedBlocks: [block.hash],
    codeHash,
    bundle: {
      type: 'document-registry-bundle',
      v: 1,
      publicId: more.publicId ?? ofBatch ?? publicId,
      registry,
      batch,
      sealed: isIssued && more.sealed !== null ? sealed : null,
      stateProof: await proofOf(key, Number(block.number)),
      unprovenEvent: more.event ?? (isIssued ? await eventOf(key) : null),
    },
    expected: {
      status: expected.status,
      notPassed: expected.notPassed,
      document: expected.document ? content : null,
      asOf: {
        blockNumber: Number(block.number),
        blockHash: block.hash,
        blockTime: Number(block.timestamp),
      },
    },
  }
}
const verdict = (status: string, document: boolean, ...more: string[]) => ({
  status,
  document,
  notPassed: [...more, UNPROVEN],
})
const gone = 'payload unknown missing'
const never = {
  status: 'not_issued',
  document: false,
  notPassed: ['record fail not_issued'],
}
const bundles = [
  await bundleOf('valid', of(valid.documentHash), valid, verdict('valid', true)),
  await bundleOf(
    'valid, with an event that nobody believes',
    of(valid.documentHash),
    valid,
    verdict('valid', true),
    {
      event: {
        transactionHash: hash(1),
        blockHash: hash(2),
        logIndex: 2 ** 53 - 1,
      },
    },
  ),
  await bundleOf(
    'suspended',
    of(held.documentHash),
    held,
    verdict('suspended', true, 'suspension fail suspended'),
  ),
  await bundleOf(
    'revoked',
    of(revoked.documentHash),
    revoked,
    verdict('revoked', true, 'revocation fail revoked'),
  ),
  await bundleOf(
    'revoked, as of a block before that',
    of(revoked.documentHash),
    revoked,
    verdict('valid', true),
    { block: earlier },
  ),
  await bundleOf(
    'revoked, without its sealed document',
    of(revoked.documentHash),
    revoked,
    verdict('revoked', false, 'revocation fail revoked', gone),
    { sealed: null },
  ),
  await bundleOf(
    'without its sealed document',
    of(valid.documentHash),
    valid,
    verdict('unverifiable', false, gone),
    { sealed: null },
  ),
  await bundleOf(
    'another key',
    of(valid.documentHash),
    valid,
    verdict('wrong_key', false, 'key fail wrong_key'),
    { publicId: publicIdOf(1, valid.documentHash, '00'.repeat(16)) },
  ),
  await bundleOf('not issued', of(hash(99)), valid, never, {
    publicId: publicIdOf(1, hash(99), '00'.repeat(16)),
  }),
  await bundleOf(
    'released by a distrusted account, without its sealed document',
    of(released),
    valid,
    verdict('suspended', false, 'suspension fail suspended', gone),
    { sealed: null, publicId: publicIdOf(1, released, '00'.repeat(16)) },
  ),
  await bundleOf(
    'in a batch that a distrusted account released',
    inReleased,
    valid,
    verdict('suspended', true, 'suspension fail suspended'),
  ),
  await bundleOf('valid in a batch', batched, valid, verdict('valid', true)),
  await bundleOf(
    'revoked in a batch by its own slot',
    inBatch(1),
    revoked,
    verdict('revoked', true, 'revocation fail revoked'),
  ),
]

type Change = { at: (string | number)[]; value?: unknown }
type BadBundle = {
  name: string
  of: string
  changes?: Change[]
  text?: string
  registry?: RegistryId
  trustedBlocks?: string[]
  codeHash?: string
  expected: { error: string } | { status: string; notPassed: string[] }
}
const refused = (error: string) => ({ expected: { error } })
const unverifiable = (...notPassed: string[]) => ({
  expected: { status: 'unverifiable', notPassed },
})
const change = (...changes: Change[]) => ({ of: 'valid', changes })
const [first] = bundles
if (!first) throw new Error('no bundle')
const { stateProof } = first.bundle
const slot = stateProof.storageProof
const other = formatRegistryId(1, address)
const MALFORMED = refused('bundle_malformed')
const INVALID = unverifiable('chain unknown proof_invalid')
const node = slot[0]?.proof.at(-1) ?? ''
const badBundles: BadBundle[] = [
  { name: 'no JSON', of: 'valid', text: '{', ...refused('json_syntax') },
  {
    name: 'a byte order mark',
    of: 'valid',
    text: `\ufeff${JSON.stringify(first.bundle)}`,
    ...refused('json_syntax'),
  },
  {
    name: 'a member twice',
    of: 'valid',
    text: JSON.stringify(first.bundle).replace('{', '{"v":1,'),
    ...refused('json_duplicate_key'),
  },
  {
    name: 'another type',
    ...change({ at: ['type'], value: 'document-registry' }),
    ...MALFORMED,
  },
  { name: 'version 2', ...change({ at: ['v'], value: 2 }), ...MALFORMED },
  { name: 'a member too few', ...change({ at: ['batch'] }), ...MALFORMED },
  {
    name: 'a member too many',
    ...change({ at: ['more'], value: 1 }),
    ...MALFORMED,
  },
  {
    name: 'sealed is a number',
    ...change({ at: ['sealed'], value: 1 }),
    ...MALFORMED,
  },
  {
    name: 'upper-case digits',
    ...change({
      at: ['stateProof', 'header'],
      value: `0x${stateProof.header.slice(2).toUpperCase()}`,
    }),
    ...MALFORMED,
  },
  {
    name: 'a header that is none',
    ...change({ at: ['stateProof', 'header'], value: '0x80' }),
    ...MALFORMED,
  },
  {
    name: 'a registry in upper case',
    ...change({ at: ['registry'], value: registry.toUpperCase() }),
    ...MALFORMED,
  },
  {
    name: 'a logIndex as text',
    ...change({ at: ['unprovenEvent', 'logIndex'], value: '0x0' }),
    ...MALFORMED,
  },
  {
    name: 'a publicId with a typing error',
    ...change({ at: ['publicId'], value: `8${valid.publicId.slice(1)}` }),
    ...refused('public_id_checksum'),
  },
  {
    name: 'issued alone, with a batch block',
    ...change({ at: ['batch'], value: blockOf(batched) }),
    ...MALFORMED,
  },
  { name: 'issued alone, with a batch', ...change({ at: ['batch'], value: '' }), ...MALFORMED },
  {
    name: 'in a batch, with the batch block as an object',
    of: 'valid in a batch',
    changes: [{ at: ['batch'], value: JSON.parse(blockOf(batched)) }],
    ...MALFORMED,
  },
  {
    name: 'an empty node',
    ...change({ at: ['stateProof', 'accountProof', 0], value: '0x' }),
    ...MALFORMED,
  },
  {
    name: 'a publicId with a typing error, and a version 2',
    ...change({ at: ['publicId'], value: `8${valid.publicId.slice(1)}` }, { at: ['v'], value: 2 }),
    ...MALFORMED,
  },
  {
    name: 'a publicId with a typing error, a batch and a header that is none',
    ...change(
      { at: ['publicId'], value: `8${valid.publicId.slice(1)}` },
      { at: ['batch'], value: '' },
      { at: ['stateProof', 'header'], value: '0x80' },
    ),
    ...refused('public_id_checksum'),
  },
  {
    name: 'sealed is text that is not ASCII',
    ...change({ at: ['sealed'], value: 'Ämter' }),
    ...unverifiable('payload unknown wrong_bytes', UNPROVEN),
  },
  {
    name: 'a publicId of another document',
    ...change({ at: ['publicId'], value: held.publicId }),
    ...INVALID,
  },
  {
    name: 'it claims another registry',
    ...change({ at: ['registry'], value: other }),
    ...unverifiable('chain unknown other_registry'),
  },
  {
    name: 'the reader trusts another registry',
    of: 'valid',
    registry: other,
    ...unverifiable('chain unknown other_registry'),
  },
  {
    name: 'the reader trusts another block',
    of: 'valid',
    trustedBlocks: [earlier.hash],
    ...unverifiable('chain unknown block_untrusted'),
  },
  {
    name: 'the reader trusts no block',
    of: 'valid',
    trustedBlocks: [],
    ...unverifiable('chain unknown block_untrusted'),
  },
  {
    name: 'the reader expects other code',
    of: 'valid',
    codeHash: hash(1),
    ...unverifiable('chain unknown other_code'),
  },
  {
    name: 'no slots',
    ...change({ at: ['stateProof', 'storageProof'], value: [] }),
    ...INVALID,
  },
  {
    name: 'a slot twice',
    ...change({
      at: ['stateProof', 'storageProof'],
      value: [...slot, slot[0]],
    }),
    ...INVALID,
  },
  {
    name: 'two slots in another order',
    ...change(
      { at: ['stateProof', 'storageProof', 0], value: slot[1] },
      { at: ['stateProof', 'storageProof', 1], value: slot[0] },
    ),
    ...INVALID,
  },
  {
    name: 'another value of a slot',
    ...change({
      at: ['stateProof', 'storageProof', 0, 'value'],
      value: hash(1),
    }),
    ...INVALID,
  },
  {
    name: 'a node with another byte',
    ...change({
      at: ['stateProof', 'storageProof', 0, 'proof'],
      value: [
        ...(slot[0]?.proof.slice(0, -1) ?? []),
        node.slice(0, -2) + (node.endsWith('00') ? '01' : '00'),
      ],
    }),
    ...INVALID,
  },
  {
    name: 'a node too few in the proof of the account',
    ...change({
      at: ['stateProof', 'accountProof'],
      value: stateProof.accountProof.slice(0, -1),
    }),
    ...INVALID,
  },
  {
    name: 'the sealed bytes of another document',
    ...change({ at: ['sealed'], value: held.sealed }),
    ...unverifiable('payload unknown wrong_bytes', UNPROVEN),
  },
  {
    name: 'in a batch, without the batch block',
    of: 'valid in a batch',
    changes: [{ at: ['batch'], value: null }],
    ...unverifiable('batch unknown missing'),
  },
  {
    name: 'in a batch, with the batch block of another document',
    of: 'valid in a batch',
    changes: [{ at: ['batch'], value: blockOf(inBatch(1)) }],
    ...unverifiable('batch unknown wrong_bytes'),
  },
]
save('bundles', { cases: bundles, mustFail: badBundles })

// quorums.json
const one = of(revoked.documentHash)
/** Mines a block that is this many seconds later than the newest. */
async function later(seconds: number) {
  const { timestamp } = await blockAt(await blockNumber())
  await anvil.request('evm_setNextBlockTimestamp', Number(timestamp) + seconds)
  await anvil.request('evm_mine')
  return blockNumber()
}
const a = await later(1)
const b = await later(12)
const c = await later(12)
const d = await later(96)
const e = await later(1)
const answers = new Map<number, string>()
for (const block of [beforeRevocation, a, b, c, d, e]) answers.set(block, await call(one, block))
const answerAt = (block: number) => answers.get(block) ?? ''
type Node = { latest?: string; blocks?: Record<string, string> } | null
/** A node with this newest block that knows these older ones, and nothing else. */
const honest = (newest: number, ...older: number[]): Node => ({
  latest: answerAt(newest),
  blocks: Object.fromEntries(older.map((n) => [n, answerAt(n)])),
})
const hiding = (block: number) =>
  rewrite(answerAt(block), (values) => {
    values.status = 1
    Object.assign(part(values, 'record'), {
      revokerIndex: 0,
      revokedBlock: 0,
      revokedAt: 0,
      reason: 0,
    })
    values.revoker = part(read(sound), 'revoker')
  })
const far = rewrite(answerAt(c), (values) => {
  values.blockNumber = c + 1000
  values.blockTime = Number(values.blockTime) + 12_000
})
const foreign = rewrite(answerAt(c), (values) => {
  values.chainId = 1
})
const agree = (block: number) => ({ reading: read(answerAt(block)) })
const fails = (code: string) => ({ code })
const quorum = (
  name: string,
  count: number,
  nodes: Node[],
  expected: object,
  block: number | null = null,
) => ({ name, ...one, block, quorum: count, nodes, expected })
const quorums = [
  quorum('one node', 1, [honest(c)], agree(c)),
  quorum('all at one head', 2, [honest(c), honest(c), honest(c)], agree(c)),
  quorum('one is behind', 2, [honest(c), honest(b), honest(c)], agree(c)),
  quorum(
    'three heads; those ahead are asked again, the one at that head is not',
    2,
    [honest(c, b), honest(b), honest(a)],
    agree(b),
  ),
  quorum(
    'three heads, of which all must agree',
    3,
    [honest(c, a), honest(b, a), honest(a)],
    agree(a),
  ),
  quorum(
    'three heads, and the newest does not have the older state',
    2,
    [honest(c), honest(b, a), honest(a)],
    agree(a),
  ),
  quorum('one is down', 2, [null, honest(c), honest(c)], agree(c)),
  quorum('two are down', 2, [null, honest(c), null], fails('rpc_unreachable')),
  quorum(
    'one hides a revocation and is outvoted',
    2,
    [{ latest: hiding(c) }, honest(c), honest(c)],
    agree(c),
  ),
  quorum(
    'one of two hides a revocation',
    2,
    [{ latest: hiding(c) }, honest(c)],
    fails('endpoints_disagree'),
  ),
  quorum(
    'two of three hide a revocation: a quorum that lies is believed',
    2,
    [{ latest: hiding(c) }, { latest: hiding(c) }, honest(c)],
    { reading: read(hiding(c)) },
  ),
  quorum(
    'one makes up a head in the future',
    2,
    [{ latest: far }, honest(c, b), honest(b)],
    agree(b),
  ),
  quorum('a common block 120 s old', 2, [honest(d, a), honest(a)], agree(a)),
  quorum('a common block 121 s old', 2, [honest(e, a), honest(a)], fails('endpoints_disagree')),
  quorum(
    'all are of another chain',
    2,
    [{ latest: foreign }, { latest: foreign }],
    fails('wrong_chain'),
  ),
  quorum(
    'failures of two kinds',
    2,
    [{ latest: foreign }, null, honest(c)],
    fails('rpc_unreachable'),
  ),
  quorum('none has a registry', 1, [{ latest: '0x' }, { latest: '0x' }], fails('no_registry')),
  quorum(
    'as of a block',
    2,
    [honest(c, beforeRevocation), honest(b, beforeRevocation), null],
    agree(beforeRevocation),
    beforeRevocation,
  ),
  quorum(
    'as of a block that one does not have',
    2,
    [honest(c, b), honest(c), honest(c, b)],
    agree(b),
    b,
  ),
  quorum(
    'as of a block that too few have',
    2,
    [honest(c, b), honest(c), honest(c)],
    fails('state_unavailable'),
    b,
  ),
  quorum(
    'as of a block about which they disagree',
    2,
    [honest(c, b), { latest: hiding(c), blocks: { [b]: hiding(b) } }],
    fails('endpoints_disagree'),
    b,
  ),
]
save('quorums', { registry, cases: quorums })

await anvil.kill()
rmSync(dir, { recursive: true, force: true })
