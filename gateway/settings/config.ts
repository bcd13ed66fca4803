import { dirname, join, resolve } from 'node:path'
import { parseUnits } from 'ethers/utils'
import * as v from 'valibot'
import { MAX_BATCH } from '#engine/planner.ts'
import type { FeeCaps } from '#engine/spending.ts'
import { MAX_HEAD_AGE_SECONDS } from '#verifier/defaults.ts'
import { isLoopback } from '#verifier/readers/loopback.ts'
import { oidcOf, oidcProblems, oidcVariables } from './oidc.ts'
import { type SignerSetting, signerProblems, signersOf } from './signer.ts'
import {
  amount,
  bearerToken,
  cap,
  databaseUrl,
  hex,
  hexList,
  httpUrl,
  issuerId,
  liveChains,
  networks,
  pageUrl,
  paths,
  port,
  rateLimit,
  registered,
  seconds,
  secrets,
  urls,
  wholeNumber,
} from './values.ts'

/**
 * Thrown for an environment with which the service cannot start. The message names every bad
 * variable, but never its value.
 */
export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(problems: readonly string[]) {
    super(`cannot start:\n${problems.map((line) => `  ${line}`).join('\n')}`)
  }
}

const DATA_DIR = 'data'
/**
 * The file is next to the data folder. It is not named after the folder, because a restored one may
 * have another name.
 */
const ERASURE_LIST = 'erased-documents.txt'

type Environment = v.InferOutput<typeof environment>
const environment = v.object({
  PORT: v.optional(port(1), '3000'),
  HOST: v.optional(v.string(), '127.0.0.1'),
  CHAIN_PORT: v.optional(port(0), '8545'),
  BASE_URL: v.optional(httpUrl),
  VERIFY_URL: v.optional(pageUrl),
  DATA_DIR: v.optional(v.string(), DATA_DIR),
  ERASURE_LIST: v.optional(v.string()),
  RPC_URL: urls,
  PUBLIC_RPC_URL: urls,
  REGISTRY_ADDRESS: v.optional(hex(20, 'must be an address, 0x followed by 40 hexadecimal digits')),
  LIVE_CHAINS: liveChains,
  ISSUER_ID: v.optional(issuerId),
  ISSUER_NAME: v.optional(registered(200)),
  ISSUER_URI: v.optional(registered(400)),
  ISSUER_KEY: v.optional(hexList(32, 'must be 0x followed by 64 hexadecimal digits')),
  ISSUER_KEYSTORE: v.optional(paths),
  ISSUER_KEYSTORE_PASSWORD_FILE: v.optional(paths),
  ISSUER_SIGNER_URL: v.optional(httpUrl),
  ISSUER_ADDRESS: v.optional(
    hexList(20, 'must be an address, 0x followed by 40 hexadecimal digits'),
  ),
  ISSUER_SECRET: v.optional(secrets),
  MODULES: v.optional(v.string()),
  CREDENTIAL_KEY_FILE: v.optional(v.string()),
  WALLET_OFFERS: v.optional(v.picklist(['holders', 'keys'], 'must be holders or keys'), 'holders'),
  API_KEY: v.optional(bearerToken),
  DATABASE_URL: v.optional(databaseUrl),
  ACCEPT_LOST_WRITES: v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false'),
  IPFS_API_URL: v.optional(httpUrl),
  IPFS_ANNOUNCE: v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false'),
  IPFS_GATEWAYS: urls,
  WAIT_SECONDS: seconds('15', 0),
  LOCK_SECONDS: seconds('10', 2),
  RPC_TIMEOUT_SECONDS: seconds('5', 1),
  IPFS_TIMEOUT_SECONDS: seconds('10', 1),
  MAX_HEAD_AGE_SECONDS: v.optional(wholeNumber(1, 999_999_999)),
  FINALITY_DEPTH: v.optional(wholeNumber(0, 1_000_000)),
  MAX_BATCH: v.optional(wholeNumber(1, MAX_BATCH), String(MAX_BATCH)),
  MAX_FEE_GWEI: v.optional(amount('gwei')),
  MAX_TRANSACTION_FEE_ETHER: cap,
  MAX_HOURLY_FEE_ETHER: cap,
  LOW_BALANCE_ETHER: v.optional(amount('ether'), '0.05'),
  EVENT_RETENTION_DAYS: v.optional(wholeNumber(7, 3_650), '30'),
  WEBHOOK_ALLOW_PRIVATE: v.optional(
    v.picklist(['true', 'false'], 'must be true or false'),
    'false',
  ),
  CERTIFICATE_PACKS: v.optional(v.string()),
  CERTIFICATE_TEMPLATES: v.optional(v.string()),
  ...oidcVariables,
  RATE_LIMIT: v.optional(rateLimit, '100'),
  ADDRESS_RATE_LIMIT: v.optional(rateLimit),
  TRUSTED_PROXIES: networks,
  LOG_LEVEL: v.optional(
    v.picklist(
      ['debug', 'info', 'warn', 'error', 'silent'],
      'must be debug, info, warn, error or silent',
    ),
    'info',
  ),
})

