import { isRegistryId, type RegistryId } from '#document/registry-id.ts'
import { isLoopback } from '#verifier/readers/loopback.ts'
/**
 * Configuration that a server puts into the page. Without it (`null`), the page asks the reader for
 * a registry and a node.
 */
export type PageConfig = {
  /** The CAIP-10 account ID of the registry that the page trusts, in lower case. */
  registry: RegistryId
  /** JSON-RPC endpoints to read from. */
  rpc: string[]
  /** Trustless IPFS gateways to read from, in this order, without `/ipfs`. */
  ipfs: string[]
  /**
   * The maximum age of the newest block in seconds; absent = 900, or any age on chain 31337, as in
   * `docreg`.
   */
  maxHeadAge?: number
  /**
   * The timeout of a request in seconds; absent = 15, which is more than for a server because of
   * phones on slow connections.
   */
  timeout?: number
  /** Whether to check that the issuer's domain vouches for the issuer; absent = yes. */
  identity?: boolean
  /** Chain ids that count as live besides the known ones. */
  liveChains?: number[]
  /**
   * The address of the service that serves the page; the page labels `rpc` and `ipfs` addresses
   * that begin with it as the service's own.
   */
  service?: string
  /** The issuer whose documents the service puts into wallets; absent = none. */
  walletsOf?: number
}

/** The sources that the page uses, which never come from a QR code or a link. */
export type Sources = {
  /** A CAIP-10 account ID; empty until the reader has named a registry. */
  registry: RegistryId | ''
  rpc: string[]
  ipfs: string[]
  maxHeadAge?: number
  timeout?: number
  identity?: boolean
  liveChains?: number[]
}

/**
 * The stored part of the reader's choice, which never includes a registry or anything about a
 * document.
 */
type Choice = Pick<Sources, 'rpc' | 'ipfs' | 'identity'>

const KEPT = 'document-registry.sources'

/** @param text The page's data block. */
export function parseConfig(text: string | null): PageConfig | null {
  const config = JSON.parse(text ?? 'null') as PageConfig | null
  return config && adjustToNetwork(config, location)
}

/**
 * A service that knows itself only as localhost may be opened from other machines by another
 * address; the page then uses the address that it was loaded from.
 */
export function adjustToNetwork(
  config: PageConfig,
  { protocol, origin, hostname }: Pick<URL, 'protocol' | 'origin' | 'hostname'>,
): PageConfig {
  const { service } = config
  const elsewhere =
    service !== undefined &&
    protocol.startsWith('http') &&
    isLoopback(new URL(service).hostname) &&
    !isLoopback(hostname)
  if (!elsewhere) return config
  const adjust = (url: string) =>
    isOf(service, url) ? origin + url.slice(new URL(service).origin.length) : url
  return {
    ...config,
    service: adjust(service),
    rpc: config.rpc.map(adjust),
    ipfs: config.ipfs.map(adjust),
  }
}

/** @returns Whether an address is one of the service's own. */
export function isOf(service: string | undefined, url: string): boolean {
  return service !== undefined && (url === service || url.startsWith(`${service}/`))
}

/** The error of a field that the reader has filled in. */
export type SourceProblem = 'registry' | 'rpc' | 'ipfs'

/** @returns The sources from the reader's input, or every bad field. */
export function parseSources(
  fields: Record<SourceProblem, string>,
): { sources: Sources & { registry: RegistryId } } | { problems: SourceProblem[] } {
  const registry = fields.registry.trim().toLowerCase()
  const rpc = linesOf(fields.rpc)
  const ipfs = linesOf(fields.ipfs)
  const problems: SourceProblem[] = []
  const isNamed = isRegistryId(registry)
  if (!isNamed) problems.push('registry')
  if (!rpc.every(isHttp)) problems.push('rpc')
  if (!ipfs.every(isHttp)) problems.push('ipfs')
  if (!isNamed || problems.length > 0) return { problems }
  return { sources: { registry, rpc: different(rpc), ipfs } }
}

/**
 * @returns The list without duplicates, because a node that is named twice would agree with itself.
 */
function different(urls: string[]): string[] {
  return urls.filter((url, i) => urls.findIndex((u) => new URL(u).href === new URL(url).href) === i)
}

function linesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((line) => line !== '')
}

function isHttp(url: string): boolean {
  return /^https?:/.test(originOf(url) ?? '')
}

/**
 * @returns The origin of an address; `undefined` for anything else. (`URL.parse` is missing in
 * browsers of 2024.)
 */
export function originOf(url: string): string | undefined {
  try {
    return new URL(url).origin
  } catch {
    return undefined
  }
}

/** Stores the reader's choice of sources in this browser. */
export function keepChoice(choice: Choice | null): void {
  try {
    if (choice === null) localStorage.removeItem(KEPT)
    else {
      const { rpc, ipfs, identity } = choice
      localStorage.setItem(KEPT, JSON.stringify({ rpc, ipfs, identity }))
    }
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
}

/** @returns The choice that {@link keepChoice} stored, if it is valid. */
export function keptChoice(): Choice | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? '{}')
    const { rpc, ipfs, identity } = kept
    const good = (list: unknown) => Array.isArray(list) && list.every(isHttp)
    if (!good(rpc) || !good(ipfs)) return undefined
    return { rpc, ipfs, ...(typeof identity === 'boolean' && { identity }) }
  } catch {
    return undefined
  }
}
