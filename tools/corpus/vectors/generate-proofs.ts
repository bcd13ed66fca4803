// Makes state-proofs.json: state proofs from real nodes, with the values that the same node's
// `eth_call` returns.
//
// node tools/corpus/vectors/generate-proofs.ts && biome check --write tools/corpus/vectors
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StandardMerkleTree } from '@openzeppelin/merkle-tree'
import { concat, Wallet } from 'ethers'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { startAnvilNode } from '#test/support/anvil.ts'
import { gethBinary, startGethNode } from '#test/support/geth.ts'
import { patient } from '#test/support/patient.ts'
import { deployRegistry, PERMISSION, setTexts, transact } from '#test/support/transact.ts'
import type { BatchPath, DocumentKey } from '#verifier/ports.ts'
import { decodeHeader } from '#verifier/proof/header.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { fetchProof } from '#verifier/readers/proof.ts'
import { toQuantity } from '#verifier/readers/rpc-codec.ts'

const ADMIN: Hex = `0x${'a1'.repeat(32)}`
const MANAGER: Hex = `0x${'b2'.repeat(32)}`
const ISSUER: Hex = `0x${'c3'.repeat(32)}`
const STOLEN: Hex = `0x${'d4'.repeat(32)}`
const THIEF: Hex = `0x${'e5'.repeat(32)}`
const ALL = PERMISSION.issue | PERMISSION.revoke | PERMISSION.manage

/** Seconds of the Unix epoch. */
const PAST = 1_000_000_000
const FUTURE = 4_000_000_000
const REASON = { keyCompromise: 1, certificateHold: 6, privilegeWithdrawn: 9 }

const hash = (byte: number): Hex => `0x${byte.toString(16).padStart(2, '0').repeat(32)}`

/** Documents that are issued alone, by what is done to them. */
const ALONE = {
  valid: hash(1),
  expired: hash(2),
  suspended: hash(3),
  released: hash(4),
  revoked: hash(5),
  'revoked by another account': hash(6),
  superseded: hash(7),
  successor: hash(8),
  distrusted: hash(9),
  'distrusted and revoked': hash(10),
  'issued again': hash(11),
  'set aside': hash(12),
  'not issued': hash(13),
}
/** The same, by an account that was stolen after it had been in use. */
const BY_THIEF = {
  'released by a thief': hash(14),
}
/** Documents in the first batch. */
const BATCHED = {
  'valid in a batch': hash(33),
  'expired in a batch': hash(34),
  'revoked in a batch': hash(35),
}
/** Documents in the second batch, which is suspended. */
const HELD = {
  'suspended with its batch': hash(49),
  'revoked in a suspended batch': hash(50),
}

/** What is done to a batch or to a document in it, in this order. */
type Revision = 'hold' | 'revoke' | 'release' | "thief's release" | "thief's early release"
/** Batches of two documents each, by what is done to the batch and to its first document. */
const REVISED: Record<string, { whole: Revision[]; own: Revision[] }> = {
  'batch released by a thief': { whole: ['hold', "thief's release"], own: [] },
  'both released by a thief': {
    whole: ['hold', "thief's release"],
    own: ['hold', "thief's release"],
  },
  'batch released by a thief, and its own slot by a trusted account': {
    whole: ['hold', "thief's release"],
    own: ['hold', 'release'],
  },
  'batch released by a thief, and not shown since its own slot is revoked': {
    whole: ['hold', "thief's release"],
    own: ['revoke'],
  },
  'released by a thief in a batch that is revoked, which is shown': {
    whole: ['revoke'],
    own: ['hold', "thief's release"],
  },
  'batch released by a trusted account, in which it is suspended': {
    whole: ['hold', 'release'],
    own: ['hold'],
  },
  'batch released by the same account before its theft': {
    whole: ['hold', "thief's early release"],
    own: [],
  },
}

type Case = { name: string; key: DocumentKey }

/** @returns A tree made by OpenZeppelin's library, with its proof for each document. */
function treeOf(documents: Record<string, Hex>) {
  const entries = Object.entries(documents)
  const expiry = (name: string) => (name.startsWith('expired') ? PAST : FUTURE)
  const tree = StandardMerkleTree.of(
    entries.map(([name, documentHash]) => [documentHash, expiry(name)]),
    ['bytes32', 'uint40'],
  )
  const root = tree.root as Hex
  const cases = entries.map<Case>(([name, documentHash], i) => {
    const proof = fromHex(concat(tree.getProof(i)) as Hex)
    const batch = { root, validUntil: expiry(name), proof }
    return { name, key: { issuerId: 1, documentHash, batch } }
  })
  return { root, size: entries.length, cases }
}

const [batched, held] = [treeOf(BATCHED), treeOf(HELD)]
const revisedTrees = Object.entries(REVISED).map(([name, { whole, own }], i) => {
  const [first, second] = [hash(0x60 + i), hash(0x80 + i)]
  const tree = treeOf({ [name]: first, other: second })
  return { ...tree, whole, own, first }
})

