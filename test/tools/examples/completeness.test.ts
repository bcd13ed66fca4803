import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { parseRegistryId, type RegistryId } from '#document/registry-id.ts'
import {
  type CompletenessProof,
  type Listed,
  verifyCompleteness,
} from '#verifier/proof/completeness.ts'
import { decodeHeader } from '#verifier/proof/header.ts'
import { encodeRlp, type RlpItem } from '#verifier/proof/rlp.ts'
import { slotsOfIssuer, trieKeyOf } from '#verifier/proof/slots.ts'
import { createCompletenessProof } from '#verifier/readers/completeness.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { required } from '../../faults/support/machine.ts'
import { type AnvilNode, startAnvilNode } from '../../support/anvil.ts'
import {
  distrustFrom,
  documents,
  hashOf,
  inBatch,
  issueList,
  ofAnother,
  releaseAsThief,
  roots,
  THIEF,
} from '../../support/issued-list.ts'
import { type Random, seededRandom } from '../../support/random.ts'
import { pythonWith } from './python.ts'

// An independent reader in Python is the oracle of proofs of completeness, whole and changed.

const REQUIREMENTS = new URL('../../../tools/corpus/vectors/requirements.txt', import.meta.url)
const python = required(await pythonWith(REQUIREMENTS.pathname))
const PROGRAM = new URL('completeness.py', import.meta.url).pathname

let dir: string
let anvil: AnvilNode
let registry: RegistryId
let proofs: { name: string; proof: CompletenessProof }[]
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'completeness-'))
  anvil = await startAnvilNode(dir)
  const provider = createFetchProvider(anvil.url, 30_000)
  registry = await issueList(provider)
  const prove = (issuerId: number, documentHashes: Hex[], ofRoots = roots) =>
    createCompletenessProof(provider, registry, issuerId, {
      documentHashes,
      roots: ofRoots,
    })
  const strange = [ofAnother, inBatch, hashOf(9, 1)]
  proofs = [
    { name: 'all', proof: await prove(1, documents) },
    { name: 'one missing', proof: await prove(1, documents.slice(1)) },
    { name: 'with others', proof: await prove(1, [...documents, ...strange]) },
    { name: 'no batches', proof: await prove(1, documents, []) },
    { name: 'of another issuer', proof: await prove(2, documents, []) },
    { name: 'nothing', proof: await prove(3, [], []) },
  ]
  const addAll = async (name: string) => {
    proofs.push({ name, proof: await prove(1, documents) })
  }
  await releaseAsThief(provider, registry)
  await addAll('released by another account')
  await distrustFrom(provider, registry, 1, THIEF)
  await addAll('released by a distrusted account')
  await distrustFrom(provider, registry, 1)
  await addAll('all, distrusted')
})
afterAll(async () => {
  await anvil?.kill()
  rmSync(dir, { recursive: true, force: true })
})

type Given = {
  name: string
  proof: string
  registry: RegistryId
  trustedBlocks: Hex[]
  codeHash: Hex | null
}

/** The library's answer, in the program's format. */
function libraryOn({ proof, codeHash, ...options }: Given): object {
  const shapeOf = <T extends { status: string; account: Hex }>(
    { count, listed, notIssued }: Listed<T>,
    keyOf: (one: T) => unknown[],
  ) => ({ count, listed: listed.map(keyOf), notIssued })
  try {
    const result = verifyCompleteness(proof, {
      ...options,
      ...(codeHash !== null && { codeHash }),
    })
    const { status } = result
    if (status === 'unverifiable') return { status, code: result.code }
    return {
      status,
      isRegistered: result.isRegistered,
      documents: shapeOf(result.documents, (one) => [one.documentHash, one.status, one.account]),
      batches: shapeOf(result.batches, (one) => [one.root, one.status, one.account, one.size]),
    }
  } catch (error) {
    if (error instanceof FormatError) return { error: error.code }
    throw error
  }
}

async function programOn(given: Given[]): Promise<object[]> {
  const file = join(dir, 'given.json')
  writeFileSync(file, JSON.stringify(given))
  const maxBuffer = 64 * 1024 * 1024
  const run = promisify(execFile)(python ?? '', [PROGRAM, file], { maxBuffer })
  return JSON.parse((await run).stdout)
}

async function expectSame(given: Given[]): Promise<object[]> {
  const found = await programOn(given)
  for (const [i, one] of given.entries())
    expect({ name: one.name, ...found[i] }).toEqual({
      name: one.name,
      ...libraryOn(one),
    })
  return found
}

const given = (name: string, proof: object, more: object = {}): Given => ({
  name,
  proof: JSON.stringify(proof),
  registry,
  codeHash: null,
  trustedBlocks: proofs.map((one) => decodeHeader(one.proof.header).blockHash),
  ...more,
})

