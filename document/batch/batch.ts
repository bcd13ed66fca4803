import { sha256 } from '@noble/hashes/sha2.js'
import { equalBytes } from '../bytes.ts'
import { FormatError } from '../errors.ts'
import { type Hex, toHex } from '../hex.ts'
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
import { compareBytes, createRows, type Rows, sortByKey } from './rows.ts'
import {
  buildTree,
  createTreeHasher,
  HASHED_A_TURN,
  NODE,
  pause,
  proofOf,
} from './tree.ts'

/** Documents that one Merkle root anchors together. Its manifest is enough to make it again. */
export type Batch = {
  registry: string
  issuerId: number
  root: Hex
  size: number
  /** The sha-256 of the root block of the manifest; `BatchIssued` has it. */
  manifest: Hex
  manifestBlock: Uint8Array
  /** @returns The chunks of the manifest, each made when it is asked for. */
  chunks(): Generator<Uint8Array>
  /** @returns The batch blocks, in the order of the manifest, each made when it is asked for. */
  blocks(): Generator<BatchBlock>
  /** @returns The batch block of a document; `undefined` when it is not in the batch. */
  blockOf(documentHash: Uint8Array): BatchBlock | undefined
}

type Iterated<T> = Iterable<T> | AsyncIterable<T>
type Issuer = Pick<Batch, 'registry' | 'issuerId'>

/**
 * Builds the batch of some documents, in any order, in n log n steps. It takes some 110 bytes of
 * memory a document.
 *
 * @throws {FormatError} `manifest_repeated` for a repeated documentHash; `manifest_malformed` for
 * no documents, and for more than a manifest can hold.
 */
export async function buildBatch(
  issuer: Issuer,
  entries: Iterated<BatchEntry>,
): Promise<Batch> {
  const table = createTable()
  for await (const entry of entries) {
    if (table.rows.length === MAX_BATCH_SIZE)
      throw malformed('too many documents')
    await table.add(encodeEntry(entry))
  }
  if (table.rows.length === 0) throw malformed('no documents')
  return assemble(issuer, table)
}

/**
 * Recounts a batch from its manifest: the entries in the chunks rebuild root and size, and no
 * document is repeated. When the registry has the root with this size, these are all documents of
 * the batch.
 *
 * @param manifestBlock The root block of the manifest.
 * @param chunks In the order in which it lists them.
 * @throws {FormatError} `manifest_malformed` for bytes that are not a root block; `manifest_chunk`
 * for a chunk that is missing, not listed or of the wrong length; `manifest_order` for entries that
 * are not in ascending order of their leaves; `manifest_repeated` for a repeated documentHash;
 * `manifest_root` when the entries rebuild another root.
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
    if (!good) throw new FormatError('manifest_chunk', `chunk ${count}`)
    for (let at = 0; at < chunk.length; at += ENTRY)
      await table.add(chunk.subarray(at, at + ENTRY))
    count++
  }
  if (count < manifest.chunks.length)
    throw new FormatError('manifest_chunk', `chunk ${count} is missing`)
  assertAscending(table.leaves)
  const batch = await assemble(manifest, table)
  if (batch.root !== manifest.root)
    throw new FormatError('manifest_root', 'the chunks rebuild another root')
  return batch
}

/** Entries and their leaves, in the order in which they came. */
type Table = { leaves: Rows; rows: Rows; add(entry: Uint8Array): unknown }

function createTable(): Table {
  const [leaves, rows] = [createRows(NODE), createRows(ENTRY)]
  const hasher = createTreeHasher()
  return {
    leaves,
    rows,
    add(entry) {
      hasher.leaf(entry, leaves.add())
      rows.add().set(entry)
      return rows.length % HASHED_A_TURN === 0 ? pause() : undefined
    },
  }
}

function assertAscending(leaves: Rows): void {
  for (let i = 1; i < leaves.length; i++)
    if (compareBytes(leaves.at(i - 1), leaves.at(i)) > 0)
      throw new FormatError('manifest_order', `entry ${i} is out of order`)
}

async function assemble(
  { registry, issuerId }: Issuer,
  { leaves, rows }: Table,
): Promise<Batch> {
  const size = rows.length
  const order = sortByKey(size, leaves.at)
  const entryAt = (place: number) => rows.at(order[place] as number)
  const byHash = sortByKey(size, entryAt)
  assertNoneTwice(byHash, entryAt)

  const tree = await buildTree(size, (place) =>
    leaves.at(order[place] as number),
  )
  const root = toHex(tree(0))

  function* chunks(): Generator<Uint8Array> {
    for (let index = 0; index < chunksOf(size); index++) {
      const chunk = new Uint8Array(chunkLength(size, index))
      for (let at = 0; at < chunk.length; at += ENTRY)
        chunk.set(entryAt(index * ENTRIES_A_CHUNK + at / ENTRY), at)
      yield chunk
    }
  }

  const hashes: Hex[] = []
  for (const chunk of chunks()) hashes.push(toHex(sha256(chunk)))
  const about = { registry, issuerId, root, size }
  const manifestBlock = encodeManifest({ ...about, chunks: hashes, v: 1 })
  const manifest = toHex(sha256(manifestBlock))

  function blockAt(place: number): BatchBlock {
    const { documentHash, validUntil } = decodeEntry(entryAt(place))
    const proof = proofOf(tree, 2 * size - 2 - place)
    return {
      ...about,
      manifest,
      documentHash: toHex(documentHash),
      validUntil,
      proof,
    }
  }

  return {
    ...about,
    manifest,
    manifestBlock,
    chunks,
    *blocks() {
      for (let place = 0; place < size; place++) yield blockAt(place)
    },
    blockOf(documentHash) {
      const place = find(byHash, entryAt, documentHash)
      return place === undefined ? undefined : blockAt(place)
    },
  }
}

type EntryAt = (place: number) => Uint8Array

const hashIn = (entry: Uint8Array) => entry.subarray(0, NODE)

function assertNoneTwice(byHash: Uint32Array, entryAt: EntryAt): void {
  for (let i = 1; i < byHash.length; i++) {
    const [a, b] = [byHash[i - 1] as number, byHash[i] as number]
    if (equalBytes(hashIn(entryAt(a)), hashIn(entryAt(b))))
      throw new FormatError('manifest_repeated', 'a repeated documentHash')
  }
}

/** @returns The place of the entry with this documentHash. */
function find(
  byHash: Uint32Array,
  entryAt: EntryAt,
  documentHash: Uint8Array,
): number | undefined {
  let [from, to] = [0, byHash.length]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const place = byHash[middle] as number
    const side = compareBytes(hashIn(entryAt(place)), documentHash)
    if (side === 0) return place
    if (side < 0) from = middle + 1
    else to = middle
  }
  return undefined
}

function malformed(message: string): FormatError {
  return new FormatError('manifest_malformed', message)
}