const aloneOf = (documents: Record<string, Hex>, issuerId = 1) =>
  Object.entries(documents).map<Case>(([name, documentHash]) => ({
    name,
    key: { issuerId, documentHash },
  }))

function commonCases(): Case[] {
  const [first] = batched.cases
  const [other] = held.cases
  if (!first?.key.batch || !other?.key.batch) throw new Error('no batch')
  const { documentHash, batch } = first.key
  const inBatch = (more: Partial<BatchPath>): DocumentKey => ({
    ...first.key,
    batch: { ...batch, ...more },
  })
  return [
    ...aloneOf(ALONE),
    ...batched.cases,
    ...held.cases,
    {
      name: 'not issued, in a batch with another expiry',
      key: inBatch({ validUntil: 0 }),
    },
    {
      name: 'not issued, in a batch with a shorter proof',
      key: inBatch({ proof: new Uint8Array() }),
    },
    {
      name: 'not issued, in another batch',
      key: inBatch({ root: other.key.batch.root }),
    },
    {
      name: 'not issued, in a batch that is not there',
      key: inBatch({ root: hash(99) }),
    },
    { name: 'not issued alone', key: { issuerId: 1, documentHash } },
    {
      name: 'not issued alone, and revoked in a batch',
      key: { issuerId: 1, documentHash: BATCHED['revoked in a batch'] },
    },
    {
      name: 'not issued by another issuer',
      key: { issuerId: 2, documentHash: ALONE.valid },
    },
    {
      name: 'issued by another issuer, with a name of 31 bytes and no URI',
      key: { issuerId: 2, documentHash: ALONE.suspended },
    },
  ]
}

/**
 * @returns Cases from only one node, because they differ in the slots that are read and the file is
 * large.
 */
function furtherCases(): Case[] {
  return [
    ...aloneOf(BY_THIEF),
    ...revisedTrees.flatMap(({ cases }) => cases.slice(0, 1)),
    ...aloneOf({ 'of a closed issuer with name and URI that are not UTF-8': ALONE.valid }, 3),
  ]
}

type Send = (name: string, args: unknown[], key?: Hex) => Promise<unknown>

/** Releases by an account that is distrusted from a block on. Some were made before that block. */
async function reviseAsThief(send: Send, blockNumber: () => Promise<number>): Promise<void> {
  const accountOf = (key: Hex) => new Wallet(key).address
  const released = [1, BY_THIEF['released by a thief']]
  await send('issue', [...released, 0])
  await send('addAccount', [1, accountOf(THIEF), PERMISSION.revoke], MANAGER)
  await send('revoke', [...released, REASON.certificateHold])

  for (const { root, size } of revisedTrees) await send('issueBatch', [1, root, size, hash(0)])
  const revise = async (early: boolean) => {
    for (const { root, first, whole, own } of revisedTrees)
      for (const [suffix, target, revisions] of [
        ['Batch', [1, root], whole],
        ['InBatch', [1, root, [first]], own],
      ] as const)
        for (const revision of revisions) {
          if ((revision === "thief's release") === early) continue
          const key = revision.startsWith('thief') ? THIEF : ISSUER
          if (revision.endsWith('release')) await send(`release${suffix}`, [...target], key)
          else {
            const reason = revision === 'hold' ? REASON.certificateHold : REASON.keyCompromise
            await send(`revoke${suffix}`, [...target, reason], key)
          }
        }
  }
  await revise(true)
  const theft = (await blockNumber()) + 1
  await send('release', released, THIEF)
  await revise(false)
  await send('distrustFrom', [1, accountOf(THIEF), theft], MANAGER)
}

