import { recountBatch } from '#document/batch/batch.ts'
import { decodeBatchBlock, provesRoot } from '#document/batch/block.ts'
import { fromCanonical } from '#document/canonical.ts'
import { cidOf, hashOfCid } from '#document/cid.ts'
import { parseClaims, readDisclosures } from '#document/disclosures.ts'
import { decodeDocument } from '#document/document.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { parseStrictJson } from '#document/json.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { openDocument } from '#document/sealed.ts'
import type { StateProof } from '#document/state-proof.ts'
import type { DocumentKey } from '#verifier/ports.ts'
import { readStateProof } from '#verifier/proof/state-proof.ts'
import { readTrie } from '#verifier/proof/trie.ts'
import { type AnswerVectors, outcomesOf } from './answer-vectors.ts'
import { type PresentationVectors, readingsOf, refusalOf } from './presentation-vectors.ts'

// Must not import Node modules: it also runs in a browser.

type Failing = {
  name: string
  format: string
  input: string
  documentKey?: string
  code: string
}
export type Vectors = {
  golden: {
    document: object
    sealed: string
    documentKey: string
    publicId: string
    cid: string
  }[]
  batches: {
    manifestBlock: string
    chunks: string[]
    root: string
    documents: { block: string; publicId: string }[]
  }[]
  mustFail: Failing[]
  tries: {
    name: string
    root: string
    key: string
    proof: string[]
    value: string | null
  }[]
  presentations: PresentationVectors
  answers: AnswerVectors
  proofs: {
    name: string
    registry: RegistryId
    issuerId: number
    documentHash: string
    batch: { root: string; validUntil: number; proof: string } | null
    blockHash: string
    stateProof: unknown
    reading: object
  }[]
}

/** @returns The names of failing vectors, and the number of all. */
export async function runVectors(vectors: Vectors): Promise<{ wrong: string[]; tried: number }> {
  const wrong: string[] = []
  let tried = 0
  const expectSame = (name: string, got: unknown, expected: unknown) => {
    tried++
    if (sorted(got) !== sorted(expected)) wrong.push(name)
  }
  for (const one of vectors.golden) {
    const { hash } = decodePublicId(one.publicId)
    const document = await opened(one.sealed, one.documentKey)
    expectSame(one.cid, cidOf(hash), one.cid)
    expectSame(one.publicId, document, one.document)
  }
  for (const { manifestBlock, chunks, root, documents } of vectors.batches) {
    const parts = chunks.map((chunk) => bytesOf(`0x${chunk}`))
    const batch = await recountBatch(utf8(manifestBlock), parts)
    expectSame(root, batch.root, root)
    for (const { block, publicId } of documents)
      expectSame(publicId, provesRoot(decodeBatchBlock(utf8(block))), true)
  }
  for (const one of vectors.mustFail)
    expectSame(one.name, await codeOf(() => decode(one)), one.code)
  for (const { name, root, key, proof, value } of vectors.tries) {
    const read = readTrie(bytesOf(root), bytesOf(key), proof.map(bytesOf))
    expectSame(name, read ? toHex(read) : null, value)
  }
  for (const one of vectors.proofs)
    expectSame(one.name, readStateProof(one.stateProof as StateProof, one.registry, keyOf(one)), {
      ...one.reading,
      blockHash: one.blockHash,
    })
  for await (const one of outcomesOf(vectors.answers)) expectSame(one.name, one.got, one.expected)
  for (const one of vectors.presentations.cases)
    for (const [what, got, expected] of await readingsOf(one, vectors))
      expectSame(`${one.name}, ${what}`, got, expected)
  for (const one of vectors.presentations.mustFail)
    expectSame(one.name, await refusalOf(one), one.code)
  return { wrong, tried }
}

/** @returns The subject of a state-proof vector. */
export function keyOf(
  one: Pick<Vectors['proofs'][number], 'issuerId' | 'documentHash' | 'batch'>,
): DocumentKey {
  const { issuerId, batch } = one
  const documentHash = one.documentHash as Hex
  if (!batch) return { issuerId, documentHash }
  const { root, validUntil, proof } = batch
  return {
    issuerId,
    documentHash,
    batch: { root: root as Hex, validUntil, proof: bytesOf(proof) },
  }
}

const bytesOf = (hex: string) => fromHex(hex as Hex)
const utf8 = (text: string) => new TextEncoder().encode(text)

const opened = (sealed: string, documentKey: string) =>
  openDocument(utf8(sealed), bytesOf(`0x${documentKey}`))

function decode({ format, input, documentKey = '' }: Failing): unknown {
  switch (format) {
    case 'publicId':
      return decodePublicId(input)
    case 'cid':
      return hashOfCid(input)
    case 'json':
      return parseStrictJson(input)
    case 'canonical':
      return fromCanonical(utf8(input))
    case 'document':
      return decodeDocument(utf8(input))
    case 'sealed':
      return opened(input, documentKey)
    case 'claims':
      return parseClaims(parseStrictJson(input))
    case 'disclosures': {
      const { claims, disclosures } = JSON.parse(input)
      return readDisclosures(parseClaims(claims), disclosures)
    }
    case 'batchBlock':
      return decodeBatchBlock(utf8(input))
    case 'manifest': {
      const { manifest, chunks } = JSON.parse(input)
      const parts = chunks.map((chunk: string) => bytesOf(`0x${chunk}`))
      return recountBatch(utf8(manifest), parts)
    }
    default:
      throw new TypeError(`no format ${format}`)
  }
}

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'taken'
  } catch (error) {
    return String((error as { code?: string }).code)
  }
}

/** Ignores the order of members. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
