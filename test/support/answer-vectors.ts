import { fromHex, type Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { verifyBundle } from '#verifier/bundle.ts'
import { RpcResponseError } from '#verifier/errors.ts'
import {
  type ChainReading,
  type DocumentKey,
  type Eip1193Provider,
  REGISTRY_STATUSES,
} from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import { encodeVerificationCall } from '#verifier/readers/verification-codec.ts'

// Must not import Node modules: it also runs in a browser.

type Key = {
  issuerId: number
  documentHash: string
  batch: { root: string; validUntil: number; proof: string[] } | null
}
type Answer = Key & { name: string; block: number | null; answer: unknown }
type Trust = { registry: RegistryId; trustedBlocks: string[]; codeHash: string }
type Change = { at: (string | number)[]; value?: unknown }
type Node = { latest: string; blocks?: Record<string, string> } | null
/** The expected result, or the code of the expected failure. */
type Expected = { expected: object }

/** tools/corpus/vectors/verifications.json, bundles.json and quorums.json */
export type AnswerVectors = {
  verifications: {
    registry: RegistryId
    cases: (Answer & { data: string; reading: object })[]
    mustFail: (Answer & { code: string })[]
  }
  bundles: {
    cases: (Trust & Expected & { name: string; bundle: object })[]
    mustFail: (Partial<Trust> &
      Expected & {
        name: string
        of?: string
        text?: string
        changes?: Change[]
      })[]
  }
  quorums: {
    registry: RegistryId
    cases: (Key &
      Expected & {
        name: string
        block: number | null
        quorum: number
        nodes: Node[]
      })[]
  }
}

/** The actual and the expected result of a vector. */
export type Outcome = { name: string; got: unknown; expected: unknown }

/** Reads the vectors of answers, bundles and several nodes. */
export async function* outcomesOf({
  verifications,
  bundles,
  quorums,
}: AnswerVectors): AsyncGenerator<Outcome> {
  for (const one of verifications.cases) {
    const { data, reading: expected, name } = one
    const got = await readingOf(one, verifications.registry)
    yield { name, got, expected }
    const asked = encodeVerificationCall(keyOf(one))
    yield { name: `${name}, the call`, got: asked, expected: data }
  }
  for (const one of verifications.mustFail) {
    const got = await readingOf(one, verifications.registry)
    yield { name: one.name, got, expected: { code: one.code } }
  }
  for (const one of bundles.cases) {
    const got = await verdictOf(JSON.stringify(one.bundle), one)
    yield { name: one.name, got, expected: one.expected }
  }
  for (const one of bundles.mustFail) {
    const base = bundles.cases.find(({ name }) => name === one.of)
    const bundle = changed(base?.bundle ?? {}, one.changes ?? [])
    const trust = { ...base, ...one } as unknown as Trust
    const found = await verdictOf(one.text ?? JSON.stringify(bundle), trust)
    const got = 'error' in found ? found : { status: found.status, notPassed: found.notPassed }
    yield { name: one.name, got, expected: one.expected }
  }
  for (const one of quorums.cases) {
    const readers = one.nodes.map((node) => createChainReader(providerOf(node), quorums.registry))
    const reader = createQuorumReader(readers, one.quorum)
    const got = await codeOrShape(() => reader.read(keyOf(one), at(one.block)))
    const { reading, ...code } = one.expected as { reading?: object }
    yield { name: one.name, got, expected: reading ?? code }
  }
}

/** The number of outcomes. */
export function countOf(vectors: AnswerVectors): number {
  const { verifications, bundles, quorums } = vectors
  return (
    2 * verifications.cases.length +
    verifications.mustFail.length +
    bundles.cases.length +
    bundles.mustFail.length +
    quorums.cases.length
  )
}

const at = (block: number | null) => (block === null ? {} : { block })

function keyOf({ issuerId, documentHash, batch }: Key): DocumentKey {
  const alone = { issuerId, documentHash: documentHash as Hex }
  if (!batch) return alone
  const proof = fromHex(`0x${batch.proof.map((sibling) => sibling.slice(2)).join('')}`)
  const { root, validUntil } = batch
  return { ...alone, batch: { root: root as Hex, validUntil, proof } }
}

const NOBODY = {
  account: `0x${'00'.repeat(20)}`,
  accountIndex: 0,
  permissions: 0,
  addedBlock: 0,
  changedBlock: 0,
  retiredBlock: 0,
  distrustedFrom: 0,
}

/** @returns A reading in the ABI's structure. */
function shapeOf({ status, revoker, issuer, ...rest }: ChainReading): object {
  const { id: _, ...registered } = issuer
  return {
    ...rest,
    chainId: 31337,
    status: REGISTRY_STATUSES.indexOf(status),
    revoker: revoker ?? NOBODY,
    issuer: registered,
  }
}

async function codeOrShape(read: () => Promise<ChainReading>): Promise<{ code?: string }> {
  try {
    return shapeOf(await read())
  } catch (error) {
    return { code: String((error as { code?: string }).code ?? error) }
  }
}

function readingOf(one: Answer, registry: RegistryId): Promise<object> {
  const provider = { request: async () => one.answer }
  const reader = createChainReader(provider, registry)
  return codeOrShape(() => reader.read(keyOf(one), at(one.block)))
}

async function verdictOf(text: string, { registry, trustedBlocks, codeHash }: Trust) {
  try {
    const verdict = await verifyBundle(text, {
      registry,
      trustedBlocks: trustedBlocks as Hex[],
      codeHash: codeHash as Hex,
    })
    const { status, checks, document = null, asOf } = verdict
    const notPassed = checks
      // Leaves out the identity check, which does not depend on the bundle.
      .filter(({ check, outcome }) => outcome !== 'pass' && check !== 'identity')
      .map(({ check, outcome, code }) => `${check} ${outcome} ${code}`)
    return { status, notPassed, document, asOf }
  } catch (error) {
    return { error: String((error as { code?: string }).code ?? error) }
  }
}

/** @returns The bundle with changed members; `undefined` removes a member. */
function changed(bundle: object, changes: readonly Change[]): object {
  const copy = JSON.parse(JSON.stringify(bundle))
  for (const { at, value } of changes) {
    const [member, ...way] = at.toReversed()
    const parent = way
      .toReversed()
      .reduce<Record<string, never>>(
        (part, name) => part[name] ?? {},
        copy as Record<string, never>,
      ) as Record<string, unknown>
    if (value === undefined) delete parent[String(member)]
    else parent[String(member)] = value
  }
  return copy
}

/** @returns A node that has the state of its newest block and the listed blocks only. */
function providerOf(node: Node): Eip1193Provider {
  return {
    async request({ params = [] }) {
      if (node === null) throw new Error('down')
      const block = String((params as unknown[])[1])
      const answer = block === 'latest' ? node.latest : node.blocks?.[Number(block)]
      if (answer === undefined) throw new RpcResponseError(-32000, 'missing trie node', undefined)
      return answer
    },
  }
}
