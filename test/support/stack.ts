import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '#base/log.ts'
import { createRpcPool } from '#chain/rpc.ts'
import type { Signer } from '#chain/signer.ts'
import { createKeySigner } from '#chain/signer.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { type Gateway, startGateway } from '#gateway/main.ts'
import type { Scope } from '#keys/grant.ts'
import { makeKey } from '#keys/keys.ts'
import type { KeyStore } from '#keys/ports.ts'
import { modulesOf } from '#modules/all.ts'
import { LOCAL_ISSUER_ID } from '#operate/local-registry.ts'
import type { Identity } from '#parts/chain.ts'
import { databaseOf } from '#parts/databases.ts'
import { openCredentialKeys } from '#parts/signer.ts'
import { type Config, readConfig } from '#settings/config.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { departures } from './described.ts'
import { ADA, API_KEY, randomKey } from './given.ts'
import { freePort } from './http.ts'
import { startLocalIssuer } from './local-issuer.ts'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts'

export { ADA, API_KEY, randomKey }

export type Answer = {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape.
  body: any
}

/** A real chain, registry and gateway on free ports, in a separate folder. */
export type Stack = {
  url: string
  dataDir: string
  registry: RegistryId
  issuerKey: Hex
  /** The key of the admin, who is also the issuer's MANAGE account. */
  adminKey: Hex
  /** Bypasses the proxy. */
  provider: Eip1193Provider
  chainUrl: string
  /** The proxy between gateway and chain. */
  proxy: RpcProxy
  /** Fails for an answer that does not match /openapi.json. */
  request(path: string, init?: RequestInit): Promise<Answer>
  issue(fields: object, headers?: Record<string, string>): Promise<Answer>
  verify(publicId: string): Promise<Answer>
  key(scopes: Scope[], tenant?: string): string
  stop(): Promise<void>
}

type Keys = Pick<KeyStore, 'put'> & { close(): unknown }

async function openKeysOf(config: Config): Promise<Keys> {
  const { store, close } = await (await databaseOf(config)).openKeys(createLog('silent'))
  return { put: store.put, close }
}

/** @returns A client of a gateway, which fails for an answer that does not match /openapi.json. */
export function requestsTo(url: string): (path: string, init?: RequestInit) => Promise<Answer> {
  return async (path, init = {}) => {
    const response = await fetch(`${url}${path}`, init)
    const type = response.headers.get('content-type') ?? ''
    const bytes = new Uint8Array(await response.arrayBuffer())
    const isJson = /^application\/json\b/.test(type) && bytes.length > 0
    const body = isJson ? JSON.parse(Buffer.from(bytes).toString()) : bytes
    const { status } = response
    const departed = departures(
      { method: init.method ?? 'GET', path },
      { status, contentType: type, body },
    )
    if (departed.length > 0) throw new Error(`not as in /openapi.json: ${departed.join('; ')}`)
    return { status, headers: response.headers, body }
  }
}

/**
 * Starts a gateway of issuer 1 in this process. Every test that has one does it here.
 *
 * @param issuer A part that is not named is made up.
 */
export async function startGatewayFor(
  config: Config,
  issuer: Pick<Identity, 'rpc' | 'registry' | 'signer'> & Partial<Identity>,
): Promise<Gateway> {
  const { credentialKeyFile } = config
  const identity = {
    issuerId: LOCAL_ISSUER_ID,
    issuerSecrets: [randomKey()] as [Hex],
    ...(credentialKeyFile && { credentialKeys: await openCredentialKeys(credentialKeyFile) }),
    fetchDid: async () => {
      throw new Error('tests make no outside requests')
    },
    ...issuer,
  }
  return startGateway(config, identity, modulesOf(config), (error) => {
    throw error
  })
}

/**
 * @param signerOf Creates the signer from the issuer account's key.
 * @param nodesOf The gateway's nodes, from the addresses of the proxy and of the chain behind it.
 */
export async function startStack(
  env: Record<string, string> = {},
  signerOf: (issuerKey: Hex) => Signer | Promise<Signer> = createKeySigner,
  nodesOf = (proxy: string, _chain: string) => [proxy],
): Promise<Stack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'document-registry-'))
  const {
    chain,
    provider,
    registry,
    adminKey,
    keys: accounts,
  } = await startLocalIssuer(join(dataDir, 'chain'))
  const [issuerKey] = accounts
  const proxy = await startRpcProxy(chain.url)
  const config = readConfig({
    PORT: String(await freePort()),
    DATA_DIR: dataDir,
    ERASURE_LIST: `${dataDir}.erased`,
    API_KEY,
    LOG_LEVEL: 'silent',
    RATE_LIMIT: 'off',
    ...env,
  })
  const leave = async () => {
    await proxy.close()
    await chain.stop()
    rmSync(dataDir, { recursive: true, force: true })
    rmSync(config.erasureList, { force: true })
  }
  const rpc = createRpcPool(nodesOf(proxy.url, chain.url), config.rpcTimeout)
  const issuer = { rpc, registry, signer: await signerOf(issuerKey) }
  const gateway = await startGatewayFor(config, issuer).catch(async (error) => {
    await leave()
    throw error
  })
  const keys = await openKeysOf(config)
  let keysWritten: Promise<void> = Promise.resolve()
  const url = config.baseUrl

  const send = requestsTo(url)
  const request = async (path: string, init?: RequestInit) => {
    await keysWritten
    return send(path, init)
  }

  return {
    url,
    dataDir,
    registry,
    issuerKey,
    adminKey,
    provider,
    chainUrl: chain.url,
    proxy,
    request,
    issue: (fields, headers = {}) =>
      request('/v1/documents', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify(fields),
      }),
    verify: (publicId) =>
      request(`/v1/verify?publicId=${publicId}`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      }),
    key(scopes, tenant = 'default') {
      const { key, secret } = makeKey({ scopes, tenant })
      // SQLite has written the key when this returns; `request` waits for PostgreSQL.
      const written = keys.put(key)
      keysWritten = keysWritten.then(() => written)
      return secret
    },
    async stop() {
      await keysWritten
      await keys.close()
      await gateway.stop()
      await leave()
    },
  }
}
