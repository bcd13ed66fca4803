import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRpcPool } from '#chain/rpc.ts'
import { createKeySigner } from '#chain/signer.ts'
import type { Hex } from '#document/hex.ts'
import { readConfig } from '#settings/config.ts'
import { freePort } from './http.ts'
import { type LocalIssuer, startLocalIssuer } from './local-issuer.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts'
import { type Answer, API_KEY, randomKey, requestsTo, startGatewayFor } from './stack.ts'

/** One of several gateways in this process. */
export type SharedGateway = {
  url: string
  /** The proxy between this gateway and the chain. */
  proxy: RpcProxy
  /**
   * Calls with the API key, unless `headers` has another. Fails for an answer that is not in
   * /openapi.json.
   */
  call(method: string, path: string, body?: object, headers?: object): Promise<Answer>
  stop(): Promise<void>
}

/** Gateways in this process, on one PostgreSQL and one chain, with the accounts of one issuer. */
export type SharedStack = LocalIssuer & {
  postgres: PostgresServer
  databaseUrl: string
  /** Starts one more gateway. @param keys The keys of its accounts; absent = all. */
  start(env?: Record<string, string>, keys?: readonly Hex[]): Promise<SharedGateway>
  remove(): Promise<void>
}

/**
 * @param folder A folder of `postgresFolder`.
 * @param accounts The number of accounts of the issuer.
 * @param settings The settings of each gateway.
 */
export async function startSharedStack(
  folder: string,
  accounts: number,
  settings: Record<string, string> = {},
): Promise<SharedStack> {
  const dir = mkdtempSync(join(tmpdir(), 'document-registry-shared-'))
  const postgres = await startPostgres(folder)
  const databaseUrl = await postgres.newDatabase()
  const issuer = await startLocalIssuer(join(dir, 'chain'), accounts)
  const issuerSecrets: [Hex] = [randomKey()]
  const stops: (() => Promise<void>)[] = []

  async function start(env = {}, keys: readonly Hex[] = issuer.keys): Promise<SharedGateway> {
    const proxy = await startRpcProxy(issuer.chain.url)
    const dataDir = mkdtempSync(join(dir, 'gateway-'))
    const config = readConfig({
      PORT: String(await freePort()),
      DATA_DIR: dataDir,
      ERASURE_LIST: `${dataDir}.erased`,
      API_KEY,
      DATABASE_URL: databaseUrl,
      RATE_LIMIT: 'off',
      LOCK_SECONDS: '3',
      LOG_LEVEL: 'silent',
      BASE_URL: 'https://documents.example',
      ...settings,
      ...env,
    })
    const [signer, ...otherSigners] = keys.map(createKeySigner)
    if (signer === undefined) throw new Error('a gateway needs an account')
    const rpc = createRpcPool([proxy.url], config.rpcTimeout)
    const { registry } = issuer
    const identity = { rpc, registry, signer, otherSigners, issuerSecrets }
    const gateway = await startGatewayFor(config, identity)
    const url = `http://127.0.0.1:${config.port}`
    const request = requestsTo(url)
    let stopped: Promise<void> | undefined
    const stop = () => {
      stopped ??= gateway.stop().then(proxy.close)
      return stopped
    }
    stops.push(stop)
    return {
      url,
      proxy,
      stop,
      call: (method, path, body, headers) =>
        request(path, {
          method,
          headers: {
            authorization: `Bearer ${API_KEY}`,
            'content-type': 'application/json',
            ...headers,
          },
          ...(body && { body: JSON.stringify(body) }),
        }),
    }
  }

  return {
    ...issuer,
    postgres,
    databaseUrl,
    start,
    async remove() {
      await Promise.all(stops.map((stop) => stop()))
      await issuer.chain.stop()
      await postgres.remove()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