const MS_PER_DAY = 86_400_000

/** The limit in requests per second. A page that checks a document makes about ten. */
const ADDRESS_LIMIT = 100

/** The minimum length of an API key that other machines could try to guess. */
const MIN_KEY_LENGTH = 16

/**
 * At a node that does not know the tag `finalized`, a block is final with this many blocks on top
 * of it.
 */
const DEPTH_WITHOUT_TAG = 64

/**
 * The caps in wei on a chain that others run. A group of 200 documents fits under the first cap up
 * to a base fee of about 18 gwei, a single document up to about 3,000. Nodes refuse transactions
 * over 1 ether (geth, Besu, Erigon).
 */
const FEE_CAPS: FeeCaps = {
  transaction: parseUnits('0.2', 'ether'),
  hour: parseUnits('1', 'ether'),
}

/** All settings of the gateway. Only this file reads the environment. */
export type Config = Readonly<ReturnType<typeof readConfig>>

/**
 * @param env The environment. An empty variable counts as absent.
 * @throws {ConfigError} naming every bad variable.
 */
export function readConfig(env: NodeJS.ProcessEnv) {
  const e = parse(environment, env)

  const baseUrl = baseUrlOf(e)
  const remote = e.RPC_URL.length > 0
  const problems = [...signerProblems(e, e.DATABASE_URL !== undefined), ...oidcProblems(e)]
  if (problems.length > 0) throw new ConfigError(problems)
  const [signer, ...otherSigners] = signersOf(e)
  if (remote) requireForRemoteChain(e, signer)
  if (!isLoopback(e.HOST) && e.API_KEY && e.API_KEY.length < MIN_KEY_LENGTH)
    throw new ConfigError([
      `API_KEY must have at least ${MIN_KEY_LENGTH} characters when HOST is not loopback`,
    ])
  const oidc = oidcOf(e)
  const maxHeadAge = e.MAX_HEAD_AGE_SECONDS ?? (remote ? MAX_HEAD_AGE_SECONDS : undefined)
  return {
    port: e.PORT,
    host: e.HOST,
    /** The port of the local chain, which is used when `rpcUrls` is empty. */
    chainPort: e.CHAIN_PORT,
    /** The address at which clients reach the gateway, without a slash at the end. */
    baseUrl,
    /** The verify page that QR codes lead to. */
    verifyUrl: e.VERIFY_URL ?? `${baseUrl}/verify`,
    dataDir: resolve(e.DATA_DIR),
    /** The file of erasures, outside of `dataDir`. */
    erasureList: resolve(e.ERASURE_LIST ?? join(dirname(resolve(e.DATA_DIR)), ERASURE_LIST)),
    /** The endpoints of the chain; empty = the local chain. */
    rpcUrls: e.RPC_URL,
    /** The endpoints that the verify page uses; empty = the gateway's own `/rpc`. */
    publicRpcUrls: e.PUBLIC_RPC_URL,
    /** An address in lower case; absent = that of the local chain or the one in `deployments/`. */
    ...(e.REGISTRY_ADDRESS && { registryAddress: e.REGISTRY_ADDRESS }),
    /** Chain ids that count as live besides the known ones. */
    liveChains: e.LIVE_CHAINS,
    /** The issuer's number in the registry; the local chain has its own. */
    ...(e.ISSUER_ID !== undefined && { issuerId: e.ISSUER_ID }),
    /**
     * The name and uri of the issuer in the registry. The local chain's issuer is created with them;
     * for any other they are compared.
     */
    ...(e.ISSUER_NAME && { issuerName: e.ISSUER_NAME }),
    ...(e.ISSUER_URI && { issuerUri: e.ISSUER_URI }),
    ...(signer && { signer }),
    /** Other accounts of the issuer, which gateways share; only with `databaseUrl`. */
    otherSigners,
    /** Secrets of 32 bytes each, the newest first. */
    ...(e.ISSUER_SECRET && { issuerSecrets: e.ISSUER_SECRET }),
    /** The names of the modules that are on; absent = all. */
    ...(e.MODULES !== undefined && { modules: namesIn(e.MODULES) }),
    /** The file with the keys that sign credentials; absent = on the local chain only. */
    ...(e.CREDENTIAL_KEY_FILE && { credentialKeyFile: resolve(e.CREDENTIAL_KEY_FILE) }),
    /** Who may have an offer for a wallet: whoever holds a publicId, or only whom a key makes one. */
    walletOffers: e.WALLET_OFFERS,
    ...(e.API_KEY && { apiKey: e.API_KEY }),
    /** A PostgreSQL database; absent = SQLite in `dataDir`. The URL may contain a password. */
    ...(e.DATABASE_URL && { databaseUrl: e.DATABASE_URL }),
    /** The RPC API of a Kubo node that mirrors the payloads. */
    ...(e.IPFS_API_URL && { ipfsApiUrl: e.IPFS_API_URL }),
    /** Whether the Kubo node may announce the payloads to the public network. */
    ipfsAnnounce: e.IPFS_ANNOUNCE === 'true',
    ipfsGateways: e.IPFS_GATEWAYS,
    /** How long a request waits for a block, in milliseconds. */
    wait: e.WAIT_SECONDS,
    /** How long a stopped gateway keeps its account, if gateways share accounts. */
    lockTerm: e.LOCK_SECONDS,
    /** Whether to issue although the database has lost writes. */
    acceptLoss: e.ACCEPT_LOST_WRITES === 'true',
    rpcTimeout: e.RPC_TIMEOUT_SECONDS,
    ipfsTimeout: e.IPFS_TIMEOUT_SECONDS,
    /** Decides which blocks count as final. */
    finality:
      e.FINALITY_DEPTH === undefined
        ? { depthWithoutTag: DEPTH_WITHOUT_TAG }
        : { depth: e.FINALITY_DEPTH },
    /** The maximum number of actions in one transaction; 1 = no grouping. */
    maxBatch: e.MAX_BATCH,
    /** The maximum wei per gas; absent = any price. */
    ...(e.MAX_FEE_GWEI !== undefined && { feeCap: e.MAX_FEE_GWEI }),
    /** The maximum wei for one transaction, and for all in an hour; absent = any fee. */
    feeCaps: feeCapsOf(e, remote ? FEE_CAPS : {}),
    /** The balance of the issuer account, in wei, below which readiness warns. */
    lowBalance: e.LOW_BALANCE_ETHER,
    /** Whether webhooks may lead to private addresses, and over plain http. */
    webhookAllowPrivate: e.WEBHOOK_ALLOW_PRIVATE === 'true',
    /** How long events are kept, in milliseconds. */
    eventRetention: e.EVENT_RETENTION_DAYS * MS_PER_DAY,
    /** The folder with the engine for certificates; absent = that of `docreg`. */
    ...(e.CERTIFICATE_PACKS && { certificatePacks: resolve(e.CERTIFICATE_PACKS) }),
    /** A folder of templates for certificates. */
    ...(e.CERTIFICATE_TEMPLATES && { certificateTemplates: resolve(e.CERTIFICATE_TEMPLATES) }),
    /** The maximum age of the newest block in seconds; absent = any age. */
    ...(maxHeadAge !== undefined && { maxHeadAge }),
    /** The identity provider with which people sign in to the desk. */
    ...(oidc && { oidc }),
    ...rateLimitsOf(e),
    /** Addresses and networks (CIDR) of proxies whose `X-Forwarded-For` is trusted. */
    trustedProxies: e.TRUSTED_PROXIES,
    logLevel: e.LOG_LEVEL,
  }
}

