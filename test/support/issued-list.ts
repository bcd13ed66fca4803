import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, toHex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { type AnvilNode, startAnvilNode } from './anvil.ts'
import { deployRegistry, PERMISSION, transact } from './transact.ts'

// Anvil's first three accounts.
const KEYS = {
  admin: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  manager: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  issuer: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  thief: '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
} as const
const MANAGER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
/** The account of issuer 1. */
export const ISSUER = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'

/** An account of issuer 1 once {@link releaseAsThief} has added it. It issues nothing. */
export const THIEF = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'

/** @returns A hash for this number; hashes of one kind are in ascending order. */
export const hashOf = (kind: number, index: number): Hex =>
  toHex(Uint8Array.from({ length: 32 }, (_, i) => (i < 31 ? kind : index)))

/** Documents of issuer 1; index 3 is revoked and index 4 suspended. */
export const documents = Array.from({ length: 30 }, (_, i) => hashOf(1, i))
export const roots = [hashOf(2, 0), hashOf(2, 1)]
/** A document of issuer 2. */
export const ofAnother = hashOf(3, 0)
/** A document that is revoked in the first batch of issuer 1. */
export const inBatch = hashOf(4, 0)

/**
 * Deploys a registry in which issuer 1 has issued {@link documents} and {@link roots}. The first 20
 * are in the eighth block from the end.
 *
 * @returns The CAIP-10 account ID of the registry.
 */
export async function issueList(provider: Eip1193Provider): Promise<RegistryId> {
  const issuer = { name: 'One', uri: '' }
  const registry = await deployRegistry(provider, KEYS, issuer)
  const send = (key: keyof typeof KEYS, name: string, args: unknown[]) =>
    transact(provider, registry, KEYS[key], name, args)
  await send('admin', 'registerIssuer', [MANAGER, 'Another', ''])
  await send('manager', 'setPermissions', [2, MANAGER, 7])
  // This includes ten duplicates, which the registry skips.
  for (const half of [documents.slice(0, 20), documents.slice(10)])
    await send('issuer', 'issueMany', [1, half, half.map(() => 0)])
  await send('manager', 'issueMany', [2, [ofAnother, documents[0]], [0, 0]])
  for (const root of roots) await send('issuer', 'issueBatch', [1, root, 7, hashOf(5, 0)])
  // A revocation without an anchoring part does not count as a document.
  await send('issuer', 'revokeInBatch', [1, roots[0], [inBatch], 1])
  await send('issuer', 'revoke', [1, documents[3], 1])
  await send('issuer', 'revoke', [1, documents[4], 6])
  return registry
}

/** An Anvil with the list of {@link issueList}. */
export type IssuedList = {
  anvil: AnvilNode
  provider: Eip1193Provider
  /** The CAIP-10 account ID of the registry. */
  registry: RegistryId
  close(): Promise<void>
}

export async function startIssuedList(): Promise<IssuedList> {
  const dir = mkdtempSync(join(tmpdir(), 'issued-list-'))
  const anvil = await startAnvilNode(dir)
  const provider = createFetchProvider(anvil.url, 30_000)
  return {
    anvil,
    provider,
    registry: await issueList(provider),
    async close() {
      await anvil.kill()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** @returns The hash of the newest block. */
export async function hashOfNewest(provider: Eip1193Provider): Promise<Hex> {
  const method = 'eth_getBlockByNumber'
  const block = await provider.request({ method, params: ['latest', false] })
  return (block as { hash: Hex }).hash
}

/** Issues a batch as issuer 2. */
export async function issueBatchOfAnother(
  provider: Eip1193Provider,
  registry: RegistryId,
  { root, size, manifest }: { root: Hex; size: number; manifest: Hex },
): Promise<void> {
  const args = [2, root, size, manifest]
  await transact(provider, registry, KEYS.manager, 'issueBatch', args)
}

/** Distrusts an account of issuer 1 from a block on. */
export async function distrustFrom(
  provider: Eip1193Provider,
  registry: RegistryId,
  block: number,
  account: Hex = ISSUER,
): Promise<void> {
  const args = [1, account, block]
  await transact(provider, registry, KEYS.manager, 'distrustFrom', args)
}

/** {@link THIEF} releases the suspended document, and suspends and releases the first batch. */
export async function releaseAsThief(
  provider: Eip1193Provider,
  registry: RegistryId,
): Promise<void> {
  const send = (key: keyof typeof KEYS, name: string, args: unknown[]) =>
    transact(provider, registry, KEYS[key], name, args)
  await send('manager', 'addAccount', [1, THIEF, PERMISSION.revoke])
  await send('thief', 'release', [1, documents[4]])
  await send('thief', 'revokeBatch', [1, roots[0], 6])
  await send('thief', 'releaseBatch', [1, roots[0]])
}