async function proofsOf(
  wanted: readonly Case[],
  url: string,
  origin: string,
  fund: (account: string) => Promise<void>,
) {
  const provider = patient(createFetchProvider(url))
  const keys = [ADMIN, MANAGER, ISSUER, STOLEN, THIEF]
  for (const key of keys) await fund(new Wallet(key).address)
  const registry = await deployRegistry(
    provider,
    { admin: ADMIN, manager: MANAGER, issuer: ISSUER },
    // This is longer than a slot.
    {
      name: 'Ämter und Behörden der Stadt Teststadt',
      uri: 'https://example.org',
    },
  )
  const send = (name: string, args: unknown[], key = ISSUER) =>
    transact(provider, registry, key, name, args)
  const accountOf = (key: Hex) => new Wallet(key).address
  const blockNumber = async () =>
    Number(await provider.request({ method: 'eth_blockNumber', params: [] }))
  const revoke = (documentHash: Hex, reason: number, key = ISSUER) =>
    send('revoke', [1, documentHash, reason], key)
  const many = Array.from({ length: 8 }, (_, i) => hash(1).slice(0, -4) + (0x1000 + i).toString(16))
  await send('issueMany', [1, many, many.map(() => 0)])
  for (const [name, documentHash] of Object.entries(ALONE).slice(0, 7))
    await send('issue', [
      1,
      documentHash,
      name === 'expired' ? PAST : name === 'valid' ? FUTURE : 0,
    ])
  await send('setPermissions', [1, accountOf(MANAGER), ALL], MANAGER)
  await revoke(ALONE.suspended, REASON.certificateHold)
  await revoke(ALONE.released, REASON.certificateHold)
  await send('release', [1, ALONE.released])
  await revoke(ALONE.revoked, REASON.keyCompromise)
  await revoke(ALONE['revoked by another account'], REASON.privilegeWithdrawn, MANAGER)
  await send('supersede', [1, hash(0), ALONE.superseded, ALONE.successor, FUTURE])

  for (const { root, size } of [batched, held]) await send('issueBatch', [1, root, size, hash(0)])
  await send('revokeInBatch', [
    1,
    batched.root,
    [BATCHED['revoked in a batch']],
    REASON.keyCompromise,
  ])
  await send('revokeBatch', [1, held.root, REASON.certificateHold])
  await send('revokeInBatch', [
    1,
    held.root,
    [HELD['revoked in a suspended batch']],
    REASON.keyCompromise,
  ])

  await send('addAccount', [1, accountOf(STOLEN), 3], MANAGER)
  for (const name of ['distrusted', 'distrusted and revoked', 'issued again'] as const)
    await send('issue', [1, ALONE[name], 0], STOLEN)
  await send('issue', [1, ALONE['set aside'], 0])
  await revoke(ALONE['distrusted and revoked'], REASON.keyCompromise)
  await revoke(ALONE['set aside'], REASON.keyCompromise, STOLEN)
  await send('distrustFrom', [1, accountOf(STOLEN), 1], MANAGER)
  await send('release', [1, ALONE['set aside']], MANAGER)
  await send('issue', [1, ALONE['issued again'], FUTURE])
  await reviseAsThief(send, blockNumber)

  await send('registerIssuer', [accountOf(MANAGER), 'N'.repeat(31), ''], ADMIN)
  await send('setPermissions', [2, accountOf(MANAGER), ALL], MANAGER)
  await send('issue', [2, ALONE.suspended, 0], MANAGER)
  await send('registerIssuer', [accountOf(MANAGER), 'N', ''], ADMIN)
  await send('setPermissions', [3, accountOf(MANAGER), ALL], MANAGER)
  await send('issue', [3, ALONE.valid, 0], MANAGER)
  await setTexts(provider, registry, ADMIN, 3, {
    // 70 bytes, and 138 with U+FFFD: it has three further slots, not five.
    name: Buffer.concat([Buffer.from('Amt '), Buffer.alloc(34, 0xff), Buffer.alloc(32, 0x41)]),
    uri: Buffer.of(0xc3),
  })
  await send('closeIssuer', [3], ADMIN)

  const blockAt = (number: string) =>
    provider.request({
      method: 'eth_getBlockByNumber',
      params: [number, false],
    }) as Promise<{ hash: Hex }>
  const block = await blockAt('latest')
  const cases = []
  for (const { name, key } of wanted) {
    const stateProof = await fetchProof(provider, registry, key)
    const { blockNumber } = decodeHeader(stateProof.header)
    const reading = await createChainReader(provider, registry).read(key, {
      block: blockNumber,
    })
    const { issuerId, documentHash, batch } = key
    cases.push({
      name: `${origin}: ${name}`,
      registry,
      issuerId,
      documentHash,
      batch: batch ? { ...batch, proof: toHex(batch.proof) } : null,
      blockHash: (await blockAt(toQuantity(blockNumber))).hash,
      stateProof,
      reading,
    })
  }
  return { cases, block: { origin, ...block } }
}

const dir = mkdtempSync(join(tmpdir(), 'state-proofs-'))
const anvil = await startAnvilNode(dir)
const ofAnvil = await proofsOf(commonCases(), anvil.url, 'Anvil 1.7.1', async (account) => {
  await anvil.request('anvil_setBalance', account, '0x56bc75e2d63100000')
})
await anvil.kill()
const binary = await gethBinary()
if (binary === undefined) throw new Error('geth is needed')
const geth = await startGethNode(binary, dir)
const all = [...commonCases(), ...furtherCases()]
const ofGeth = await proofsOf(all, geth.url, 'geth 1.16.7 --dev', geth.fund)
await geth.kill()
rmSync(dir, { recursive: true, force: true })
writeFileSync(
  new URL('state-proofs.json', import.meta.url),
  JSON.stringify({
    origin:
      'eth_getProof, eth_getBlockByNumber and eth_call of the nodes named, by generate-proofs.ts',
    cases: [...ofAnvil.cases, ...ofGeth.cases],
    blocks: [ofAnvil.block, ofGeth.block],
  }),
)
