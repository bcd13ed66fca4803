import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '@noble/hashes/sha2.js'
import { Wallet } from 'ethers'
import { buildBatch } from '#document/batch/batch.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import { type Document, validUntilOf } from '#document/document.ts'
import { toHex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '#document/keys.ts'
import { encodePublicId } from '#document/public-id.ts'
import { seal } from '#document/sealed.ts'
import { ensureRegistry } from '#operate/local-registry.ts'
import {
  type Bundle,
  createBundle,
  createFetchProvider,
  createIpfsGatewaySource,
} from '#verifier/index.ts'
import { REVOCATION_REASONS, SUSPENDED } from '#verifier/reasons.ts'
import type { PageConfig } from '#web/config.ts'
import { startAnvilNode } from '../../support/anvil.ts'
import { startBlockServer } from '../../support/block-server.ts'
import { miningFirst } from '../../support/corpus/chain.ts'
import { ADA, randomKey } from '../../support/given.ts'
import { bodyOf, serveHttp } from '../../support/http.ts'
import { PERMISSION, transact } from '../../support/transact.ts'

/**
 * How requests are treated: forwarded, held back while this is set, cut off, or answered with 404.
 */
type Manner = 'answers' | 'hangs' | 'hangs up' | 'missing'

/**
 * A chain of any id with a registry, a node, and a content source that pages of any origin may
 * read.
 */
export type PageWorld = {
  config: PageConfig
  node: Manner
  content: Manner
  /** @returns The publicId and the documentHash. */
  issue(fields?: Partial<Document>): Promise<{ publicId: string; hash: Uint8Array }>
  /** @returns The publicId of the first of two documents that one transaction issues. */
  issueInBatch(fields?: Partial<Document>): Promise<string>
  revoke(hash: Uint8Array): Promise<void>
  suspend(hash: Uint8Array): Promise<void>
  supersede(hash: Uint8Array): Promise<void>
  /** Revokes or releases a document with an account that is distrusted afterwards. */
  steal(name: 'revoke' | 'release', hash: Uint8Array): Promise<void>
  /** Closes the issuer, or opens it again. */
  setClosed(closed: boolean): Promise<void>
  bundle(publicId: string): Promise<Bundle>
  stop(): Promise<void>
}

const ISSUER_ID = 1

/** @param issuer The issuer's entry in the registry. */
export async function startPageWorld(
  chainId: number,
  issuer: { name: string; uri: string },
): Promise<PageWorld> {
  const dir = mkdtempSync(join(tmpdir(), 'document-registry-page-world-'))
  const anvil = await startAnvilNode(dir, ['--chain-id', String(chainId)])
  const blocks = await startBlockServer()
  const provider = miningFirst(createFetchProvider(anvil.url))
  const [adminKey, issuerKey] = [randomKey(), randomKey()]
  const account = new Wallet(issuerKey).address
  for (const address of [new Wallet(adminKey).address, account])
    await anvil.request('anvil_setBalance', address, '0xde0b6b3a7640000')
  const registry = await ensureRegistry(provider, adminKey, {
    account,
    ...issuer,
  })
  const subkeys = deriveSubkeys(new Uint8Array(32))

  const server = await serveHttp(async (request, response) => {
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', '*')
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end()
      return
    }
    const toNode = request.url === '/rpc'
    const body = await bodyOf(request)
    const now = () => (toNode ? world.node : world.content)
    while (now() === 'hangs' && !response.closed) await sleep(20)
    const manner = now()
    if (manner === 'hangs up') {
      response.destroy()
      return
    }
    if (manner === 'missing') {
      response.writeHead(404).end()
      return
    }
    const answer = toNode
      ? await fetch(anvil.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        })
      : await fetch(blocks.url + request.url)
    response.writeHead(answer.status)
    response.end(new Uint8Array(await answer.arrayBuffer()))
  })

  async function sealOne(fields: Partial<Document>) {
    const keys = deriveSealingKeys(subkeys, randomSalt())
    const document = { ...ADA, ...fields, registry, issuerId: ISSUER_ID }
    const { bytes, documentHash } = await seal(document, keys)
    blocks.set(documentHash, bytes)
    const { documentKey } = keys
    return { documentHash, documentKey, validUntil: validUntilOf(document) }
  }

  async function revokeFor(hash: Uint8Array, reason: number): Promise<void> {
    const args = [ISSUER_ID, toHex(hash), reason]
    await transact(provider, registry, issuerKey, 'revoke', args)
  }

  const world: PageWorld = {
    config: {
      registry,
      rpc: [`${server.url}/rpc`],
      ipfs: [server.url],
      maxHeadAge: 86_400,
    },
    node: 'answers',
    content: 'answers',
    async issue(fields = {}) {
      const { documentHash, documentKey, validUntil } = await sealOne(fields)
      const args = [ISSUER_ID, documentHash, validUntil]
      await transact(provider, registry, issuerKey, 'issue', args)
      return {
        publicId: encodePublicId({
          kind: 'single',
          issuerId: ISSUER_ID,
          hash: documentHash,
          documentKey,
        }),
        hash: documentHash,
      }
    },
    async issueInBatch(fields = {}) {
      const entries = [await sealOne(fields), await sealOne({})] as const
      const batch = await buildBatch({ registry, issuerId: ISSUER_ID }, entries)
      const args = [ISSUER_ID, batch.root, batch.size, batch.manifest]
      await transact(provider, registry, issuerKey, 'issueBatch', args)
      const [{ documentHash, documentKey }] = entries
      const block = batch.blockOf(documentHash)
      if (!block) throw new Error('no such document in the batch')
      const bytes = encodeBatchBlock(block)
      const hash = sha256(bytes)
      blocks.set(hash, bytes)
      return encodePublicId({
        kind: 'batch',
        issuerId: ISSUER_ID,
        hash,
        documentKey,
      })
    },
    revoke: (hash) => revokeFor(hash, REVOCATION_REASONS.privilegeWithdrawn),
    suspend: (hash) => revokeFor(hash, SUSPENDED),
    supersede: (hash) => revokeFor(hash, REVOCATION_REASONS.superseded),
    async steal(name, hash) {
      const thief = randomKey()
      const { address } = new Wallet(thief)
      await anvil.request('anvil_setBalance', address, '0xde0b6b3a7640000')
      const manage = (method: string, ...args: unknown[]) =>
        transact(provider, registry, adminKey, method, [ISSUER_ID, address, ...args])
      await manage('addAccount', PERMISSION.revoke)
      const reason = name === 'revoke' ? [REVOCATION_REASONS.keyCompromise] : []
      await transact(provider, registry, thief, name, [ISSUER_ID, toHex(hash), ...reason])
      await manage('distrustFrom', await provider.request({ method: 'eth_blockNumber' }))
    },
    async setClosed(closed) {
      const method = closed ? 'closeIssuer' : 'reopenIssuer'
      await transact(provider, registry, adminKey, method, [ISSUER_ID])
    },
    bundle: (publicId) =>
      createBundle(publicId, {
        provider,
        registry,
        blocks: [createIpfsGatewaySource(blocks.url)],
      }),
    async stop() {
      await server.close()
      await blocks.close()
      await anvil.kill()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  return world
}
