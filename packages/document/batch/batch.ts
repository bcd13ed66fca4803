import { sha256 } from '@noble/hashes/sha2.js'
import { FormatError } from '../errors.ts'
import { type Hex, toHex } from '../hex.ts'
import type { RegistryId } from '../registry-id.ts'
import type { BatchBlock } from './block.ts'
import { type BatchEntry, decodeEntry, ENTRY, encodeEntry } from './entry.ts'
import {
  chunkLength,
  chunksOf,
  decodeManifest,
  ENTRIES_A_CHUNK,
  encodeManifest,
  MAX_BATCH_SIZE,
} from './manifest.ts'
import { createRows, pause, type Rows, sortRows } from './rows.ts'
import { buildTree, createTreeHasher, LEAVES_A_TURN, NODE, proofOf } from './tree.ts'

/** Documents that one Merkle root anchors together. The manifest is enough to rebuild it. */
export type Batch = {
  registry: RegistryId
  issuerId: number
  root: Hex
  size: number
  /** The sha-256 of the root block of the manifest, which `BatchIssued` contains. */
  manifest: Hex
  manifestBlock: Uint8Array
  /** @returns The chunks of the manifest, each made when it is requested. */
  chunks(): Generator<Uint8Array>
  /** @returns The batch blocks in the order of the manifest, each made when it is requested. */
  blocks(): Generator<BatchBlock>
  /**
   * @param index The number of the document in the order of input, from 0.
   * @returns The batch block of that document.
   * @throws {RangeError} if there is no such document.
   */
  blockAt(index: number): BatchBlock
  /** @returns The batch block of a document; `undefined` when it is not in the batch. */
  blockOf(documentHash: Uint8Array): BatchBlock | undefined
}

/** The number of entries that are hashed in one turn of the event loop; these take about 10 ms. */
const ENTRIES_A_TURN = 8192

type Iterated<T> = Iterable<T> | AsyncIterable<T>
type Issuer = Pick<Batch, 'registry' | 'issuerId'>

/**
 * Builds the batch of documents in any order, in n log n steps. Its tables take 97 bytes of memory
 * per document.
 *
 * @throws {FormatError} `manifest_repeated` for a repeated documentHash; `manifest_malformed` for
 * no documents, and for more than a manifest can contain.
 *
 * @example
 * ```ts
 * const { hash } = decodePublicId(publicId)
 * const entries = [{ documentHash: hash, validUntil: 0 }]
 * const batch = await buildBatch({ registry, issuerId: 1 }, entries)
 * batch.size // => 1
 * ```
 */
export async function buildBatch(issuer: Issuer, entries: Iterated<BatchEntry>): Promise<Batch> {
  const table = createTable()
  for await (const entry of entries) {
    if (table.rows.length === MAX_BATCH_SIZE) throw malformed('the batch has too many documents')
    const turn = table.add(encodeEntry(entry))
    if (turn) await turn
  }
  if (table.rows.length === 0) throw malformed('the batch has no documents')
  return assemble(issuer, table)
}

/**
 * Recounts a batch from its manifest: the entries in the chunks rebuild root and size, and no
 * document is repeated. If the registry has the root with this size, these are all documents of the
 * batch.
 *
 * @param manifestBlock The root block of the manifest.
 * @param chunks The chunks in the order of the manifest.
 * @throws {FormatError} `manifest_malformed` for bytes that are not a root block; `manifest_chunk`
 * for a chunk that is missing, not listed or of the wrong length; `manifest_order` for entries that
 * are not in ascending order of their leaves; `manifest_repeated` for a repeated documentHash;
 * `manifest_root` when the entries rebuild another root.
 *
 * @example
 * ```ts
 * const entries = [{ documentHash: decodePublicId(publicId).hash, validUntil: 0 }]
 * const { manifestBlock, chunks, root } = await buildBatch({ registry, issuerId: 1 }, entries)
 * const batch = await recountBatch(manifestBlock, chunks())
 * batch.root === root // => true
 * ```
 */
export async function recountBatch(
  manifestBlock: Uint8Array,
  chunks: Iterated<Uint8Array>,
): Promise<Batch> {
  const manifest = decodeManifest(manifestBlock)
  const table = createTable()
  let count = 0
  for await (const chunk of chunks) {
    const good =
      toHex(sha256(chunk)) === manifest.chunks[count] &&
      chunk.length === chunkLength(manifest.size, count)
    if (!good) throw new FormatError('manifest_chunk', `chunk ${count} does not match the manifest`)
    for (let at = 0; at < chunk.length; at += ENTRY) {
      const turn = table.add(chunk.subarray(at, at + ENTRY))
      if (turn) await turn
    }
    count++
  }
  if (count < manifest.chunks.length)
    throw new FormatError('manifest_chunk', `chunk ${count} is missing`)
  assertAscending(table.leaves)
  const batch = await assemble(manifest, table)
  if (batch.root !== manifest.root)
    throw new FormatError('manifest_root', 'the chunks do not produce the root in the manifest')
  return batch
}

