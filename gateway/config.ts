import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseUnits } from 'ethers'
import * as v from 'valibot'
import type { Hex } from '../document/hex.ts'
import type { FinalityRule } from '../verifier/readers/finality.ts'
import { MAX_BATCH } from './issue/batch.ts'
import type { FeeCaps } from './issue/spending.ts'

/** What signs for the issuer account. */
export type SignerSetting =
  | { kind: 'key'; key: Hex }
  | { kind: 'keystore'; path: string; passwordFile: string }
  | { kind: 'remote'; url: string; address: Hex }

/** Everything that can be set from outside. Only this file reads the environment. */
export type Config = {
  port: number
  host: string
  /** The local chain's port; used when `rpcUrls` is empty. */
  chainPort: number
  /** Where clients reach the gateway, without a slash at the end. */
  baseUrl: string
  /** The verify page that QR codes lead to. */
  verifyUrl: string
  dataDir: string
  /** Empty = the local chain. */
  rpcUrls: string[]
  /** What the verify page asks; empty = the gateway's own `/rpc`. */
  publicRpcUrls: string[]
  /** Lower-case address; absent = that of the local chain or of `deployments/<chainId>.json`. */
  registryAddress?: Hex
  /** The issuer's number in the registry; the local chain has its own. */
  issuerId?: number
  /** Its name and uri in the registry: given to the local chain's issuer, compared with any other's. */
  issuerName?: string
  issuerUri?: string
  signer?: SignerSetting
  /** 32 bytes each, the newest first. */
  issuerSecrets?: readonly [Hex, ...Hex[]]
  apiKey?: string
  /** Of a Kubo node's RPC; absent = payloads are kept in `dataDir`. */
  ipfsApiUrl?: string
  /** Whether the Kubo node may announce the payloads to the public network. */
  ipfsAnnounce: boolean
  ipfsGateways: string[]
  /** Milliseconds. */
  wait: number
  rpcTimeout: number
  ipfsTimeout: number
  /** Which blocks count as final. */
  finality: FinalityRule
  /** Most intents in one transaction; 1 = no grouping. */
  maxBatch: number
  /** Maximum wei for a unit of gas; absent = any price. */
  feeCap?: bigint
  /** Maximum wei for one transaction, and for all of an hour; absent = any fee. */
  feeCaps: FeeCaps
  /** Wei of the issuer account, under which readiness warns. */
  lowBalance: bigint
  /** Seconds; absent = any age. */
  maxHeadAge?: number
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
}

/** Thrown for an environment that the service cannot start with; the message names every bad variable, never its value. */
export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(problems: readonly string[]) {
    super(`cannot start:\n${problems.map((line) => `  ${line}`).join('\n')}`)
  }
}

const httpUrl = v.pipe(
  v.string(),
  v.check(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'must be an http or https URL',
  ),
  v.transform((text) => text.replace(/\/+$/, '')),
)
const pageUrl = v.pipe(
  httpUrl,
  v.check(
    (text) => !text.includes('#'),
    'must not have a fragment: that is where the publicId goes',
  ),
)
const urls = v.pipe(
  v.optional(v.string(), ''),
  v.transform((text) => text.split(',').filter((url) => url.trim() !== '')),
  v.array(v.pipe(v.string(), v.trim(), httpUrl)),
  // One that is named twice would count as two that agree.
  v.transform((list) => [...new Set(list)]),
)
const wholeNumber = (least: number, most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, 'must be a whole number'),
    v.transform(Number),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  )
const port = (least: number) => wholeNumber(least, 65_535)
const seconds = (fallback: string, least: number) =>
  v.pipe(
    v.optional(wholeNumber(least, 3_600), fallback),
    v.transform((value) => value * 1000),
  )
