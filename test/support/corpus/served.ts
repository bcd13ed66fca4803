import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeUtf8 } from '#document/bytes.ts'
import { cidOf } from '#document/cid.ts'
import { FormatError } from '#document/errors.ts'
import type { BlockSource, Eip1193Provider } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createProvider } from '#verifier/readers/json-rpc.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import { type Case, type NodeKind, readCases } from './case.ts'
import { type Chain, startChain } from './chain.ts'
import { verifyGiven } from './judge.ts'
import { type Answer, answerOf, askNode, type Call, deafReplyOf, replyWith } from './nodes.ts'
import { makePayload } from './payload.ts'
import type { Reply } from './reply.ts'
import { repliesOf, type SetUp } from './serve.ts'
import { CHAIN_ID, type CorpusCase, describeCase, OTHER_CHAIN_ID } from './world.ts'

/**
 * The present of the recorded chains in Unix seconds. It is in the past, so that no clock is behind
 * it.
 */
const NOW = Date.UTC(2026, 6, 1) / 1000
/** A placeholder for the 8 hexadecimal digits of the present in a recorded answer. */
const NOW_MARK = '<now>'

/**
 * A reply as JSON, with the body as `text`, in `base64` if it is not UTF-8, or as a number of
 * `zeros`.
 */
export type ServedReply =
  | 'never'
  | 'hang up'
  | {
      status: number
      type?: string
      text?: string
      base64?: string
      zeros?: number
      unfinished?: true
    }

export type ServedCall = { method: string; params: unknown[] } & Answer

/**
 * The content of tools/corpus/cases/<case>/served.json: a case and all answers of its nodes and
 * sources.
 */
export type Served = Omit<CorpusCase, 'title' | 'why'> & {
  get: Record<string, ServedReply>
  post: Record<string, ServedReply | ServedCall[]>
}

/**
 * Sets up cases on real chains, each from the same block, and records the answers of their nodes
 * and sources. The result of a case does not depend on the run or on other cases.
 *
 * @param names The cases to record; absent = all.
 */
