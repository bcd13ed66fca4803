// `node scripts/run.mjs tools/bench/library.ts`: measures a verdict without the gateway, on a local
// chain; prints milliseconds.
import { randomBytes } from 'node:crypto'
import type { Document } from '#document/document.ts'
import { toHex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '#document/keys.ts'
import { encodePublicId } from '#document/public-id.ts'
import { seal } from '#document/sealed.ts'
import { serveHttp } from '#test/support/http.ts'
import { createBundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import { verify } from '#verifier/verify.ts'
import { startInstantChain } from './chain.ts'
import { issueHashes } from './direct.ts'
import { inFolder } from './measure.ts'
import { quantile } from './quantile.ts'
import { documentOf } from './requests.ts'

const ROUNDS = 200
const WARM_UP = 20
/** Other documents that give the tries some depth. */
const OTHERS = 2_000

async function measure(dataDir: string): Promise<void> {
  const chain = await startInstantChain(dataDir)
  const { registry } = chain
  const provider = createFetchProvider(chain.url)
  const document: Document = { ...documentOf(18_151_210), registry, issuerId: 1 }
  const keys = deriveSealingKeys(deriveSubkeys(randomBytes(32)), randomSalt())
  const { bytes, documentHash: hash } = await seal(document, keys)
  const { documentKey } = keys
  const publicId = encodePublicId({ kind: 'single', issuerId: 1, hash, documentKey })
  const limits = { documents: OTHERS + 1, seconds: Number.POSITIVE_INFINITY, inFlight: 1 }
  await issueHashes(chain, limits, (i) => toHex(i === 0 ? hash : randomBytes(32)))
  const gateway = await serveHttp((_, response) => response.end(bytes))
  const blocks = [createIpfsGatewaySource(gateway.url)]
  const reader = createChainReader(provider, registry)
  const readers = Array.from({ length: 3 }, () => createChainReader(provider, registry))
  const quorum = createQuorumReader(readers, 2)
  const proving = createProvingReader(provider, registry)
  const bundle = await createBundle(publicId, { provider, registry, blocks })
  const text = JSON.stringify(bundle)
  const trustedBlocks = [readBundle(bundle).block.blockHash]

  const judge = async (work: () => Promise<{ valid: boolean }>) => {
    if (!(await work()).valid) throw new Error('a measured verdict is not valid')
  }
  console.log(`${limits.documents} records, ${ROUNDS} rounds, one at a time`)
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

  await gateway.close()
  await chain.stop()
}

async function time(name: string, work: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < WARM_UP; i++) await work()
  const taken: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const start = performance.now()
    await work()
    taken.push(performance.now() - start)
  }
  taken.sort((a, b) => a - b)
  const at = (part: number) => quantile(taken, part).toFixed(1)
  console.log(`${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`)
}

await inFolder(measure)
