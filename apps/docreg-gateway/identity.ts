// The issuer for which the gateway writes, and the chain that it uses. They come from the settings,
// or are created with the local chain.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { computeAddress } from 'ethers/transaction'
import { createDeadline } from '#base/deadline.ts'
import { createRpcPool } from '#chain/rpc.ts'
import { onlyKnownRegistry } from '#cli/deployments.ts'
import type { Hex } from '#document/hex.ts'
import { formatRegistryId } from '#document/registry-id.ts'
import { copyChain } from '#local-chain/journal.ts'
import { startLocalChainThread } from '#local-chain/thread.ts'
import type { Identity } from '#parts/chain.ts'
import { openCredentialKeys, openSigner } from '#parts/signer.ts'
import { IssueError } from '#promise/errors.ts'
import { type Config, ConfigError } from '#settings/config.ts'
import { isAway } from '#store/drivers/postgres/errors.ts'
import { LOCAL_CHAIN_ID } from '#verifier/defaults.ts'
import { ChainError } from '#verifier/errors.ts'
import { identityAddressOf } from '#verifier/identity.ts'
import { createProvider } from '#verifier/readers/json-rpc.ts'
import { createRequest } from '#verifier/readers/request.ts'
import { CHAIN_FOLDER } from './backup/contents.ts'
import { ensureRegistry, LOCAL_ISSUER_ID, nameIssuer } from './local-registry.ts'
import { ensureCredentialKey, ensureIssuerSecrets, ensureSecret } from './secrets.ts'

type Say = (line: string) => void

/** How long the start waits, in milliseconds. */
const PATIENCE = 30_000
const PAUSE = { first: 100, most: 1_000 }

const LOCAL_ISSUER_NAME = 'Local test issuer'

/**
 * A chain node or PostgreSQL may start later than the gateway, so the start waits for them for up
 * to half a minute.
 */
export async function patiently<T>(work: () => Promise<T>, say: Say): Promise<T> {
  const giveUp = performance.now() + PATIENCE
  for (let pause = PAUSE.first; ; pause = Math.min(2 * pause, PAUSE.most)) {
    try {
      return await work()
    } catch (error) {
      const missing = missingIn(error)
      if (!missing || performance.now() > giveUp) throw error
      if (pause === PAUSE.first) say(`waiting for ${missing} …`)
      await sleep(pause)
    }
  }
}

/** @returns The part that did not answer; `undefined` for any other error. */
function missingIn(error: unknown): string | undefined {
  if (isAway(error)) return 'PostgreSQL'
  const isOutage =
    error instanceof IssueError
      ? error.code === 'chain_unavailable'
      : error instanceof ChainError && error.code === 'rpc_unreachable'
  return isOutage ? 'the chain' : undefined
}

/** @throws {ConfigError} for settings that do not name an issuer. */
export async function remoteIdentity(config: Config, say: Say): Promise<Identity> {
  const { rpcUrls, signer: setting, issuerSecrets, rpcTimeout } = config
  const { issuerId } = config
  if (!setting || !issuerSecrets || !issuerId)
    throw new ConfigError(['RPC_URL, ISSUER_ID, ISSUER_KEY and ISSUER_SECRET must be set together'])
  const signer = await openSigner(setting, rpcTimeout)
  const otherSigners = await Promise.all(
    config.otherSigners.map((other) => openSigner(other, rpcTimeout)),
  )
  const rpc = createRpcPool(rpcUrls, rpcTimeout)
  const chainId = Number(await patiently(() => createRequest(rpc)('eth_chainId', []), say))
  const registry = formatRegistryId(chainId, config.registryAddress ?? knownAddress(chainId))
  return {
    rpc,
    registry,
    issuerId,
    signer,
    otherSigners,
    issuerSecrets,
    ...(config.credentialKeyFile && {
      credentialKeys: await openCredentialKeys(config.credentialKeyFile),
    }),
  }
}

/** @throws {ConfigError} unless `deployments/` has exactly one registry on the chain. */
function knownAddress(chainId: number): Hex {
  const known = onlyKnownRegistry(chainId)
  if (known.address) return known.address
  throw new ConfigError([`REGISTRY_ADDRESS is required: ${known.problem}`])
}