const hex = (bytes: number, message: string) =>
  v.pipe(
    v.string(),
    v.regex(new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`), message),
    v.transform((text) => text.toLowerCase() as Hex),
  )

/** Each one costs a keyed request another sealing. */
const MAX_SECRETS = 16
const secrets = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((secret) => secret.trim())),
  v.array(hex(32, 'must be 0x and 64 hexadecimal digits, or several, comma-separated')),
  v.maxLength(MAX_SECRETS, `must be at most ${MAX_SECRETS}`),
  v.check((list) => new Set(list).size === list.length, 'must not name a secret twice'),
  v.transform((list) => list as [Hex, ...Hex[]]),
)

/** What 32 bits hold, without 0: the registry numbers its issuers from 1. */
const MAX_ISSUER_ID = 2 ** 32 - 1
const issuerId = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,9}$/, 'must be a whole number, from 1'),
  v.transform(Number),
  v.maxValue(MAX_ISSUER_ID, `must be at most ${MAX_ISSUER_ID}`),
)

/** @param most Bytes, as the registry counts them. */
const registered = (most: number) =>
  v.pipe(
    v.string(),
    v.check((text) => Buffer.byteLength(text) <= most, `must have at most ${most} bytes`),
  )

const amount = (unit: 'gwei' | 'ether') =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}(\.\d{1,9})?$/, `must be a number of ${unit}, such as 20 or 0.5`),
    v.transform((text) => parseUnits(text, unit)),
  )

const cap = v.optional(
  v.union([v.literal('off'), amount('ether')], 'must be a number of ether, such as 0.5, or off'),
)

const DATA_DIR = 'data'

type Environment = v.InferOutput<typeof environment>
const environment = v.object({
  PORT: v.optional(port(1), '3000'),
  HOST: v.optional(v.string(), '127.0.0.1'),
  CHAIN_PORT: v.optional(port(0), '8545'),
  BASE_URL: v.optional(httpUrl),
  VERIFY_URL: v.optional(pageUrl),
  DATA_DIR: v.optional(v.string(), DATA_DIR),
  RPC_URL: urls,
  PUBLIC_RPC_URL: urls,
  REGISTRY_ADDRESS: v.optional(hex(20, 'must be an address, 0x and 40 digits')),
  ISSUER_ID: v.optional(issuerId),
  ISSUER_NAME: v.optional(registered(200)),
  ISSUER_URI: v.optional(registered(400)),
  ISSUER_KEY: v.optional(hex(32, 'must be 0x and 64 hexadecimal digits')),
  ISSUER_KEYSTORE: v.optional(v.string()),
  ISSUER_KEYSTORE_PASSWORD_FILE: v.optional(v.string()),
  ISSUER_SIGNER_URL: v.optional(httpUrl),
  ISSUER_ADDRESS: v.optional(hex(20, 'must be an address, 0x and 40 digits')),
  ISSUER_SECRET: v.optional(secrets),
  API_KEY: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[A-Za-z0-9\-._~+/]{1,256}=*$/,
        'must be a bearer token (RFC 6750): letters, digits and -._~+/',
      ),
    ),
  ),
  IPFS_API_URL: v.optional(httpUrl),
  IPFS_ANNOUNCE: v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false'),
  IPFS_GATEWAYS: urls,
  WAIT_SECONDS: seconds('15', 0),
  RPC_TIMEOUT_SECONDS: seconds('5', 1),
  IPFS_TIMEOUT_SECONDS: seconds('10', 1),
  MAX_HEAD_AGE_SECONDS: v.optional(wholeNumber(1, 999_999_999)),
  FINALITY_DEPTH: v.optional(wholeNumber(0, 1_000_000)),
  MAX_BATCH: v.optional(wholeNumber(1, MAX_BATCH), String(MAX_BATCH)),
  MAX_FEE_GWEI: v.optional(amount('gwei')),
  MAX_TRANSACTION_FEE_ETHER: cap,
  MAX_HOURLY_FEE_ETHER: cap,
  LOW_BALANCE_ETHER: v.optional(amount('ether'), '0.05'),
  LOG_LEVEL: v.optional(
    v.picklist(
      ['debug', 'info', 'warn', 'error', 'silent'],
      'must be debug, info, warn, error or silent',
    ),
    'info',
  ),
})

/** Characters of an API key that can be guessed at from elsewhere. */
const LEAST_KEY = 16

/** Blocks on top of one that make it final at a node that does not know the tag `finalized`. */
const DEPTH_WITHOUT_TAG = 64

/**
 * On a chain that others run; wei. A batch of 200 documents fits in the first up to some 18 gwei of base fee, a single one up to some
 * 3,000. Nodes refuse transactions over 1 ether (geth, Besu, Erigon).
 */
const FEE_CAPS: FeeCaps = {
  transaction: parseUnits('0.2', 'ether'),
  hour: parseUnits('1', 'ether'),
}

/** A chain that others run is stale when its newest block is older than this; seconds. */
const MAX_HEAD_AGE = 900

/**
 * @param env The environment. An empty variable counts as absent.
 * @throws {ConfigError} naming every bad variable.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const result = v.safeParse(environment, given)
  if (!result.success)
    throw new ConfigError(result.issues.map((issue) => `${v.getDotPath(issue)} ${issue.message}`))
  const e = result.output
  const baseUrl = e.BASE_URL ?? `http://${reachable(e.HOST)}:${e.PORT}`
  const remote = e.RPC_URL.length > 0
  const signer = signerOf(e)
  if (remote) requireForRemoteChain(e, signer)
  if (!isLoopback(e.HOST) && e.API_KEY && e.API_KEY.length < LEAST_KEY)
    throw new ConfigError([
      `API_KEY must have at least ${LEAST_KEY} characters when HOST is not loopback`,
    ])
  const maxHeadAge = e.MAX_HEAD_AGE_SECONDS ?? (remote ? MAX_HEAD_AGE : undefined)
  return {
    port: e.PORT,
    host: e.HOST,
    chainPort: e.CHAIN_PORT,
    baseUrl,
    verifyUrl: e.VERIFY_URL ?? `${baseUrl}/verify`,
    dataDir: resolve(e.DATA_DIR),
    rpcUrls: e.RPC_URL,
    publicRpcUrls: e.PUBLIC_RPC_URL,
    ...(e.REGISTRY_ADDRESS && { registryAddress: e.REGISTRY_ADDRESS }),
    ...(e.ISSUER_ID !== undefined && { issuerId: e.ISSUER_ID }),
    ...(e.ISSUER_NAME && { issuerName: e.ISSUER_NAME }),
    ...(e.ISSUER_URI && { issuerUri: e.ISSUER_URI }),
    ...(signer && { signer }),
    ...(e.ISSUER_SECRET && { issuerSecrets: e.ISSUER_SECRET }),
    ...(e.API_KEY && { apiKey: e.API_KEY }),
    ...(e.IPFS_API_URL && { ipfsApiUrl: e.IPFS_API_URL }),
    ipfsAnnounce: e.IPFS_ANNOUNCE === 'true',
    ipfsGateways: e.IPFS_GATEWAYS,
    wait: e.WAIT_SECONDS,
    rpcTimeout: e.RPC_TIMEOUT_SECONDS,
    ipfsTimeout: e.IPFS_TIMEOUT_SECONDS,
    finality:
      e.FINALITY_DEPTH === undefined
        ? { depthWithoutTag: DEPTH_WITHOUT_TAG }
        : { depth: e.FINALITY_DEPTH },
    maxBatch: e.MAX_BATCH,
    ...(e.MAX_FEE_GWEI !== undefined && { feeCap: e.MAX_FEE_GWEI }),
    feeCaps: feeCapsOf(e, remote ? FEE_CAPS : {}),
    lowBalance: e.LOW_BALANCE_ETHER,
    ...(maxHeadAge !== undefined && { maxHeadAge }),
    logLevel: e.LOG_LEVEL,
  }
}

/** @param fallback Of chains that others run; the local chain's ether is worth nothing. */
function feeCapsOf(e: Environment, fallback: FeeCaps): FeeCaps {
  const transaction = e.MAX_TRANSACTION_FEE_ETHER ?? fallback.transaction
  const hour = e.MAX_HOURLY_FEE_ETHER ?? fallback.hour
  return {
    ...(typeof transaction === 'bigint' && { transaction }),
    ...(typeof hour === 'bigint' && { hour }),
  }
}

/** @returns The data folder alone, for commands that need nothing else. */
export function readDataDir(env: NodeJS.ProcessEnv): string {
  return resolve(env.DATA_DIR || DATA_DIR)
}

/** @returns The address in `deployments/<chainId>.json` beside the code, lower case; `undefined` when there is no such file. */
export function deployedAddress(chainId: number): Hex | undefined {
  const file = new URL(`../deployments/${chainId}.json`, import.meta.url)
  if (!existsSync(file)) return undefined
  return JSON.parse(readFileSync(file, 'utf8')).address.toLowerCase()
}

function requireForRemoteChain(e: Environment, signer: SignerSetting | undefined): void {
  const missing = [
    // Not guessed: an account may belong to several issuers.
    ...(e.ISSUER_ID ? [] : ['ISSUER_ID is required']),
    ...(signer ? [] : ['ISSUER_KEY is required (or ISSUER_KEYSTORE, or ISSUER_SIGNER_URL)']),
    ...(e.ISSUER_SECRET ? [] : ['ISSUER_SECRET is required']),
  ]
  if (missing.length > 0)
    throw new ConfigError(missing.map((line) => `${line} when RPC_URL is set`))
}

/** @throws {ConfigError} when more than one is named, or one by halves. */
function signerOf(e: Environment): SignerSetting | undefined {
  const pairs = [
    ['ISSUER_KEYSTORE', 'ISSUER_KEYSTORE_PASSWORD_FILE'],
    ['ISSUER_SIGNER_URL', 'ISSUER_ADDRESS'],
  ] as const
  const problems = pairs
    .filter(([a, b]) => (e[a] === undefined) !== (e[b] === undefined))
    .map((pair) => `${pair.join(' and ')} go together`)
  const named = (['ISSUER_KEY', 'ISSUER_KEYSTORE', 'ISSUER_SIGNER_URL'] as const).filter(
    (name) => e[name] !== undefined,
  )
  if (named.length > 1) problems.push(`${named.join(' and ')} exclude each other`)
  if (problems.length > 0) throw new ConfigError(problems)

  if (e.ISSUER_KEY) return { kind: 'key', key: e.ISSUER_KEY }
  if (e.ISSUER_KEYSTORE && e.ISSUER_KEYSTORE_PASSWORD_FILE)
    return {
      kind: 'keystore',
      path: e.ISSUER_KEYSTORE,
      passwordFile: e.ISSUER_KEYSTORE_PASSWORD_FILE,
    }
  if (e.ISSUER_SIGNER_URL && e.ISSUER_ADDRESS)
    return {
      kind: 'remote',
      url: e.ISSUER_SIGNER_URL,
      address: e.ISSUER_ADDRESS,
    }
  return undefined
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
