import { hash as digestOf } from 'node:crypto'
import { type Batch, buildBatch } from '#document/batch/batch.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import type { BatchEntry } from '#document/batch/entry.ts'
import { createRows } from '#document/batch/rows.ts'
import { type DocumentFields, encodeDocument, validUntilOf } from '#document/document.ts'
import { type Hex, toHex } from '#document/hex.ts'
import type { Hkdf } from '#document/hkdf.ts'
import { deriveSealingKeys, type Hmac, type IssuerSubkeys, idempotentSalt } from '#document/keys.ts'
import { encodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Seal } from '#document/sealed.ts'

/** A block and its sha-256, 32 bytes. */
export type Block = { hash: Uint8Array; bytes: Uint8Array }

/** A document of a batch, as its issuer receives it. */
export type SealedDocument = {
  /** From 1, as in the upload. */
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
   * Keeps the batch blocks and the manifest.
   *
   * @returns The documents in the order of the upload. When the last has come, everything is kept.
   */
  keepBlocks(): AsyncGenerator<SealedDocument>
}

type SealDeps = {
  /** CAIP-10, lower case. */
  registry: RegistryId
  issuerId: number
  subkeys: IssuerSubkeys
  seal: Seal
  hkdf: Hkdf
  hmac: Hmac
  /** Resolves when they are durable. */
  keep(blocks: readonly Block[]): Promise<void>
  /** Blocks that are kept together. */
  group: number
  /** Groups that are being kept while the next one gathers. */
  ahead: number
  /** Whose the idempotency key is. */
  keyOwner: string
}

const KEY_LENGTH = 16

/**
 * Seals documents and builds their batch. The same documents in the same order with the same key
 * are the same batch again, to the byte, whatever was cut off before. Its tables take 113
 * bytes of memory a document.
 */
export async function sealBatch(
  deps: SealDeps,
  documents: AsyncIterable<DocumentFields>,
  idempotencyKey: string,
): Promise<SealedBatch> {
  const { registry, issuerId, subkeys, seal, hkdf, hmac, keyOwner } = deps
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
      const keys = deriveSealingKeys(subkeys, idempotentSalt(subkeys, item, hmac), hkdf)
      const { bytes, documentHash } = await seal(document, keys, encoded)
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
      // A chunk has up to 1 MiB: each is a group of its own.
      for (const chunk of batch.chunks()) await deps.keep([blockOf(chunk)])
      await keeper.add(blockOf(batch.manifestBlock))
      await keeper.end()
    },
  }
}

function blockOf(bytes: Uint8Array): Block {
  return { hash: digestOf('sha256', bytes, 'buffer'), bytes }
}

/** Keeps items in groups. */
type Keeper<T> = {
  /** Resolves when there is room for more. */
  add(item: T): Promise<void>
  /** Resolves when all are kept. */
  end(): Promise<void>
}

/**
 * @param group Items in each group.
 * @param ahead How many groups are being kept while the next one gathers.
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
    // Reported at the next wait for it.
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
