import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, toHex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { identityAddressOf } from '#verifier/identity.ts'
import { serveHttp } from '../http.ts'
import { givenOf } from './ask.ts'
import { type Case, type Expected, readCases } from './case.ts'
import { type Chain, ISSUER, startChain } from './chain.ts'
import { makePayload, REGISTRY } from './payload.ts'
import { type SetUp, serveCases } from './serve.ts'

/**
 * A case that is set up: its reader's input, nodes and sources. tools/corpus/case.schema.json
 * describes each field.
 */
export type CorpusCase = {
  case: string
  title: string
  why: string
  /** A publicId, an address that contains it, a presentation file, or a credential. */
  given: string
  /** True for a presentation; otherwise absent. */
  presentation?: true
  /** True for a credential; otherwise absent. */
  credential?: true
  registry: RegistryId
  rpc: string[]
  ipfs: string[]
  maxHeadAge: number
  timeout: number
  asOf: number | null
  quorum: number | null
  /**
   * The URL that stands in for the issuer's domain; absent = the reader does not check the domain.
   */
  domain?: { address: string | null; served: string }
  issuerDomain?: string
  gateway: { knows: 'promised' | 'erased'; documentHash: Hex } | null
  expected: Expected
}

export type World = {
  cases: CorpusCase[]
  /** The main chain, without a proxy. */
  chainUrl: string
  stop(): Promise<void>
}

export const CHAIN_ID = 31337
export const OTHER_CHAIN_ID = 1337
/** The maximum age in seconds: less than a stale node's lag, and more than any run takes. */
const MAX_HEAD_AGE = 3_600

/**
 * Sets up cases on real chains, and serves their nodes and sources on one free port.
 *
 * @param names The names of the cases; absent = all.
 */
export async function startWorld(names?: readonly string[]): Promise<World> {
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
      if (names && !names.includes(corpusCase.name)) continue
      const made = await makePayload(corpusCase)
      const own = corpusCase.chain.some(
        (step) => 'travelTo' in step || 'close' in step || 'texts' in step,
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
      serveCases(setUps, {
        otherChain: () => chainOf('other', OTHER_CHAIN_ID),
      }),
    )
    return {
      cases: [...setUps.values()].map((setUp) => describeCase(setUp, server.url)),
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

/** @returns The URL of did.json; `null` if the uri names no domain. */
function didAddressOf({ nodes }: Case): string | null {
  const [uri] = nodes.flatMap((node) =>
    typeof node === 'object' && 'issuerUri' in node ? [node.issuerUri] : [],
  )
  return identityAddressOf(uri ?? ISSUER.uri, CHAIN_ID)?.url ?? null
}

/** @param url The base URL of the server, without a slash at the end. */
export function describeCase({ case: corpusCase, made, marks }: SetUp, url: string): CorpusCase {
  const { name, title, why, present, nodes, sources, domain, ask, gateway, expected } = corpusCase
  const asOf = typeof ask.asOf === 'string' ? marks[ask.asOf] : ask.asOf
  if (ask.asOf !== undefined && asOf === undefined) throw new Error(`${name}: no mark ${ask.asOf}`)
  const slow = nodes.includes('slow') || sources.includes('slow')
  return {
    case: name,
    title,
    why,
    given: made.presentation ?? givenOf(corpusCase, made),
    ...(present && { [present.credential ? 'credential' : 'presentation']: true as const }),
    registry: REGISTRY,
    rpc: nodes.map((_, i) => `${url}/rpc/${name}/${i}`),
    ipfs: sources.map((_, i) => `${url}/source/${i}`),
    maxHeadAge: MAX_HEAD_AGE,
    // A reader waits for a slow domain in parallel.
    timeout: slow ? 2 : domain === 'never' ? 3 : 10,
    asOf: asOf ?? null,
    quorum: ask.quorum ?? null,
    ...(domain !== undefined && {
      domain: {
        address: didAddressOf(corpusCase),
        served: `${url}/did/${name}`,
      },
    }),
    ...(ask.issuerDomain !== undefined && { issuerDomain: ask.issuerDomain }),
    gateway: gateway
      ? {
          knows: gateway,
          documentHash: toHex(made.hash),
        }
      : null,
    expected,
  }
}