/** @returns Names that are separated by commas; `none` = none. */
function namesIn(text: string): readonly string[] {
  if (text.trim() === 'none') return []
  return text.split(',').map((name) => name.trim())
}

/** @throws {ConfigError} naming every bad variable of the schema. */
function parse<T>(schema: v.GenericSchema<unknown, T>, env: NodeJS.ProcessEnv): T {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const { output, issues } = v.safeParse(schema, present)
  if (issues)
    throw new ConfigError(issues.map((issue) => `${v.getDotPath(issue)} ${issue.message}`))
  return output
}

/**
 * @param fallback The caps for a chain that others run, because the ether of the local chain is
 * worth nothing.
 */
function feeCapsOf(e: Environment, fallback: FeeCaps): FeeCaps {
  const transaction = e.MAX_TRANSACTION_FEE_ETHER ?? fallback.transaction
  const hour = e.MAX_HOURLY_FEE_ETHER ?? fallback.hour
  return {
    ...(typeof transaction === 'bigint' && { transaction }),
    ...(typeof hour === 'bigint' && { hour }),
  }
}

/** `RATE_LIMIT=off` switches both limits off, unless the other one is set. */
function rateLimitsOf({ RATE_LIMIT: perKey, ADDRESS_RATE_LIMIT }: Environment) {
  const perAddress = ADDRESS_RATE_LIMIT ?? (perKey === 'off' ? 'off' : ADDRESS_LIMIT)
  return {
    /** Requests per second for each API key without its own limit; absent = any number. */
    ...(perKey !== 'off' && { keyRateLimit: perKey }),
    /** Requests per second to public routes, for each client address; absent = any number. */
    ...(perAddress !== 'off' && { addressRateLimit: perAddress }),
  }
}

