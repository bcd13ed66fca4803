import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { type GatewayProcess, gatewayProcess, settingsOf } from '../../support/gateway-process.ts'
import { freePort } from '../../support/http.ts'
import { startLocalIssuer } from '../../support/local-issuer.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { type PostgresProxy, startPostgresProxy } from '../../support/postgres-proxy.ts'
import { type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'

/** Gateways as processes on one PostgreSQL and one chain, with the accounts of one issuer. */
export type SharedGateways = {
  gateways: readonly GatewayProcess[]
  postgres: PostgresServer
  databaseUrl: string
  /** The proxy between gateways and PostgreSQL. */
  postgresProxy: PostgresProxy
  /** The proxy to their first node. With one way it is `proxy`. */
  firstProxy: RpcProxy
  /** The proxy between gateways and chain. */
  proxy: RpcProxy
  /** Bypasses the proxy. */
  provider: Eip1193Provider
  registry: string
  /** The documentHashes of all events of issuing, in order. */
  issuedEvents(): Promise<Hex[]>
  /** The documentHashes of all events of revoking. */
  revokedEvents(): Promise<Hex[]>
  remove(): Promise<void>
}

/**
 * @param folder A folder of `postgresFolder`.
 * @param counts.accounts The number of accounts, which all gateways have.
 * @param counts.nodes The number of ways to the node, 1 or 2; absent = 1.
 * @param env Additional settings of each gateway.
 */
export async function startSharedGateways(
  folder: string,
  counts: { gateways: number; accounts: number; nodes?: 1 | 2 },
  env: Record<string, string> = {},
): Promise<SharedGateways> {
  const dir = mkdtempSync(join(tmpdir(), 'document-registry-shared-'))
  const postgres = await startPostgres(folder)
  const databaseUrl = await postgres.newDatabase()
  const { chain, provider, registry, keys } = await startLocalIssuer(
    join(dir, 'chain'),
    counts.accounts,
  )
  const postgresProxy = await startPostgresProxy(databaseUrl)
  const proxy = await startRpcProxy(chain.url)
  const firstProxy = counts.nodes === 2 ? await startRpcProxy(chain.url) : proxy
  const settings = {
    ...settingsOf([...new Set([firstProxy.url, proxy.url])].join(','), registry),
    DATABASE_URL: postgresProxy.url,
    ISSUER_KEY: keys.join(','),
    LOCK_SECONDS: '3',
    LOG_LEVEL: 'debug',
    ...env,
  }
  const gateways: GatewayProcess[] = []
  for (let i = 0; i < counts.gateways; i++) {
    const dataDir = join(dir, `gateway-${i}`)
    gateways.push(
      gatewayProcess({ ...settings, PORT: String(await freePort()), DATA_DIR: dataDir }),
    )
  }
  await Promise.all(gateways.map((gateway) => gateway.start()))
  return {
    gateways,
    postgres,
    databaseUrl,
    postgresProxy,
    proxy,
    firstProxy,
    provider,
    registry,
    issuedEvents: () => hashesIn(provider, 'DocumentIssued'),
    revokedEvents: () => hashesIn(provider, 'DocumentRevoked'),
    async remove() {
      await Promise.all(gateways.map((gateway) => gateway.kill()))
      await proxy.close()
      if (firstProxy !== proxy) await firstProxy.close()
      await postgresProxy.close()
      await chain.stop()
      await postgres.remove()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function hashesIn(provider: Eip1193Provider, event: string): Promise<Hex[]> {
  const topic = registryAbi.getEvent(event)?.topicHash
  const logs = await provider.request({
    method: 'eth_getLogs',
    params: [{ fromBlock: '0x0', topics: [topic] }],
  })
  return (logs as { topics: Hex[] }[]).map(({ topics }) => topics[1] as Hex)
}