const flipped = (hex: string, random: Random): string => {
  const at = 2 + random.below(hex.length - 2)
  const digit = (Number.parseInt(hex[at] ?? '0', 16) ^ (1 + random.below(15))) & 15
  return `${hex.slice(0, at)}${digit.toString(16)}${hex.slice(at + 1)}`
}

test.skipIf(python === undefined)('an independent reader reads the same lists', async () => {
  const found = await expectSame(proofs.map(({ name, proof }) => given(name, proof)))
  expect(found.map((one) => 'status' in one && one.status)).toEqual([
    'complete',
    'incomplete',
    'complete',
    'incomplete',
    'incomplete',
    'complete',
    'complete',
    'complete',
    'complete',
  ])
  const strangers = found.flatMap((one, i) =>
    'isRegistered' in one && one.isRegistered ? [] : [proofs[i]?.name],
  )
  expect(strangers).toEqual(['nothing'])
  const suspended = found.map((one) => JSON.stringify(one).split('"suspended"').length - 1)
  expect(suspended.slice(6)).toEqual([0, 2, 0])
})

test.skipIf(python === undefined)(
  'an independent reader refuses the same proofs, with the same codes',
  async () => {
    const proof = proofs[0]?.proof as CompletenessProof
    const { nodes, accountProof, header } = proof
    const strangers = [...[...nodes].reverse().slice(1), ...accountProof.slice(0, 1)]
    const changes: [string, object][] = [
      ['another type', { type: 'document-registry-bundle' }],
      ['version 2', { v: 2 }],
      ['a member more', { x: 1 }],
      ['issuer 0', { issuerId: 0 }],
      ['another issuer', { issuerId: 2 }],
      ['registry in upper case', { registry: registry.toUpperCase() }],
      ['another registry', { registry: registry.replace(/.$/, 'f') }],
      ['a hash twice', { documentHashes: [documents[0], ...documents] }],
      ['hashes out of order', { documentHashes: [...documents].reverse() }],
      ['a hash in upper case', { roots: [`0x${'AB'.repeat(32)}`] }],
      ['a hash less', { documentHashes: documents.slice(1) }],
      ['a hash more', { documentHashes: [...documents, hashOf(9, 9)] }],
      ['no nodes', { nodes: [] }],
      ['a node less', { nodes: nodes.slice(1) }],
      ['a node twice', { nodes: [...nodes, nodes[0]] }],
      ['nodes in another order', { nodes: [...nodes].reverse() }],
      ['a node of another trie', { nodes: strangers }],
      ['a node too many', { nodes: [...nodes, accountProof[0]] }],
      ['an empty node', { nodes: ['0x'] }],
      ['no account', { accountProof: [] }],
      ['an account without its leaf', { accountProof: accountProof.slice(0, -1) }],
      ['the account twice', { accountProof: [...accountProof, ...accountProof] }],
      ['a malformed header', { header: '0xc0' }],
      ['a header with bytes after it', { header: `${header}00` }],
      ['a header cut off', { header: header.slice(0, -2) }],
    ]
    await expectSame([
      ...changes.map(([name, change]) => given(name, { ...proof, ...change })),
      given('untrusted', proof, { trustedBlocks: [hashOf(9, 9)] }),
      given('other code', proof, { codeHash: hashOf(9, 9) }),
      given('another registry is trusted', proof, {
        registry: registry.replace(/.$/, 'f'),
      }),
      ...['1.0', '1e0'].map((one) => ({
        ...given(`version ${one}`, proof),
        proof: JSON.stringify(proof).replace('"v":1', `"v":${one}`),
      })),
      { ...given('not JSON', proof), proof: '{' },
      {
        ...given('a member twice', proof),
        proof: JSON.stringify(proof).replace('"v":1', '"v":1,"v":1'),
      },
    ])
  },
)

// Nodes that no chain has, under a hash that the reader trusts.

const NONE = new Uint8Array()
/** The path of an extension or a leaf, hex-prefix encoded. */
const pathOf = (nibbles: string, isLeaf: boolean) => {
  const isOdd = nibbles.length % 2 === 1
  return fromHex(`0x${(isLeaf ? 2 : 0) + (isOdd ? 1 : 0)}${isOdd ? '' : '0'}${nibbles}`)
}
const KEY = toHex(trieKeyOf(slotsOfIssuer(1).state)).slice(2)
/** The content of the issuer's slot: no documents, no batches, and one that makes its leaf long. */
const SHORT_VALUE = Uint8Array.of(0)
const LONG_VALUE = Uint8Array.of(1, ...new Uint8Array(31))