/** Entries and their leaves, in the order of input. */
type Table = {
  leaves: Rows
  rows: Rows
  /** @returns Now and then a promise to wait for, so that other work has its turn. */
  add(entry: Uint8Array): Promise<void> | undefined
}

function createTable(): Table {
  const [leaves, rows] = [createRows(NODE), createRows(ENTRY)]
  const hasher = createTreeHasher()
  const leaf = new Uint8Array(NODE)
  return {
    leaves,
    rows,
    add(entry) {
      hasher.leaf(entry, leaf)
      leaves.push(leaf)
      rows.push(entry)
      return rows.length % LEAVES_A_TURN === 0 ? pause() : undefined
    },
  }
}

function assertAscending(leaves: Rows): void {
  for (let i = 1; i < leaves.length; i++)
    if (leaves.compare(i - 1, i) > 0)
      throw new FormatError('manifest_order', `entry ${i} is out of order`)
}

async function assemble({ registry, issuerId }: Issuer, { leaves, rows }: Table): Promise<Batch> {
  const size = rows.length
  const order = await sortRows(leaves)
  const placeOf = new Uint32Array(size)
  for (let place = 0; place < size; place++) placeOf[order[place] as number] = place
  const byHash = await sortRows(rows)
  assertNoneTwice(byHash, rows)

  const tree = await buildTree(size, (place, out) => leaves.copyTo(order[place] as number, out))
  const top = new Uint8Array(NODE)
  tree(0, top)
  const root = toHex(top)

  /** The entries of a chunk of the manifest. */
  function* entriesOf(index: number): Generator<Uint8Array> {
    const start = index * ENTRIES_A_CHUNK
    const end = Math.min(start + ENTRIES_A_CHUNK, size)
    for (let place = start; place < end; place++) yield rows.at(order[place] as number)
  }

  const hashes: Hex[] = []
  for (let index = 0; index < chunksOf(size); index++) {
    const digest = sha256.create()
    let hashed = 0
    for (const entry of entriesOf(index)) {
      digest.update(entry)
      if (++hashed % ENTRIES_A_TURN === 0) await pause()
    }
    hashes.push(toHex(digest.digest()))
  }
  const about = { registry, issuerId, root, size }
  const manifestBlock = encodeManifest({ ...about, chunks: hashes, v: 1 })
  const manifest = toHex(sha256(manifestBlock))

  function blockAt(index: number): BatchBlock {
    const { documentHash, validUntil } = decodeEntry(rows.at(index))
    const node = 2 * size - 2 - (placeOf[index] as number)
    return {
      ...about,
      manifest,
      documentHash: toHex(documentHash),
      validUntil,
      proof: proofOf(tree, node),
    }
  }

  return {
    ...about,
    manifest,
    manifestBlock,
    *chunks() {
      for (let index = 0; index < hashes.length; index++) {
        const chunk = new Uint8Array(chunkLength(size, index))
        let at = 0
        for (const entry of entriesOf(index)) {
          chunk.set(entry, at)
          at += ENTRY
        }
        yield chunk
      }
    },
    *blocks() {
      for (const index of order) yield blockAt(index)
    },
    blockAt(index) {
      if (!(index in placeOf)) throw new RangeError('the batch has no document at this index')
      return blockAt(index)
    },
    blockOf(documentHash) {
      const index = find(byHash, rows, documentHash)
      return index === undefined ? undefined : blockAt(index)
    },
  }
}

function assertNoneTwice(byHash: Uint32Array, rows: Rows): void {
  for (let i = 1; i < byHash.length; i++)
    if (rows.compare(byHash[i - 1] as number, byHash[i] as number, NODE) === 0)
      throw new FormatError('manifest_repeated', 'duplicate documentHash')
}

/** @returns The index of the entry with this documentHash. */
function find(byHash: Uint32Array, rows: Rows, documentHash: Uint8Array): number | undefined {
  let [from, to] = [0, byHash.length]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const index = byHash[middle] as number
    const side = rows.compareWith(index, documentHash)
    if (side === 0) return index
    if (side < 0) from = middle + 1
    else to = middle
  }
  return undefined
}

function malformed(message: string): FormatError {
  return new FormatError('manifest_malformed', message)
}
