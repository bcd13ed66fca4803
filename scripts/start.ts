// `npm start`: the gateway, and the local chain when no RPC_URL is set.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { openKeyFile } from '../gateway/adapters/key-file.ts'
import { createRpcPool } from '../gateway/adapters/rpc.ts'
import { openSigner } from '../gateway/adapters/signer.ts'
import {
  type Config,
  ConfigError,
  deployedAddress,
  readConfig,
} from '../gateway/config.ts'
import { createDeadline } from '../gateway/deadline.ts'
import { IssueError } from '../gateway/issue/errors.ts'
import { type Identity, startGateway } from '../gateway/server.ts'
import { ChainError } from '../verifier/errors.ts'
import { createProvider } from '../verifier/readers/json-rpc.ts'
import { createRequest } from '../verifier/readers/request.ts'
import { startLocalChainThread } from './local-chain/thread.ts'
import { ensureRegistry, LOCAL_ISSUER_ID } from './local-registry.ts'
import { ensureSecret } from './secrets.ts'

/** Milliseconds. */
const PATIENCE = 30_000
const PAUSE = { first: 100, most: 1_000 }

const LOCAL_ISSUER_TEXTS = {
  name: 'Local test issuer',
  uri: 'http://localhost',
}

const say = (line = '') => console.log(line)

async function main(): Promise<void> {
  // Whatever is made from here on is for this user alone.
  process.umask(0o077)
  const config = readConfig(process.env)
  const stops: (() => Promise<void>)[] = []
  stopOnSignals(stops)
  try {
    const identity =
      config.rpcUrls.length > 0
        ? await remoteIdentity(config)
        : await localIdentity(config, stops)
    const gateway = await patiently(() => startGateway(config, identity))
    stops.unshift(gateway.stop)
    greet(config, identity, firstKey(config))
  } catch (error) {
    for (const stop of stops) await stop()
    throw error
  }
}

/** A node may start later than the gateway, or be slow to wake: it is given half a minute. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const giveUp = performance.now() + PATIENCE
  for (let pause = PAUSE.first; ; pause = Math.min(2 * pause, PAUSE.most)) {
    try {
      return await work()
    } catch (error) {
      if (!isOutage(error) || performance.now() > giveUp) throw error
      if (pause === PAUSE.first) say('waiting for the chain …')
      await sleep(pause)
    }
  }
}

function isOutage(error: unknown): boolean {
  if (error instanceof IssueError) return error.code === 'chain_unavailable'
  return error instanceof ChainError && error.code === 'rpc_unreachable'
}

async function remoteIdentity(config: Config): Promise<Identity> {
  const { rpcUrls, signer: setting, issuerSecret, rpcTimeout } = config
  const { issuerId } = config
  if (!setting || !issuerSecret || !issuerId)
    throw new ConfigError([
      'RPC_URL, ISSUER_ID, ISSUER_KEY and ISSUER_SECRET go together',
    ])
  const signer = await openSigner(setting, rpcTimeout)
  const rpc = createRpcPool(rpcUrls, rpcTimeout)
  const chainId = Number(
    await patiently(() => createRequest(rpc)('eth_chainId', [])),
  )
  const address = config.registryAddress ?? deployedAddress(chainId)
  if (!address)
    throw new ConfigError([
      `REGISTRY_ADDRESS is required: there is no deployments/${chainId}.json`,
    ])
  const registry = `eip155:${chainId}:${address}`
  return { rpc, registry, issuerId, signer, issuerSecret }
}

async function localIdentity(
  config: Config,
  stops: (() => Promise<void>)[],
): Promise<Identity> {
  const { dataDir, chainPort, rpcTimeout } = config
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const adminKey = ensureSecret(dataDir, 'admin.key')
  const managerKey = ensureSecret(dataDir, 'manager.key')
  const setting = config.signer ?? {
    kind: 'key',
    key: ensureSecret(dataDir, 'issuer.key'),
  }
  const signer = await openSigner(setting, rpcTimeout)
  const issuerSecret =
    config.issuerSecret ?? ensureSecret(dataDir, 'issuer.secret')
  const account = signer.address
  const chain = await startLocalChainThread({
    dataDir: join(dataDir, 'chain'),
    port: chainPort,
    host: '127.0.0.1',
    log: say,
    fund: [
      new Wallet(adminKey).address,
      new Wallet(managerKey).address,
      account,
    ],
  })
  stops.unshift(chain.stop)
  // From within: the gateway need not go through the chain's own port.
  const registry = await ensureRegistry(createProvider(chain.send), adminKey, {
    account,
    managerKey,
    ...LOCAL_ISSUER_TEXTS,
  })
  const { request } = createProvider((body) =>
    createDeadline(rpcTimeout).within(() => chain.send(body)),
  )
  const rpc = { request, apart: () => ({ request }), close: async () => {} }
  const issuerId = LOCAL_ISSUER_ID
  return { rpc, registry, issuerId, signer, issuerSecret }
}

/** @returns The key itself on the first start, when none was given; it is kept nowhere. */
function firstKey({ dataDir, apiKey }: Config): string | undefined {
  const path = join(dataDir, 'keys.json')
  if (apiKey !== undefined || existsSync(path)) return undefined
  return openKeyFile(path).create({ scopes: ['admin'] }).key
}