type Stand = 'inside' | 'by hash'
type Trie = { value: Uint8Array; leaf: Stand; branch: Stand; extensions: string[] }

/** @returns The nodes from the root, and the root: extensions, a branch, and the slot's leaf. */
function trieOf({ value, leaf, branch, extensions }: Trie): { nodes: Hex[]; root: Uint8Array } {
  const nodes: Hex[] = []
  const stand = (node: RlpItem, how: Stand): RlpItem => {
    if (how === 'inside') return node
    nodes.unshift(toHex(encodeRlp(node)))
    return keccak_256(encodeRlp(node))
  }
  const at = extensions.join('').length
  const children: RlpItem[] = Array(17).fill(NONE)
  children[Number.parseInt(KEY[at] ?? '', 16)] = stand(
    [pathOf(KEY.slice(at + 1), true), encodeRlp(value)],
    leaf,
  )
  let child = stand(children, branch)
  for (const path of extensions.toReversed()) child = stand([pathOf(path, false), child], 'by hash')
  return { nodes, root: child as Uint8Array }
}

/** @returns A proof of no documents, and the hash of its block. */
function proofOver(trie: Trie, more: RlpItem[] = [], codeHash = new Uint8Array(32)) {
  const { nodes, root } = trieOf(trie)
  const { address } = parseRegistryId(registry)
  const account = encodeRlp([
    pathOf(toHex(keccak_256(fromHex(address))).slice(2), true),
    encodeRlp([NONE, NONE, root, codeHash, ...more]),
  ])
  const fields: RlpItem[] = Array(15).fill(NONE)
  fields[3] = keccak_256(account)
  const header = encodeRlp(fields)
  const proof = {
    ...(proofs[5]?.proof as CompletenessProof),
    issuerId: 1,
    header: toHex(header),
    accountProof: [toHex(account)],
    nodes,
  }
  return { proof, trustedBlocks: [toHex(keccak_256(header))] }
}

test.skipIf(python === undefined)(
  'an independent reader refuses the same invalid tries',
  async () => {
    const at = (length: number) => [KEY.slice(0, length)]
    const good: Trie = { value: LONG_VALUE, leaf: 'by hash', branch: 'by hash', extensions: at(5) }
    // Leaf and branch have under 32 bytes.
    const deep: Trie = { ...good, leaf: 'inside', branch: 'inside', extensions: at(60) }
    const cases: [string, string, ReturnType<typeof proofOver>][] = [
      ['a trie of long nodes', 'complete', proofOver(good)],
      ['nodes inside their parents', 'complete', proofOver({ ...deep, value: SHORT_VALUE })],
      ['a long leaf inside', 'proof_invalid', proofOver({ ...good, leaf: 'inside' })],
      ['a long branch inside', 'proof_invalid', proofOver({ ...good, branch: 'inside' })],
      [
        'a short leaf by its hash',
        'proof_invalid',
        proofOver({ ...deep, value: SHORT_VALUE, leaf: 'by hash', branch: 'by hash' }),
      ],
      [
        'a short branch by its hash',
        'proof_invalid',
        proofOver({ ...deep, value: SHORT_VALUE, branch: 'by hash' }),
      ],
      ['an empty path', 'proof_invalid', proofOver({ ...good, extensions: [...at(5), ''] })],
      ['a fifth item', 'proof_invalid', proofOver(good, [NONE])],
      ['code hash of 31 bytes', 'proof_invalid', proofOver(good, [], new Uint8Array(31))],
      ['no code hash', 'proof_invalid', proofOver(good, [], NONE)],
    ]
    const found = await expectSame(
      cases.map(([name, , { proof, trustedBlocks }]) => given(name, proof, { trustedBlocks })),
    )
    const codes = found.map((one) => ('code' in one ? one.code : 'status' in one && one.status))
    expect(codes).toEqual(cases.map(([, code]) => code))
  },
)

test.skipIf(python === undefined)(
  'an independent reader refuses every changed byte, as the library does',
  async () => {
    const random = seededRandom(7)
    const proof = proofs[2]?.proof as CompletenessProof
    const changed = Array.from({ length: 200 }, (_, i) => {
      const member = random.pick(['nodes', 'accountProof'] as const)
      const list = [...proof[member]]
      const at = random.below(list.length)
      list[at] = flipped(list[at] ?? '0x00', random) as Hex
      return given(`byte ${i} of ${member}`, { ...proof, [member]: list })
    })
    const found = await expectSame(changed)
    const unverifiable = found.map((one) => 'status' in one && one.status)
    expect(new Set(unverifiable)).toEqual(new Set(['unverifiable']))
  },
)
