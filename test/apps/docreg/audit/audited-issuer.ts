import { sha256 } from '@noble/hashes/sha2.js'
import { Wallet } from 'ethers'
import { buildBatch } from '#document/batch/batch.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import { type Document, validUntilOf } from '#document/document.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '#document/keys.ts'
import { encodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { seal } from '#document/sealed.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import type { AnvilNode } from '../../../support/anvil.ts'
import type { BlockServer } from '../../../support/block-server.ts'
import { ADA, randomKey } from '../../../support/given.ts'
import { patient } from '../../../support/patient.ts'
import { deployRegistry, PERMISSION, setTexts, transact } from '../../../support/transact.ts'

const DAY = 86_400
/** Reason codes of RFC 5280. */
export const REASON = { keyCompromise: 1, superseded: 4, hold: 6 }

/** A sealed document. */
export type Made = { documentHash: Hex; publicId: string; validUntil: number; bytes: Uint8Array }

/** An issuer with accounts, documents and batches, in which faults can be planted. */
export type AuditedIssuer = Awaited<ReturnType<typeof createAuditedIssuer>>

/** Deploys a registry in which issuer 1 has had its accounts for a month. */
export async function createAuditedIssuer(anvil: AnvilNode, blocks: BlockServer) {
  const keys = { admin: randomKey(), manager: randomKey(), issuer: randomKey(), thief: randomKey() }
  const addresses = Object.fromEntries(
    Object.entries(keys).map(([name, key]) => [name, new Wallet(key).address.toLowerCase()]),
  ) as Record<keyof typeof keys, Hex>
  for (const address of Object.values(addresses))
    await anvil.request('anvil_setBalance', address, '0x56bc75e2d63100000')
  const provider = patient(createFetchProvider(anvil.url))
  const registry = await deployRegistry(provider, keys, { name: 'Old name', uri: '' })
  const send = (by: keyof typeof keys, name: string, ...args: unknown[]) =>
    transact(provider, registry, keys[by], name, args)
  const all = PERMISSION.issue | PERMISSION.revoke | PERMISSION.manage
  await send('manager', 'setPermissions', 1, addresses.manager, all)
  const pass = async (seconds: number) => {
    await anvil.request('evm_increaseTime', seconds)
    await anvil.request('anvil_mine', '0x1')
  }
  await pass(30 * DAY)

  async function make(fields: object = {}): Promise<Made> {
    const document: Document = { ...ADA, registry, issuerId: 1, ...fields }
    const sealing = deriveSealingKeys(deriveSubkeys(new Uint8Array(32)), randomSalt())
    const { bytes, documentHash: hash } = await seal(document, sealing)
    blocks.set(hash, bytes)
    const { documentKey } = sealing
    const publicId = encodePublicId({ kind: 'single', issuerId: 1, hash, documentKey })
    return { documentHash: toHex(hash), publicId, validUntil: validUntilOf(document), bytes }
  }

  return {
    registry: registry as RegistryId,
    addresses,
    send,
    /** Sets name and URI to bytes that may not be UTF-8. */
    setTexts: (issuerId: number, texts: { name: Uint8Array; uri: Uint8Array }) =>
      setTexts(provider, registry, keys.admin, issuerId, texts),
    make,
    pass,
    /** Seals and issues a document. */
    async issue(fields: object = {}, by: keyof typeof keys = 'issuer') {
      const made = await make(fields)
      await send(by, 'issue', 1, made.documentHash, made.validUntil)
      return made
    },
    /** Issues documents as a batch, and serves manifest and batch blocks. */
    async issueBatch(count: number) {
      const documents = await Promise.all(Array.from({ length: count }, () => make()))
      const entries = documents.map(({ documentHash, validUntil }) => ({
        documentHash: fromHex(documentHash),
        validUntil,
      }))
      const batch = await buildBatch({ registry, issuerId: 1 }, entries)
      await send('issuer', 'issueBatch', 1, batch.root, batch.size, batch.manifest)
      blocks.set(fromHex(batch.manifest), batch.manifestBlock)
      for (const chunk of batch.chunks()) blocks.set(sha256(chunk), chunk)
      const batchBlocks = [...batch.blocks()].map(encodeBatchBlock)
      for (const block of batchBlocks) blocks.set(sha256(block), block)
      return { batch, documents, batchBlocks }
    },
  }
}