/** Copies the local chain into a folder; absent with another chain. */
export type LocalIdentity = Identity & { copyChain: (folder: string) => Promise<void> }

/** Starts the local chain in the data folder, with its registry and issuer. */
async function localIdentity(
  config: Config,
  stops: (() => Promise<void>)[],
  say: Say,
): Promise<LocalIdentity> {
  const { dataDir, chainPort, rpcTimeout } = config
  const issuerId = config.issuerId ?? LOCAL_ISSUER_ID
  if (issuerId !== LOCAL_ISSUER_ID)
    throw new ConfigError([
      `ISSUER_ID must be ${LOCAL_ISSUER_ID}, the issuer of the local chain, when RPC_URL is not set`,
    ])
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const adminKey = ensureSecret(dataDir, 'admin.key')
  const managerKey = ensureSecret(dataDir, 'manager.key')
  const setting = config.signer ?? {
    kind: 'key',
    key: ensureSecret(dataDir, 'issuer.key'),
  }
  const signer = await openSigner(setting, rpcTimeout)
  const issuerSecrets = config.issuerSecrets ?? ensureIssuerSecrets(dataDir)
  const credentialKeys = await openCredentialKeys(
    config.credentialKeyFile ?? ensureCredentialKey(dataDir),
  )
  const account = signer.address
  const chainDir = join(dataDir, CHAIN_FOLDER)
  const chain = await startLocalChainThread({
    dataDir: chainDir,
    port: chainPort,
    host: '127.0.0.1',
    log: say,
    fund: [computeAddress(adminKey), computeAddress(managerKey), account],
  })
  stops.unshift(chain.stop)
  // The gateway does not need the HTTP port of the chain, because both are in one process.
  const registry = await ensureRegistry(createProvider(chain.send), adminKey, {
    account,
    managerKey,
    ...localIssuerTexts(config),
  })
  const { request } = createProvider((body) =>
    createDeadline(rpcTimeout).within(() => chain.send(body)),
  )
  const rpc = { request, apart: () => ({ request }), sent: new Map(), close: async () => {} }
  return {
    rpc,
    registry,
    issuerId,
    signer,
    issuerSecrets,
    credentialKeys,
    copyChain: (folder) => copyChain(chainDir, folder),
  }
}

/** Opens the issuer of the settings; without RPC_URL, that of the local chain. */
export function openIdentity(
  config: Config,
  stops: (() => Promise<void>)[],
  say: Say,
): Promise<Identity | LocalIdentity> {
  return config.rpcUrls.length > 0 ? remoteIdentity(config, say) : localIdentity(config, stops, say)
}

/**
 * Runs `work` with the chain of a gateway that is not running: that of the settings, or the local
 * one in its data folder, on its own port.
 */
export async function withIdentity<T>(
  config: Config,
  say: Say,
  work: (identity: Identity) => Promise<T>,
): Promise<T> {
  const stops: (() => Promise<void>)[] = []
  try {
    const sayNow = config.rpcUrls.length > 0 ? say : () => {}
    const identity = await openIdentity({ ...config, chainPort: 0 }, stops, sayNow)
    stops.unshift(identity.rpc.close)
    return await work(identity)
  } finally {
    for (const stop of stops) await stop()
  }
}

/**
 * Updates the local chain's issuer after a change of the settings or of the gateway's address. Its
 * uri leads to the gateway, which vouches for it.
 */
export async function nameLocalIssuer(config: Config, { rpc }: Identity): Promise<void> {
  const adminKey = ensureSecret(config.dataDir, 'admin.key')
  await nameIssuer(rpc, adminKey, localIssuerTexts(config))
}

function localIssuerTexts({ issuerName, issuerUri, baseUrl, port }: Config) {
  const here = identityAddressOf(baseUrl, LOCAL_CHAIN_ID) ? baseUrl : `http://127.0.0.1:${port}`
  return { name: issuerName ?? LOCAL_ISSUER_NAME, uri: issuerUri ?? here }
}
