import { CarBufferWriter, CarReader } from '@ipld/car'
import * as dagCbor from '@ipld/dag-cbor'
import { sha256 } from '@noble/hashes/sha2.js'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'
import { cidOf } from '#document/cid.ts'

export type Block = { cid: CID; bytes: Uint8Array }

const SHA2_256 = 0x12
/** Marks the root of a group of this project, so that no other block is mistaken for one. */
const TYPE = 'document-registry/group'

/** @param hash A sha-256 digest of 32 bytes. */
export function blockCid(hash: Uint8Array): CID {
  return CID.parse(cidOf(hash))
}

/**
 * @returns A block that links to these blocks, so that pinning it pins them all. Each root is
 * unique, so that unpinning one never unpins another group, also of another gateway.
 */
export function groupRoot(blocks: readonly CID[]): Block {
  const id = crypto.getRandomValues(new Uint8Array(16))
  const bytes = dagCbor.encode({ type: TYPE, id, blocks })
  const cid = CID.createV1(dagCbor.code, create(SHA2_256, sha256(bytes)))
  return { cid, bytes }
}

/** @returns The links of a group's root; `undefined` for bytes that are not a root. */
export function groupLinks(bytes: Uint8Array): CID[] | undefined {
  const root = dagCbor.decode<{ type?: unknown; blocks: CID[] } | null>(bytes)
  return root?.type === TYPE ? root.blocks : undefined
}

/** Encodes a CAR (version 1) with one root. */
export function encodeCar(root: Block, blocks: readonly Block[]): Uint8Array {
  const header = { roots: [root.cid] }
  const all = [root, ...blocks]
  const size = all.reduce(
    (sum, block) => sum + CarBufferWriter.blockLength(block),
    CarBufferWriter.headerLength(header),
  )
  const writer = CarBufferWriter.createWriter(new ArrayBuffer(size), header)
  for (const block of all) writer.write(block)
  return writer.close()
}

/**
 * @returns The blocks of a CAR by their CIDs, which are not checked. Rejects for a truncated CAR.
 */
export async function decodeCar(bytes: Uint8Array): Promise<Map<string, Uint8Array>> {
  const blocks = new Map<string, Uint8Array>()
  const reader = await CarReader.fromBytes(bytes)
  for await (const { cid, bytes } of reader.blocks()) blocks.set(`${cid}`, bytes)
  return blocks
}