function greet(
  { baseUrl, verifyUrl, dataDir, apiKey, rpcUrls, chainPort }: Config,
  { registry, issuerId }: Identity,
  key: string | undefined,
): void {
  say()
  say(`document-registry is ready at ${baseUrl}`)
  // An RPC address often holds a key.
  const origins = rpcUrls.map((url) => new URL(url).origin)
  say(`  chain     ${origins.join(', ') || `http://127.0.0.1:${chainPort}`}`)
  say(`  registry  ${registry}`)
  say(`  issuer    ${issuerId}`)
  say(`  page      ${verifyUrl}`)
  say(`  data      ${dataDir}`)
  say()
  if (key) {
    say('An API key, shown this once:')
    say()
    say(`  export API_KEY=${key}`)
  } else if (apiKey) {
    say('The API key is the one in $API_KEY.')
  } else {
    say('The API key is the one that the first start has shown; make another:')
    say('  npm run keys -- create --scope admin')
  }
  say()
  say('Issue a document:')
  say()
  say(`  publicId=$(curl -sS ${baseUrl}/v1/documents \\
    -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" \\
    -d '{"subjectName":"Ada Lovelace","subjectId":"18151210","category":"birth_certificate","issuedAt":"2026-01-31"}' \\
    | tee -a /dev/stderr | sed -E 's/.*"publicId":"([^"]+)".*/\\1/')`)
  say()
  say('Verify it:')
  say()
  say(`  curl -sS "${baseUrl}/v1/verify?publicId=$publicId" \\
    -H "Authorization: Bearer $API_KEY"`)
  say()
}

/** Ctrl-C and SIGTERM stop everything once, gateway first; under npm Ctrl-C arrives twice, and the second must not force. */
function stopOnSignals(stops: (() => Promise<void>)[]): void {
  let stopping = false
  const stopAll = async () => {
    if (stopping) return
    stopping = true
    say('stopping …')
    for (const stop of stops) await stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      stopAll().catch((error) => {
        console.error(error)
        process.exit(1)
      })
    })
}

main().catch((error) => {
  console.error(tell(error))
  process.exit(1)
})

/** What somebody who starts the service can do something about is told without a stack; the rest is a bug. */
function tell(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return `cannot start:\n  ${error.message}\n  Another program listens there: set PORT`
  const known = [
    'ChainError',
    'ConfigError',
    'DataDirError',
    'IssueError',
    'KeyFileError',
    'LocalChainError',
    'LocalRegistryError',
  ]
  return known.includes(error.name) || code !== undefined
    ? `cannot start:\n  ${error.message.replace(/^cannot start:\s*/, '')}`
    : error
}
