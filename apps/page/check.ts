import type { Hex } from '#document/hex.ts'
import { parseRegistryId } from '#document/registry-id.ts'
import { headAgeOf, majorityOf } from '#verifier/defaults.ts'
import {
  type BlockSource,
  type Check,
  createFetchProvider,
  createIdentitySource,
  type ProofOptions,
  type VerifyOptions,
  verify,
  verifyBundle,
  verifyCredential,
  verifyPresentation,
  verifyPresentationProof,
} from '#verifier/index.ts'
import { toQuantity } from '#verifier/readers/rpc-codec.ts'
import type { Sources } from './config.ts'
import { type Findings, type PageVerdict, weigh } from './findings.ts'
import { mayAsk } from './identity.ts'
import { type ExcerptSubject, isExcerpt, proofBlockOf, type Subject } from './input.ts'
import { blocksOf, patienceOf, readerOf, registryOf } from './readers.ts'

type Watch = { onCheck: (check: Check) => void; signal: AbortSignal }

/**
 * Checks the reader's input with the library and the reader's sources. For a file with a proof, it
 * also checks the document with the nodes.
 *
 * @param watch.onCheck Called with each check of the nodes' answer as soon as it is done.
 * @returns The findings, and the blocks that were read for them.
 * @throws The signal's reason, once it aborts.
 */
export async function check(
  subject: Subject,
  sources: Sources,
  watch: Watch,
): Promise<Findings & { blocks: Uint8Array[] }> {
  const blocks: Uint8Array[] = []
  const [statement, attempt] = await Promise.all([
    checkProof(subject, sources, watch.signal),
    sources.rpc.length > 0 ? checkNow(subject, sources, { ...watch, blocks }) : undefined,
  ])
  if (statement) return { ...weigh(statement, attempt), blocks }
  if (!attempt) throw new Error('there are no sources')
  return { verdict: attempt, live: true, blocks }
}

async function checkNow(
  subject: Subject,
  sources: Sources,
  { blocks, ...watch }: Watch & { blocks: Uint8Array[] },
): Promise<PageVerdict> {
  const { chainId } = parseRegistryId(sources.registry)
  const maxHeadAge = sources.maxHeadAge ?? headAgeOf(chainId)
  const carried = 'carried' in subject ? subject.carried : undefined
  const options: VerifyOptions = {
    chain: readerOf(sources),
    blocks: blocksOf(sources, carried).map((source) => remembering(source, blocks)),
    ...(maxHeadAge !== undefined && { maxHeadAge }),
    ...watch,
  }
  if (isExcerpt(subject)) {
    const { disclosed: fields, ...rest } = await checkExcerpt(subject, sources, options)
    return { ...rest, fields }
  }
  const { document: fields, ...rest } = await verify(subject.publicId, options)
  return { ...rest, fields }
}

/** The keys of credentials are at the issuer's domain, so their verdict waits for it. */
function checkExcerpt(
  { presentation, credential, shownTo }: ExcerptSubject,
  sources: Sources,
  options: VerifyOptions,
) {
  if (credential === undefined) return verifyPresentation(presentation, options)
  const identity = mayAsk(sources) && { identity: createIdentitySource() }
  return verifyCredential(credential, { ...options, ...identity, ...shownTo })
}

/** @param found Receives the source's bytes, right or wrong. */
function remembering(source: BlockSource, found: Uint8Array[]): BlockSource {
  return {
    async get(hash, options) {
      const read = await source.get(hash, options)
      if (read.status === 'found') found.push(read.bytes)
      return read
    },
  }
}

/**
 * A proof in a file counts only if its block is part of the chain, according to the reader or the
 * nodes.
 *
 * @returns `undefined` if there is no proof.
 */
async function checkProof(
  subject: Subject,
  sources: Sources,
  signal: AbortSignal,
): Promise<PageVerdict | undefined> {
  const block = proofBlockOf(subject)
  if (!block) return undefined
  const { trustedBlock } = subject
  const isTrusted = trustedBlock === undefined && (await isOfChain(block, sources, signal))
  signal.throwIfAborted()
  const options: ProofOptions = {
    registry: registryOf(sources),
    trustedBlocks: [
      ...(trustedBlock ? [trustedBlock] : []),
      ...(isTrusted ? [block.blockHash] : []),
    ],
  }
  if (isExcerpt(subject)) {
    const { disclosed: fields, ...rest } = await verifyPresentationProof(
      subject.presentation,
      options,
    )
    return { ...rest, fields }
  }
  const { document: fields, ...rest } = await verifyBundle(subject.bundle, options)
  return { ...rest, fields }
}

/** @returns Whether enough nodes of the registry's chain have this block. */
async function isOfChain(
  { blockNumber, blockHash }: { blockNumber: number; blockHash: Hex },
  sources: Sources,
  signal: AbortSignal,
): Promise<boolean> {
  const { registry, rpc } = sources
  const { chainId } = parseRegistryId(registry)
  const confirms = async (url: string) => {
    const { request } = createFetchProvider(url, patienceOf(sources))
    const [id, block] = await Promise.all([
      request({ method: 'eth_chainId', signal }),
      request({
        method: 'eth_getBlockByNumber',
        params: [toQuantity(blockNumber), false],
        signal,
      }),
    ])
    const { hash } = (block ?? {}) as { hash?: string }
    return id === toQuantity(chainId) && hash === blockHash
  }
  const answers = await Promise.all(rpc.map((url) => confirms(url).catch(() => false)))
  return answers.filter((yes) => yes).length >= majorityOf(rpc.length)
}