export async function* recordCases(names?: readonly string[]): AsyncGenerator<Served> {
  const dir = mkdtempSync(join(tmpdir(), 'document-registry-corpus-'))
  const chains: Chain[] = []
  async function start(chainId: number): Promise<Chain> {
    const path = join(dir, String(chainId))
    mkdirSync(path)
    const chain = await startChain(path, chainId, NOW)
    chains.push(chain)
    return chain
  }
  try {
    const [main, other] = [await start(CHAIN_ID), await start(OTHER_CHAIN_ID)]
    for (const one of readCases()) {
      if (names && !names.includes(one.name)) continue
      const made = await makePayload(one)
      yield await main.undone(async () => {
        const marks = await main.perform(one, made)
        await main.catchUp()
        const setUp = { case: one, made, chain: main, marks }
        if (!one.nodes.includes('other_chain')) return record(setUp, other)
        return other.undone(async () => {
          await other.perform(one, made)
          await other.catchUp()
          return record(setUp, other)
        })
      })
    }
  } finally {
    for (const chain of chains) await chain.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function record(setUp: SetUp, otherChain: Chain): Promise<Served> {
  const { title, why, ...described } = describeCase(setUp, '')
  const replies = repliesOf(setUp)
  const nodes = setUp.case.nodes.map((kind) =>
    recordNode(kind, {
      url: (kind === 'other_chain' ? otherChain : setUp.chain).url,
      marks: setUp.marks,
    }),
  )
  await askAll(
    described,
    nodes.map(({ provider }) => provider),
    described.ipfs.map((path) => sourceOf(path, replies)),
  )
  const get = [...replies].map(([path, reply]) => [path, servedReply(reply)] as const)
  const post = await Promise.all(
    nodes.map(async ({ served }, i) => [described.rpc[i] ?? '', await served()] as const),
  )
  return {
    ...described,
    get: Object.fromEntries(get),
    post: Object.fromEntries(post),
  }
}

/** Makes all requests of a verifier, as described in docs/formats.md. */
async function askAll(
  one: Omit<CorpusCase, 'title' | 'why'>,
  providers: readonly Eip1193Provider[],
  blocks: readonly BlockSource[],
): Promise<void> {
  // Clients in other languages often read the chain id first.
  for (const provider of providers)
    await provider.request({ method: 'eth_chainId' }).catch(() => {})
  const readers = providers.map((each) => createChainReader(each, one.registry))
  await verifyGiven(one, {
    chain: createQuorumReader(readers, one.quorum ?? 1),
    blocks,
    now: NOW,
    maxHeadAge: one.maxHeadAge,
    ...(one.asOf !== null && { asOf: one.asOf }),
  }).catch((error) => {
    if (!(error instanceof FormatError)) throw error
  })
}

type RecordedNode = {
  provider: Eip1193Provider
  /** @returns The requests and answers, once all answers have arrived. */
  served(): Promise<ServedReply | ServedCall[]>
}

function recordNode(
  kind: NodeKind,
  { url, marks }: { url: string; marks: Record<string, number> },
): RecordedNode {
  const deaf = deafReplyOf(kind)
  const asked = new Map<string, Promise<ServedCall>>()
  async function ask({ method, params = [] }: Call): Promise<ServedCall> {
    const call = { method, params }
    const answer = await answerOf(kind, call, (c) => askNode(url, c), marks)
    return { ...call, ...markNow(answer) }
  }
  return {
    provider: createProvider(async (body) => {
      if (deaf) return textOf(deaf)
      const call = JSON.parse(body) as Call
      const key = JSON.stringify([call.method, call.params])
      const served = asked.get(key) ?? ask(call)
      asked.set(key, served)
      const { method, params, ...answer } = await served
      return textOf(replyWith(call, withNow(answer)))
    }),
    async served() {
      if (deaf) return servedReply(deaf)
      const calls = await Promise.all(asked.values())
      const keyOf = (call: ServedCall) => JSON.stringify([call.method, call.params])
      return calls.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    },
  }
}

/** Matches an ABI word that is the present. */
const NOW_WORD = NOW.toString(16).padStart(64, '0')
const MARKED_WORD = NOW_MARK.padStart(56 + NOW_MARK.length, '0')

const markNow = (answer: Answer): Answer =>
  JSON.parse(JSON.stringify(answer).replaceAll(NOW_WORD, MARKED_WORD))

const withNow = (answer: Answer): Answer =>
  JSON.parse(JSON.stringify(answer).replaceAll(MARKED_WORD, NOW_WORD))

function textOf(reply: Reply): string {
  if (typeof reply === 'string') throw new Error(reply)
  if (reply.status !== 200) throw new Error(`HTTP ${reply.status}`)
  return decodeUtf8(reply.body ?? new Uint8Array())
}

function sourceOf(path: string, replies: ReadonlyMap<string, Reply>): BlockSource {
  return {
    async get(hash) {
      const reply = replies.get(`${path}/ipfs/${cidOf(hash)}`)
      if (typeof reply !== 'object' || reply.unfinished) throw new Error('down')
      if (reply.status === 404 || reply.status === 410) return { status: 'missing' }
      if (reply.status !== 200) throw new Error(`HTTP ${reply.status}`)
      return { status: 'found', bytes: reply.body ?? new Uint8Array() }
    },
  }
}

function servedReply(reply: Reply): ServedReply {
  if (typeof reply === 'string') return reply
  const { body, ...head } = reply
  if (body === undefined) return head
  if (body.length > 0 && body.every((byte) => byte === 0)) return { ...head, zeros: body.length }
  try {
    return { ...head, text: decodeUtf8(body) }
  } catch {
    return { ...head, base64: Buffer.from(body).toString('base64') }
  }
}

/** @returns The text of served.json. */
export function formatServed(served: Served): string {
  return `${JSON.stringify(served, null, 1)}\n`
}

export const servedFile = ({ name }: Pick<Case, 'name'>): URL =>
  new URL(`../../../tools/corpus/cases/${name}/served.json`, import.meta.url)
