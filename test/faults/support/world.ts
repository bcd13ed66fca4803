import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { type Hex, toHex } from '../../../document/hex.ts'
import { decodePublicId } from '../../../document/public-id.ts'
import { ensureRegistry } from '../../../scripts/local-registry.ts'
import { type AnvilNode, startAnvilNode } from '../../support/anvil.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { type GatewayProcess, gatewayProcess } from '../../support/gateway-process.ts'
import { freePort } from '../../support/http.ts'
import { randomKey } from '../../support/stack.ts'
import {
  API_KEY,
  type Client,
  createClient,
  isRevocationPromised,
  promisesOf,
  type Wish,
} from './client.ts'
import { type Ledger, readLedger } from './ledger.ts'
import { temporaryFolder } from './machine.ts'
import { type Judgement, judge } from './oracle.ts'

/** A node of any kind, as the tests use it. */
export type Chain = {
  url: string
  request<T>(method: string, ...params: unknown[]): Promise<T>
  fund(account: string): Promise<void>
  /** Grows by one before and after blocks that it had are gone. */
  rewrites: number
}

/** A gateway in a process of its own, before a chain with faults, and clients that remember what they were told. */
export type World = {
  chain: Chain
  proxy: FaultProxy
  gateway: GatewayProcess
  client: Client
  ledger: Ledger
  issuerSecret: Hex
  issuerKey: Hex
  /** The gateway's; its database can be read while it does not run. */
  dataDir: string
  /** The gateway's settings. */
  env: Record<string, string>
  /** Ends all faults, has the gateway running, and waits until every promise is on the chain or half a minute has passed. */
  settle(): Promise<void>
  judge(): Promise<Judgement>
  close(): Promise<void>
}

export type AnvilWorld = World & { chain: AnvilNode & Chain }

/** How long promises may take to be kept once nothing is in their way; milliseconds. */
const PATIENCE = 30_000

export async function startAnvilWorld(
  env: Record<string, string> = {},
  options: readonly string[] = [],
  finality?: number,
): Promise<AnvilWorld> {
  const folder = temporaryFolder()
  const anvil = await startAnvilNode(folder.dir, options, finality)
  const chain = {
    ...anvil,
    rewrites: 0,
    fund: (account: string) =>
      anvil.request<void>('anvil_setBalance', account, '0x56bc75e2d63100000'),
  }
  const world = await startWorld(chain, folder.dir, env)
  // The registry itself is older than any reorg.
  await chain.request('anvil_mine', '0x10')
  return {
    ...world,
    chain,
    async close() {
      await world.close()
      await anvil.kill()
      folder.remove()
    },
  }
}

/** @param dir For the gateway's data; `close` leaves it and the chain alone. */
export async function startWorld(
  chain: Chain,
  dir: string,
  env: Record<string, string> = {},
): Promise<World> {
  const [adminKey, issuerKey, issuerSecret] = [randomKey(), randomKey(), randomKey()]
  const account = new Wallet(issuerKey).address
  for (const key of [adminKey, issuerKey]) await chain.fund(new Wallet(key).address)
  const registry = await deploy(chain, adminKey, account)
  const proxy = await startFaultProxy(chain.url)
  const dataDir = join(dir, 'gateway')
  const settings = {
    PORT: String(await freePort()),
    DATA_DIR: dataDir,
    API_KEY,
    RPC_URL: proxy.url,
    REGISTRY_ADDRESS: registry.split(':')[2] ?? '',
    ISSUER_ID: '1',
    ISSUER_KEY: issuerKey,
    ISSUER_SECRET: issuerSecret,
    LOG_LEVEL: 'info',
    RATE_LIMIT: 'off',
    ...env,
  }
  const gateway = gatewayProcess(settings)
  const client = createClient(gateway.url)
  const ledger = readLedger(chain.request, registry)
  await gateway.start()

  async function allKept(): Promise<boolean> {
    const hashesOf = (wishes: readonly Wish[]) =>
      wishes.flatMap(promisesOf).map((publicId) => toHex(decodePublicId(publicId).hash))
    const hashes = hashesOf(client.wishes)
    const revoked = hashesOf(client.wishes.filter(isRevocationPromised))
    return (
      (await ledger.recorded(hashes)).size === new Set(hashes).size &&
      (await ledger.revoked(revoked)).size === new Set(revoked).size
    )
  }

  return {
    chain,
    proxy,
    gateway,
    client,
    ledger,
    issuerSecret,
    issuerKey,
    dataDir,
    env: settings,
    async settle() {
      proxy.heal()
      if (gateway.running()) await gateway.ready()
      else await gateway.start()
      const deadline = performance.now() + PATIENCE
      while (!(await allKept()) && performance.now() < deadline) await sleep(50)
    },
    judge: () => judge({ client, ledger, issuerSecret }),
    async close() {
      await gateway.kill()
      await client.close()
      await proxy.close()
    },
  }
}

/** Each step is done once, however often it is tried; a chain with a block period needs several tries. */
async function deploy({ request }: Chain, adminKey: Hex, account: string): Promise<string> {
  const provider = {
    request: ({ method, params = [] }: { method: string; params?: readonly unknown[] }) =>
      request(method, ...params),
  }
  const issuer = { account, name: 'Fault office', uri: 'https://fault.example' }
  const deadline = performance.now() + PATIENCE
  while (true)
    try {
      return await ensureRegistry(provider, adminKey, issuer)
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(50)
    }
}
