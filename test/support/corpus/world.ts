import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cidOf } from '../../../document/cid.ts'
import { type Hex, toHex } from '../../../document/hex.ts'
import { bodyOf, serveHttp } from '../http.ts'
import { givenOf } from './ask.ts'
import { type Case, type Expected, readCases, type SourceKind } from './case.ts'
import { type Chain, startChain } from './chain.ts'
import { answerAs, type Call, type Reply } from './nodes.ts'
import { type Made, makePayload, REGISTRY } from './payload.ts'
import { serveBlock } from './sources.ts'

/** A case that is set up: what its reader holds, and whom he may ask. test/corpus/README.md describes it field by field. */
export type CorpusCase = {
  case: string
  title: string
  why: string
  given: string
  registry: string
  rpc: string[]
  ipfs: string[]
  maxHeadAge: number
  timeout: number
  asOf: number | null
  quorum: number | null
  gateway: { knows: 'promised' | 'erased'; documentHash: Hex } | null
  expected: Expected
}

export type World = {
  cases: CorpusCase[]
  /** The main chain, straight. */
  chainUrl: string
  stop(): Promise<void>
}

const CHAIN_ID = 31337
const OTHER_CHAIN_ID = 1337
/** Seconds. Less than what a stale node is behind, more than any run takes. */
const MAX_HEAD_AGE = 3_600

type SetUp = {
  case: Case
  made: Made
  chain: Chain
  marks: Record<string, number>
}

/** Sets up all cases on real chains, and serves what they need on one free port. */
export async function startWorld(): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'document-registry-corpus-'))
  const chains = new Map<string, Promise<Chain>>()
  const chainOf = (name: string, chainId = CHAIN_ID): Promise<Chain> => {
    const started = chains.get(name) ?? startChain(folder(dir, name), chainId)
    chains.set(name, started)
    return started
  }
  const stopChains = async () => {
    await Promise.all([...chains.values()].map(async (c) => (await c).stop()))
    rmSync(dir, { recursive: true, force: true })
  }

  try {
    const setUps = new Map<string, SetUp>()
    for (const corpusCase of readCases()) {
      const made = await makePayload(corpusCase)
      const own = corpusCase.chain.some(
        (step) => 'travelTo' in step || 'close' in step,
      )
      const chain = await chainOf(own ? corpusCase.name : 'main')
      const marks = await chain.perform(corpusCase, made).catch((cause) => {
        throw new Error(`${corpusCase.name} could not be set up`, { cause })
      })
      if (corpusCase.nodes.includes('other_chain'))
        await (await chainOf('other', OTHER_CHAIN_ID)).perform(corpusCase, made)
      setUps.set(corpusCase.name, { case: corpusCase, made, chain, marks })
    }
    for (const chain of chains.values()) await (await chain).catchUp()
    const main = await chainOf('main')
    if (main.registry !== REGISTRY)
      throw new Error(`the registry is at ${main.registry}, not ${REGISTRY}`)

    const server = await serveHttp(
      serve(setUps, () => chainOf('other', OTHER_CHAIN_ID)),
    )
    return {
      cases: [...setUps.values()].map((setUp) => describe(setUp, server.url)),
      chainUrl: main.url,
      async stop() {
        await server.close()
        await stopChains()
      },
    }
  } catch (error) {
    await stopChains()
    throw error
  }
}

function folder(dir: string, name: string): string {
  const path = join(dir, name)
  mkdirSync(path)
  return path
}

function describe(
  { case: corpusCase, made, marks }: SetUp,
  url: string,
): CorpusCase {
  const { name, title, why, nodes, sources, ask, gateway, expected } =
    corpusCase
  const asOf = typeof ask.asOf === 'string' ? marks[ask.asOf] : ask.asOf
  if (ask.asOf !== undefined && asOf === undefined)
    throw new Error(`${name}: no mark ${ask.asOf}`)
  const slow = nodes.includes('slow') || sources.includes('slow')
  return {
    case: name,
    title,
    why,
    given: givenOf(corpusCase, made),
    registry: REGISTRY,
    rpc: nodes.map((_, i) => `${url}/rpc/${name}/${i}`),
    ipfs: sources.map((_, i) => `${url}/source/${i}`),
    maxHeadAge: MAX_HEAD_AGE,
    timeout: slow ? 1 : 10,
    asOf: asOf ?? null,
    quorum: ask.quorum ?? null,
    gateway: gateway
      ? {
          knows: gateway,
          documentHash: toHex(made.hash),
        }
      : null,
    expected,
  }
}

/** A block, and what each source of its case does with it. */
type Block = { of: string; bytes: Uint8Array; kinds: SourceKind[] }

/** `/rpc/<case>/<n>` is the case's n-th node; `/source/<n>/ipfs/<cid>` the n-th source of the case whose block it is. */
function serve(setUps: Map<string, SetUp>, otherChain: () => Promise<Chain>) {
  const blocks = new Map<string, Block>()
  for (const { case: corpusCase, made } of setUps.values()) {
    const { name, sources, batch } = corpusCase
    const add = (hash: Uint8Array, block: Omit<Block, 'of'>) => {
      const cid = cidOf(hash)
      const twin = blocks.get(cid)
      if (twin) throw new Error(`${name} has the block of ${twin.of}`)
      blocks.set(cid, { of: name, ...block })
    }
    add(made.hash, { bytes: made.bytes, kinds: sources })
    if (made.batch)
      add(made.batch.hash, {
        bytes: made.batch.bytes,
        kinds: sources.map((_, i) => batch?.sources[i] ?? 'has'),
      })
  }

  return async (request: IncomingMessage, response: ServerResponse) => {
    // Pages of any origin may ask, as of public nodes and gateways.
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', '*')
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end()
      return
    }
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    const [, door, name = '', , last = ''] = pathname.split('/')
    if (door === 'source') {
      const block = blocks.get(last)
      const kind = block?.kinds[Number(name)] ?? 'missing'
      serveBlock(kind, block?.bytes ?? new Uint8Array(), response)
      return
    }
    const setUp = setUps.get(name)
    const kind = setUp?.case.nodes[Number(pathname.split('/')[3])]
    if (door !== 'rpc' || !setUp || !kind) {
      response.writeHead(404).end()
      return
    }
    const call = JSON.parse(await bodyOf(request)) as Call
    const chain = kind === 'other_chain' ? await otherChain() : setUp.chain
    const ask = (asked: Call) => askNode(chain.url, asked)
    tell(await answerAs(kind, call, ask, setUp.marks), response)
  }
}

function tell(reply: Reply, response: ServerResponse): void {
  if (reply === 'never') return
  if (reply === 'hang up') {
    response.destroy()
    return
  }
  response.writeHead(reply.status, { 'content-type': 'application/json' })
  response.end(reply.text)
}

async function askNode(
  url: string,
  { method, params }: Call,
): Promise<{ result?: unknown; error?: unknown }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as {
    result?: unknown
    error?: unknown
  }
  return error === undefined ? { result } : { error }
}
