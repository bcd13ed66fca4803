import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { docregGateway } from '../../support/docreg.ts'
import { type GatewayProcess, gatewayProcess, settingsOf } from '../../support/gateway-process.ts'
import { freePort } from '../../support/http.ts'
import { startLocalIssuer } from '../../support/local-issuer.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'
import { ADA, type Answer, API_KEY } from '../../support/stack.ts'

/** One issuer on a chain, a PostgreSQL, and a folder for data folders. */
export type MovableService = {
  dir: string
  postgres: PostgresServer
  proxy: RpcProxy
  /** @param where `DATA_DIR`, and `DATABASE_URL` for PostgreSQL. @returns A started gateway. */
  start(where: Where): Promise<GatewayProcess>
  /** Runs a command with the service's settings. Rejects with its output when it fails. */
  command(name: string, where: Where, ...args: string[]): Promise<string>
  remove(): Promise<void>
}
type Where = { DATA_DIR: string; DATABASE_URL?: string }

/** @param folder A folder of `postgresFolder`. */
export async function startMovableService(folder: string): Promise<MovableService> {
  const dir = mkdtempSync(join(tmpdir(), 'document-registry-movable-'))
  const postgres = await startPostgres(folder)
  const { chain, registry, keys } = await startLocalIssuer(join(dir, 'chain'))
  const proxy = await startRpcProxy(chain.url)
  const settings = {
    ...settingsOf(proxy.url, registry),
    PORT: String(await freePort()),
    ISSUER_KEY: keys[0],
    ERASURE_LIST: join(dir, 'erased.txt'),
    WAIT_SECONDS: '2',
    LOCK_SECONDS: '2',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    LOG_LEVEL: 'info',
  }
  const gateways: GatewayProcess[] = []
  return {
    dir,
    postgres,
    proxy,
    async start(where) {
      const gateway = gatewayProcess({ ...settings, ...where })
      gateways.push(gateway)
      await gateway.start()
      return gateway
    },
    async command(name, where, ...args) {
      const env = { ...settings, ...where }
      const ran = await docregGateway([...name.split(' '), ...args], { env })
      if (ran.code !== 0) throw Object.assign(new Error(ran.stderr), ran)
      return ran.stdout
    },
    async remove() {
      await Promise.all(gateways.map((gateway) => gateway.kill()))
      await proxy.close()
      await chain.stop()
      await postgres.remove()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Calls the API of a gateway. */
export async function call(
  { url }: GatewayProcess,
  path: string,
  { method = 'GET', body, key = API_KEY, repeat }: Call = {},
): Promise<Pick<Answer, 'status' | 'body'>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(repeat !== undefined && { 'idempotency-key': repeat }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}
type Call = { method?: string; body?: object; key?: string; repeat?: string }

/** Issues one document. @param repeat The Idempotency-Key. */
export const issueWith = (gateway: GatewayProcess, repeat: string) =>
  call(gateway, '/v1/documents', { method: 'POST', body: ADA, repeat })
