import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { ChainError } from '#verifier/errors.ts'
import { BAD_LIVE_CHAIN, type Network, networkOf, parseLiveChain } from '#verifier/network.ts'
import type { BlockSource, Eip1193Provider } from '#verifier/ports.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { checkCode } from '#verifier/readers/completeness.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { isAnswer } from '#verifier/readers/node-answer.ts'
import { patientSource } from '#verifier/readers/patience.ts'
import { createRequest } from '#verifier/readers/request.ts'
import type { OptionSpec, Options } from './command.ts'
import { UsageError } from './errors.ts'
import { type TrustedRegistry, trustedRegistry } from './registry.ts'

export const REGISTRY_OPTION = {
  value: '<CAIP-10>',
  about:
    'the registry that you trust, eip155:<chainId>:<address>; or eip155:<chainId> of a known deployment',
  isSetting: true,
} as const satisfies OptionSpec

/** Options for the trusted registry and the sources. */
export const SOURCE_OPTIONS = {
  rpc: { value: '<url>', multiple: true, about: 'JSON-RPC endpoint of a node', isSetting: true },
  registry: REGISTRY_OPTION,
  'live-chain': {
    value: '<chainId>',
    multiple: true,
    about: 'a chain id, besides the known ones, that you know to carry real documents',
    isSetting: true,
  },
  ipfs: {
    value: '<url>',
    multiple: true,
    about: 'trustless IPFS gateways that may have the document, tried in order',
    isSetting: true,
  },
  'as-of': { value: '<block>', about: 'as of this block; the node must keep its state' },
  timeout: {
    value: '<seconds>',
    about: 'how long to wait for one request; default 10',
    isSetting: true,
  },
} as const satisfies Options

export type CommandSources = {
  /** The CAIP-10 account ID of the registry. */
  registry: RegistryId
  /** The network of its chain. */
  network: Network
  /** The keccak256 of its code, if known. */
  codeHash?: Hex
  /** The block in which it was deployed, if known. */
  deployedIn?: number
  nodes: Eip1193Provider[]
  blocks: BlockSource[]
  /** For commands that read many blocks: asked again while they ask for fewer requests. */
  patientBlocks: BlockSource[]
  asOf?: number
  /** The timeout of one request, in milliseconds. */
  timeout: number
}

/** Shown by commands whose result relies only on the code of the registry. */
export const CODE_UNCHECKED =
  'No code hash of the registry is known: the code at its address was not checked'

/** @throws {UsageError} for the first bad option. */
export function readSources(values: {
  rpc?: string[]
  registry?: string
  'live-chain'?: string[]
  ipfs?: string[]
  timeout?: string
  'as-of'?: string
}): CommandSources {
  const timeout = 1000 * wholeNumber('timeout', values.timeout ?? '10', 1)
  const asOf = values['as-of']
  const liveChains = readLiveChains(values['live-chain'])
  const trusted = trustedRegistry(values.registry)
  const blocks = httpUrls('ipfs', values.ipfs).map((url) => createIpfsGatewaySource(url, timeout))
  return {
    ...trusted,
    network: networkOf(parseRegistry(trusted.registry).chainId, liveChains),
    timeout,
    nodes: different('rpc', httpUrls('rpc', values.rpc)).map((url) =>
      comparingCode(createFetchProvider(url, timeout), trusted),
    ),
    blocks,
    patientBlocks: blocks.map((one) => patientSource(one)),
    ...(asOf !== undefined && { asOf: wholeNumber('as-of', asOf) }),
  }
}

/**
 * @returns A node that compares the registry's code before its first answer, if the hash of the
 * code is known. Without any code it still answers, so that the reader reports what is missing.
 */
export function comparingCode(
  node: Eip1193Provider,
  { registry, codeHash }: TrustedRegistry,
): Eip1193Provider {
  if (codeHash === undefined) return node
  const { address } = parseRegistry(registry)
  let compared: Promise<void> | undefined
  const compare = () =>
    checkCode(createRequest(node), [address, 'latest'], codeHash).catch((error) => {
      compared = undefined
      if (error instanceof ChainError && error.code === 'no_registry') return
      throw error
    })
  return {
    async request(asked) {
      compared ??= compare()
      await compared
      return node.request(asked)
    },
  }
}

/**
 * @returns The nodes as one: the first that answers is believed. One that fails a call which
 * another answers comes last from then on.
 * @throws {UsageError} without a node.
 */
export function firstAnswering(nodes: readonly Eip1193Provider[]): Eip1193Provider {
  if (nodes.length === 0) throw new UsageError('--rpc is required')
  let order = nodes
  return {
    async request(asked) {
      const failures: { node: Eip1193Provider; error: unknown }[] = []
      const answered = () => {
        const failed = failures.map(({ node }) => node)
        if (failed.length > 0)
          order = [...order.filter((node) => !failed.includes(node)), ...failed]
      }
      for (const node of order)
        try {
          const result = await node.request(asked)
          answered()
          return result
        } catch (error) {
          if (isAnswer(asked.method, error)) answered()
          const isOther = error instanceof ChainError && error.code === 'other_code'
          if (isAnswer(asked.method, error) || isOther || asked.signal?.aborted) throw error
          failures.push({ node, error })
        }
      throw failures[0]?.error
    },
  }
}

/** @throws {UsageError} */
export function wholeNumber(option: string, text: string, least = 0): number {
  if (!/^[0-9]{1,15}$/.test(text) || Number(text) < least)
    throw new UsageError(`--${option} must be a whole number, at least ${least}`)
  return Number(text)
}

/** @param given Numbers separated by commas. @throws {UsageError} */
export function readIssuers(given: string | undefined): number[] {
  if (given === undefined) throw new UsageError('--issuer is required')
  const issuers = given.split(',').map((one) => wholeNumber('issuer', one.trim(), 1))
  if (issuers.some((one) => one > 0xffff_ffff))
    throw new UsageError('--issuer must be at most 4294967295')
  return [...new Set(issuers)]
}

/** @throws {UsageError} */
export function readBlockHashes(given: string[] = []): Hex[] {
  if (!given.every((hash) => /^0x[0-9a-fA-F]{64}$/.test(hash)))
    throw new UsageError('--block-hash must be 0x followed by 64 hexadecimal digits')
  return given as Hex[]
}

/** @throws {UsageError} */
function readLiveChains(given: string[] = []): number[] {
  return given.map((text) => {
    const chainId = parseLiveChain(text)
    if (chainId === undefined) throw new UsageError(`--live-chain ${BAD_LIVE_CHAIN}`)
    return chainId
  })
}

/** A node that is named twice would agree with itself. */
function different(option: string, urls: string[]): string[] {
  if (new Set(urls.map((url) => new URL(url).href)).size < urls.length)
    throw new UsageError(`--${option} names the same address twice`)
  return urls
}

function httpUrls(option: string, urls: string[] = []): string[] {
  const isHttp = (url: string) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  if (!urls.every(isHttp)) throw new UsageError(`--${option} must be an http or https address`)
  return urls
}
