import { hash as digestOf } from 'node:crypto'
import { hkdfWithNode, hmacWithNode, sealWithNode } from '#base/node-crypto.ts'
import { type Batch, buildBatch } from '#document/batch/batch.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import type { BatchEntry } from '#document/batch/entry.ts'
import { createRows } from '#document/batch/rows.ts'
import { type DocumentFields, encodeDocument, validUntilOf } from '#document/document.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { deriveSealingKeys, type IssuerSubkeys, idempotentSalt } from '#document/keys.ts'
import { encodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'

/** A block and its sha-256, 32 bytes. */
export type Block = { hash: Uint8Array; bytes: Uint8Array }

/** A document of a batch, as the issuer receives it. */
export type SealedDocument = {
  /** The line in the upload, from 1. */
  line: number
  publicId: string
  documentHash: Hex
  /** The sha-256 of its batch block. */
  batchBlock: Hex
}

/** A batch whose sealed documents are stored. */
export type SealedBatch = {
  batch: Batch
  /**
   * Stores the batch blocks and the manifest.
   *
   * @returns The documents in the order of the upload. After the last one, everything is stored.
   */
  keepBlocks(): AsyncGenerator<SealedDocument>
}

type SealDeps = {
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: RegistryId
  issuerId: number
  subkeys: IssuerSubkeys
  /** Stores blocks, and resolves when they are durable. */
  keep(blocks: readonly Block[]): Promise<void>
  /** The number of blocks that are stored together. */
  group: number
  /** The maximum number of groups being stored while the next one gathers. */
  ahead: number
  /** The owner of the idempotency key. */
  keyOwner: string
}

const KEY_LENGTH = 16

/**
 * Seals documents and builds their batch. The same documents in the same order with the same key
 * give the same batch again, byte for byte, even after an interrupted run. The tables take 113
 * bytes of memory per document.
 */
export async function sealBatch(
  deps: SealDeps,
  documents: AsyncIterable<DocumentFields>,
  idempotencyKey: string,
): Promise<SealedBatch> {
  const { registry, issuerId, subkeys, keyOwner } = deps
  const documentKeys = createRows(KEY_LENGTH)
  const keeper = createKeeper(deps.keep, deps.group, deps.ahead)

  async function* entries(): AsyncGenerator<BatchEntry> {
    for await (const fields of documents) {
      const document = { ...fields, registry, issuerId }
      const encoded = encodeDocument(document)
      const item = {
        tenant: keyOwner,
        idempotencyKey,
        itemIndex: documentKeys.length,
        document: encoded,
      }
      const keys = deriveSealingKeys(
        subkeys,
        idempotentSalt(subkeys, item, hmacWithNode),
        hkdfWithNode,
      )
      const { bytes, documentHash } = await sealWithNode(document, keys, encoded)
      await keeper.add({ hash: documentHash, bytes })
      documentKeys.push(keys.documentKey)
      yield { documentHash, validUntil: validUntilOf(document) }
    }
  }

  const batch = await buildBatch({ registry, issuerId }, entries())
  await keeper.end()

  return {
    batch,
    async *keepBlocks() {
      for (let index = 0; index < documentKeys.length; index++) {
        const { documentHash, ...rest } = batch.blockAt(index)
        const block = blockOf(encodeBatchBlock({ documentHash, ...rest }))
        await keeper.add(block)
        const publicId = encodePublicId({
          kind: 'batch',
          issuerId,
          hash: block.hash,
          documentKey: documentKeys.at(index),
        })
        yield { line: index + 1, publicId, documentHash, batchBlock: toHex(block.hash) }
      }
      // A chunk has up to 1 MiB, so each is a separate group.
      for (const chunk of batch.chunks()) await deps.keep([blockOf(chunk)])
      await keeper.add(blockOf(batch.manifestBlock))
      await keeper.end()
    },
  }
}

function blockOf(bytes: Uint8Array): Block {
  return { hash: digestOf('sha256', bytes, 'buffer'), bytes }
}

/** Stores items in groups. */
type Keeper<T> = {
  /** Resolves when there is room for more items. */
  add(item: T): Promise<void>
  /** Resolves when all items are stored. */
  end(): Promise<void>
}

/**
 * @param group The number of items in each group.
 * @param ahead The maximum number of groups being stored while the next one gathers.
 */
export function createKeeper<T>(
  keep: (items: readonly T[]) => Promise<void>,
  group: number,
  ahead: number,
): Keeper<T> {
  let waiting: T[] = []
  const keeping: Promise<void>[] = []

  async function next(): Promise<void> {
    if (keeping.length >= ahead) await keeping.shift()
    const kept = keep(waiting)
    // An error is reported by the next wait for this promise.
    kept.catch(() => {})
    keeping.push(kept)
    waiting = []
  }

  return {
    async add(item) {
      waiting.push(item)
      if (waiting.length >= group) await next()
    },
    async end() {
      if (waiting.length > 0) await next()
      await Promise.all(keeping.splice(0))
    },
  }
}
