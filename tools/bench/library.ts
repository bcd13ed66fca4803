// `node scripts/run.mjs tools/bench/library.ts`: measures a verdict without the gateway, on a local
// chain; prints milliseconds.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { registryAbi } from '#base/registry-abi.ts'
import type { Document } from '#document/document.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '#document/keys.ts'
import { encodePublicId } from '#document/public-id.ts'
import { seal } from '#document/sealed.ts'
import { startLocalChain } from '#local-chain/local-chain.ts'
import { ensureRegistry } from '#operate/local-registry.ts'
import { createBundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import { createChainReader, parseRegistry } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import { verify } from '#verifier/verify.ts'

const ROUNDS = 200
const WARM_UP = 20
/** Other documents that give the tries some depth. */
const OTHERS = 2_000

const key = toHex(randomBytes(32))
const wallet = new Wallet(key)
const dataDir = mkdtempSync(join(tmpdir(), 'bench-library-'))
const chain = await startLocalChain({
  dataDir,
  port: 0,
  host: '127.0.0.1',
  log: () => {},
  fund: [wallet.address],
})
const provider = createFetchProvider(chain.url)
const registry = await ensureRegistry(provider, key, {
  account: wallet.address,
  name: 'Registry office of Testville',
  uri: 'https://testville.example',
})

const document: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
  registry,
  issuerId: 1,
}
const keys = deriveSealingKeys(deriveSubkeys(randomBytes(32)), randomSalt())
const { bytes, documentHash: hash } = await seal(document, keys)
const publicId = encodePublicId({
  kind: 'single',
  issuerId: 1,
  hash,
  documentKey: keys.documentKey,
})
const hashes = [toHex(hash), ...Array.from({ length: OTHERS }, () => toHex(randomBytes(32)))]
for (let from = 0; from < hashes.length; from += 400)
  await issueMany(hashes.slice(from, from + 400))

const gateway = createServer((_, response) => response.end(bytes))
await new Promise<void>((resolve) => {
  gateway.listen(0, '127.0.0.1', resolve)
})
const { port } = gateway.address() as AddressInfo
const blocks = [createIpfsGatewaySource(`http://127.0.0.1:${port}`)]
const reader = createChainReader(provider, registry)
const quorum = createQuorumReader([reader, reader, reader], 2)
const proving = createProvingReader(provider, registry)
const bundle = await createBundle(publicId, { provider, registry, blocks })
const text = JSON.stringify(bundle)
const trustedBlocks = [readBundle(bundle).block.blockHash]

const judge = async (work: () => Promise<{ valid: boolean }>) => {
  if (!(await work()).valid) throw new Error('a measured verdict is not valid')
}
console.log(`${hashes.length} records, ${ROUNDS} rounds, one at a time`)
await time('verify: one node', () => judge(() => verify(publicId, { chain: reader, blocks })))
await time('verify: one node, with finality', () =>
  judge(() => verify(publicId, { chain: reader, blocks, finality: true })),
)
await time('verify: two of three readers of one node', () =>
  judge(() => verify(publicId, { chain: quorum, blocks })),
)
await time('verify: with storage proofs', () =>
  judge(() => verify(publicId, { chain: proving, blocks })),
)
await time('make a bundle', () => createBundle(publicId, { provider, registry, blocks }))
await time('verify a bundle', () => judge(() => verifyBundle(text, { registry, trustedBlocks })))
console.log(`bundle: ${text.length} bytes`)

gateway.closeAllConnections()
gateway.close()
await chain.stop()
rmSync(dataDir, { recursive: true, force: true })

async function time(name: string, work: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < WARM_UP; i++) await work()
  const taken: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const start = performance.now()
    await work()
    taken.push(performance.now() - start)
  }
  taken.sort((a, b) => a - b)
  const at = (part: number) => (taken[Math.floor(part * (ROUNDS - 1))] ?? 0).toFixed(1)
  console.log(`${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`)
}

async function issueMany(documents: string[]): Promise<void> {
  const { chainId, address } = parseRegistry(registry)
  const count = await provider.request({
    method: 'eth_getTransactionCount',
    params: [wallet.address, 'latest'],
  })
  const raw = await wallet.signTransaction({
    type: 2,
    chainId,
    nonce: Number(count),
    to: address,
    data: registryAbi.encodeFunctionData('issueMany', [1, documents, documents.map(() => 0)]),
    gasLimit: 14_000_000n,
    maxPriorityFeePerGas: 1n,
    maxFeePerGas: 10_000_000_000n,
  })
  // The local chain mines before it answers.
  const transaction = (await provider.request({
    method: 'eth_sendRawTransaction',
    params: [raw],
  })) as Hex
  const receipt = (await provider.request({
    method: 'eth_getTransactionReceipt',
    params: [transaction],
  })) as { status: Hex } | null
  if (receipt?.status !== '0x1') throw new Error('issueMany did not succeed')
}
