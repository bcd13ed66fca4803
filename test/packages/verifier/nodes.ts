import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { type Document, validUntilOf } from '#document/document.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '#document/keys.ts'
import { encodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { seal } from '#document/sealed.ts'
import type { BlockSource, ChainReader, Eip1193Provider } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import { type VerifyOptions, verify } from '#verifier/verify.ts'
import { type AnvilNode, startAnvilNode } from '../../support/anvil.ts'
import { type BlockServer, startBlockServer } from '../../support/block-server.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { ADA, randomKey } from '../../support/given.ts'
import { patient } from '../../support/patient.ts'
import { type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'
import { deployRegistry, transact } from '../../support/transact.ts'

// Three nodes of one chain: two that can be behind, slow or down, and one that can lie.

export const keys = { admin: randomKey(), manager: randomKey(), issuer: randomKey() }
export const dir = mkdtempSync(join(tmpdir(), 'nodes-'))
export const DAY = 86_400

export let anvil: AnvilNode
export let blocks: BlockServer
export let registry: RegistryId
export let honest: [FaultProxy, FaultProxy]
export let liar: RpcProxy
/** A document that is never revoked. */
export let kept: string
export let revoked: string
/** A document that has expired at the newest block. */
export let lapsed: string
/** The number of the block before the revocation, days before the newest block. */
export let before: number

export const send = (name: string, args: unknown[], key = keys.issuer) =>
  transact(patient(createFetchProvider(anvil.url)), registry, key, name, args)

export async function issue(fields: object = {}): Promise<string> {
  const document: Document = { ...ADA, ...fields, registry, issuerId: 1 }
  const sealing = deriveSealingKeys(deriveSubkeys(new Uint8Array(32)), randomSalt())
  const { bytes, documentHash: hash } = await seal(document, sealing)
  blocks.set(hash, bytes)
  await send('issue', [1, hash, validUntilOf(document)])
  hashes.set(bytes, toHex(hash))
  return encodePublicId({
    kind: 'single',
    issuerId: 1,
    hash,
    documentKey: sealing.documentKey,
  })
}
export const hashes = new Map<Uint8Array, Hex>()

/** Starts the nodes for the tests of this file, and heals them after each test. */
export function useNodes(): void {
  beforeAll(async () => {
    anvil = await startAnvilNode(dir)
    for (const key of Object.values(keys))
      await anvil.request('anvil_setBalance', new Wallet(key).address, '0x56bc75e2d63100000')
    registry = await deployRegistry(patient(createFetchProvider(anvil.url)), keys, {
      name: 'Registry office of Testville',
      uri: 'https://testville.example',
    })
    blocks = await startBlockServer()
    const [proxy, other] = [await startFaultProxy(anvil.url), await startFaultProxy(anvil.url)]
    honest = [proxy, other]
    liar = await startRpcProxy(anvil.url)
    kept = await issue({ expiresAt: '2090-01-01' })
    revoked = await issue()
    const revokedHash = [...hashes.values()][1]
    lapsed = await issue({
      expiresAt: new Date().toISOString().slice(0, 10),
    })
    before = Number(await anvil.request<Hex>('eth_blockNumber'))
    await anvil.request('evm_increaseTime', 3 * DAY)
    await send('revoke', [1, revokedHash, 1])
    await anvil.request('anvil_mine', '0x3')
  })

  afterEach(() => {
    for (const proxy of honest) proxy.heal()
    liar.change = (_, result) => result
    liar.refuse = () => false
    liar.fail = () => undefined
  })

  afterAll(async () => {
    // Also runs after a failed start.
    await anvil?.kill()
    for (const server of [...(honest ?? []), liar, blocks]) await server?.close()
    rmSync(dir, { recursive: true, force: true })
  })
}

export const provider = (url: string): Eip1193Provider => createFetchProvider(url, 2_000)
export const reader = ({ url }: { url: string }) => createChainReader(provider(url), registry)
export const source = (): BlockSource => createIpfsGatewaySource(blocks.url)
export const judge = (publicId: string, chain: ChainReader, options: Partial<VerifyOptions> = {}) =>
  verify(publicId, { chain, blocks: [source()], ...options })
export const codeOf = async (...args: Parameters<typeof judge>) =>
  (await judge(...args)).checks[0]?.code

export const twoOfThree = () => createQuorumReader([reader(liar), ...honest.map(reader)], 2)
export const both = (maxLag?: number) =>
  createQuorumReader([reader(liar), reader(honest[0])], 2, {
    ...(maxLag !== undefined && { maxLag }),
  })
export const behind = (proxy: FaultProxy, count: number) => {
  proxy.fault = () => ({ kind: 'stale_head', blocks: count })
}
export const head = async () => Number(await anvil.request<Hex>('eth_blockNumber'))

type Part = Record<string, unknown>
type Told = Part & Record<'record' | 'account' | 'revoker' | 'issuer', Part>
/** Makes the lying node answer `verificationOf` with well-formed lies. */
export function tell(change: (told: Told) => object): void {
  liar.change = (method, result) => {
    if (method !== 'eth_call') return result
    const [told] = registryAbi.decodeFunctionResult('verificationOf', String(result))
    const lie = change(told.toObject(true) as Told)
    return registryAbi.encodeFunctionResult('verificationOf', [lie])
  }
}
/** The registry's answer for a missing part. */
const zeros = (part: Part): Part =>
  Object.fromEntries(Object.entries(part).map(([name, value]) => [name, zeroOf(name, value)]))
function zeroOf(name: string, value: unknown): unknown {
  if (name === 'account') return `0x${'00'.repeat(20)}`
  return typeof value === 'string' ? '' : typeof value === 'boolean' ? false : 0
}
const NOT_REVOKED = {
  revokerIndex: 0,
  revokedBlock: 0,
  revokedAt: 0,
  reason: 0,
}
export const LIES: [string, () => void][] = [
  [
    'a revocation hidden',
    () =>
      tell((told) => ({
        ...told,
        status: 1,
        record: { ...told.record, ...NOT_REVOKED },
        revoker: zeros(told.revoker),
      })),
  ],
  [
    'a record hidden',
    () =>
      tell((told) => ({
        ...told,
        status: 0,
        record: zeros(told.record),
        account: zeros(told.account),
        revoker: zeros(told.revoker),
        issuer: zeros(told.issuer),
      })),
  ],
  [
    'a revocation made up',
    () =>
      tell((told) => ({
        ...told,
        status: 4,
        record: {
          ...told.record,
          revokerIndex: told.record.accountIndex,
          revokedBlock: 9,
          reason: 1,
        },
        revoker: told.account,
      })),
  ],
  [
    'a suspension in the place of a revocation',
    () =>
      tell((told) => ({
        ...told,
        status: 3,
        record: {
          ...told.record,
          revokerIndex: told.record.accountIndex,
          revokedBlock: 9,
          reason: 6,
        },
        revoker: told.account,
      })),
  ],
  [
    'another issuer',
    () =>
      tell((told) => ({
        ...told,
        issuer: { ...told.issuer, name: 'Somebody else' },
      })),
  ],
  [
    'an account that was there before',
    () =>
      tell((told) => {
        const account = { ...told.account, addedBlock: 1 }
        const isRevoked = told.record.revokedBlock !== 0n
        return { ...told, account, ...(isRevoked && { revoker: account }) }
      }),
  ],
  [
    'a revocation set aside',
    () => tell((told) => ({ ...told, record: { ...told.record, setAside: true } })),
  ],
  ['a block that is not there', () => tell((told) => ({ ...told, blockNumber: 10_000_000 }))],
  ['another time', () => tell((told) => ({ ...told, blockTime: 1 }))],
]