/** @returns Only the data folder, for commands that need nothing else. */
export function readDataDir(env: NodeJS.ProcessEnv): string {
  return resolve(env.DATA_DIR || DATA_DIR)
}

/** @returns The setting DATABASE_URL alone; `undefined` = SQLite in the data folder. */
export function readDatabaseUrl(env: NodeJS.ProcessEnv): string | undefined {
  return parse(v.pick(environment, ['DATABASE_URL']), env).DATABASE_URL
}

/** @returns The setting MODULES alone, for commands that need nothing else. */
export function readModules({ MODULES }: NodeJS.ProcessEnv): Pick<Config, 'modules'> {
  return MODULES ? { modules: namesIn(MODULES) } : {}
}

/** @returns The setting CERTIFICATE_PACKS alone, for the command that fills the folder. */
export function readCertificatePacks(env: NodeJS.ProcessEnv): string | undefined {
  return env.CERTIFICATE_PACKS ? resolve(env.CERTIFICATE_PACKS) : undefined
}

/** @returns The address at which clients reach the gateway, for commands that need nothing else. */
export function readBaseUrl(env: NodeJS.ProcessEnv): string {
  return baseUrlOf(parse(address, env))
}
const address = v.pick(environment, ['PORT', 'HOST', 'BASE_URL'])

const baseUrlOf = ({ BASE_URL, HOST, PORT }: v.InferOutput<typeof address>) =>
  BASE_URL ?? `http://${reachable(HOST)}:${PORT}`

function requireForRemoteChain(e: Environment, signer: SignerSetting | undefined): void {
  const missing = [
    // The issuer is not guessed, because an account may belong to several.
    ...(e.ISSUER_ID ? [] : ['ISSUER_ID is required']),
    ...(signer ? [] : ['ISSUER_KEY is required (or ISSUER_KEYSTORE, or ISSUER_SIGNER_URL)']),
    ...(e.ISSUER_SECRET ? [] : ['ISSUER_SECRET is required']),
  ]
  if (missing.length > 0)
    throw new ConfigError(missing.map((line) => `${line} when RPC_URL is set`))
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
