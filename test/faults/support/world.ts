import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { type Hex, toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { ensureRegistry } from '#operate/local-registry.ts'
import { type AnvilNode, startAnvilNode } from '../../support/anvil.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { type GatewayProcess, gatewayProcess, settingsOf } from '../../support/gateway-process.ts'
import { randomKey } from '../../support/given.ts'
import { freePort } from '../../support/http.ts'
import { type Client, createClient } from './client.ts'
import { type Ledger, readLedger } from './ledger.ts'
import { temporaryFolder } from './machine.ts'
import { type Judgement, judge } from './oracle.ts'
import { isRevocationPromised, promisesOf, type Wish } from './wish.ts'

/** A node of any kind. */
export type Chain = {
  url: string
  request<T>(method: string, ...params: unknown[]): Promise<T>
  fund(account: string): Promise<void>
  /** Incremented before and after each loss of blocks. */
  rewrites: number
}

/**
 * Gateways in their own processes, a chain behind a faulty proxy, and clients that remember every
 * answer.
 */
export type World = {
  chain: Chain
  proxy: FaultProxy
  gateway: GatewayProcess
  /** All gateways of one issuer, each with its own account and folder. */
  gateways: readonly GatewayProcess[]
  client: Client
  ledger: Ledger
  issuerSecret: Hex
  /** The keys of the gateways' accounts, in the same order. */
  issuerKeys: readonly [Hex, ...Hex[]]
  /** The accounts of the gateways, in the same order. */
  accounts: readonly string[]
  /** The first gateway's data folder. */
  dataDir: string
  /** The first gateway's settings. */
  env: Record<string, string>
  /**
   * Ends all faults, starts the gateways that are not running, and waits until every promise is on
   * the chain or the time is up.
   *
   * @returns The milliseconds until all promises were kept, once all gateways were ready.
   */
  settle(): Promise<number>
  judge(): Promise<Judgement>
  close(): Promise<void>
}

export type AnvilWorld = World & { chain: AnvilNode & Chain }

/** How long promises may take to reach the chain without faults, in milliseconds. */
const PATIENCE = 120_000
/** The number of blocks that are added to this on a chain with slow blocks. */
const BLOCKS_OF_PATIENCE = 10

export type WorldSize = {
  /** The number of gateways of the issuer; one by default. */
  gateways?: number
  /** How long promises may take to reach the chain in `settle`, in milliseconds. */
  patience?: number
}

export async function startAnvilWorld(
  env: Record<string, string> = {},
  {
    finality,
    blockTime,
    patience = PATIENCE,
    ...size
  }: WorldSize & {
    /** Half the blocks by which the finalized block is behind the head. */
    finality?: number
    /** The seconds between blocks; absent = a block at once for each transaction. */
    blockTime?: number
  } = {},
): Promise<AnvilWorld> {
  const folder = temporaryFolder()
  let clock: NodeJS.Timeout | undefined
  const anvil = await startAnvilNode(folder.dir, [], finality, async (request) => {
    if (clock) await request('evm_setAutomine', false)
  })
  const chain = {
    ...anvil,
    rewrites: 0,
    fund: (account: string) =>
      anvil.request<void>('anvil_setBalance', account, '0x56bc75e2d63100000'),
  }
  const leave = async () => {
    clearInterval(clock)
    await anvil.kill()
    folder.remove()
  }
  const world = await startWorld(chain, folder.dir, env, {
    ...size,
    patience: patience + BLOCKS_OF_PATIENCE * (blockTime ?? 0) * 1000,
  }).catch(async (error) => {
    await leave()
    throw error
  })
  // This makes the registry older than any reorg.
  await chain.request('anvil_mine', '0x10')
  if (blockTime !== undefined) {
    await chain.request('evm_setAutomine', false)
    const mine = () => chain.request('evm_mine').catch(() => {})
    clock = setInterval(mine, blockTime * 1000)
  }
  return {
    ...world,
    chain,
    async close() {
      clearInterval(clock)
      await world.close()
      await leave()
    },
  }
}

/** @param dir The folder for the gateways' data. `close` removes neither it nor the chain. */
export async function startWorld(
  chain: Chain,
  dir: string,
  env: Record<string, string> = {},
  { gateways: count = 1, patience = PATIENCE }: WorldSize = {},
): Promise<World> {
  const adminKey = randomKey()
  const keys: [Hex, ...Hex[]] = [randomKey(), ...Array.from({ length: count - 1 }, randomKey)]
  for (const key of [adminKey, ...keys]) await chain.fund(new Wallet(key).address)
  const [first, ...others] = keys
  const registry = await deploy(chain, adminKey, new Wallet(first).address)
  for (const key of others) await deploy(chain, adminKey, new Wallet(key).address)
  const proxy = await startFaultProxy(chain.url)
  const ports = await Promise.all(keys.map(freePort))
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const ofAll = settingsOf(proxy.url, registry)
  const settings = keys.map((key, i) => ({
    ...ofAll,
    PORT: String(ports[i]),
    DATA_DIR: join(dir, i === 0 ? 'gateway' : `gateway-${i}`),
    ISSUER_KEY: key,
    IPFS_GATEWAYS: urls.filter((_, other) => other !== i).join(','),
    LOG_LEVEL: 'info',
    ...env,
  }))
  const gateways = settings.map(gatewayProcess)
  const [gateway] = gateways
  const [firstSettings] = settings
  if (!gateway || !firstSettings) throw new Error('a world has a gateway')
  const client = createClient(...(urls as [string]))
  const ledger = readLedger(chain.request, registry)
  const close = async () => {
    await Promise.all(gateways.map((one) => one.kill()))
    await client.close()
    await proxy.close()
  }
  const started = await Promise.allSettled(gateways.map((one) => one.start()))
  const failed = started.find((one) => one.status === 'rejected')
  if (failed) {
    await close()
    throw failed.reason
  }

  async function allKept(): Promise<boolean> {
    const hashesOf = (wishes: readonly Wish[]) =>
      wishes.flatMap(promisesOf).map((publicId) => toHex(decodePublicId(publicId).hash))
    const hashes = hashesOf(client.wishes)
    const revoked = hashesOf(client.wishes.filter(isRevocationPromised))
    const revised = client.wishes.filter((wish) => !wish.revocation && !wish.successor)
    const suspended = hashesOf(
      revised.filter(({ suspension }) => suspension?.done && suspension.change === 'suspend'),
    )
    return (
      (await ledger.recorded(hashes)).size === new Set(hashes).size &&
      (await ledger.revoked(revoked)).size === new Set(revoked).size &&
      (await ledger.suspended(suspended)).size === suspended.length
    )
  }

  return {
    chain,
    proxy,
    gateway,
    gateways,
    client,
    ledger,
    issuerSecret: ofAll.ISSUER_SECRET,
    issuerKeys: keys,
    accounts: keys.map((key) => new Wallet(key).address),
    dataDir: firstSettings.DATA_DIR,
    env: firstSettings,
    async settle() {
      proxy.heal()
      for (const one of gateways)
        if (one.running()) await one.ready()
        else await one.start()
      const began = performance.now()
      while (!(await allKept()) && performance.now() < began + patience) await sleep(50)
      return performance.now() - began
    },
    judge: () => judge({ client, ledger, issuerSecret: ofAll.ISSUER_SECRET }),
    close,
  }
}

/**
 * Repeats until it succeeds, because one call may not be enough on a chain with a block time. Each
 * step is done only once.
 */
async function deploy({ request }: Chain, adminKey: Hex, account: string): Promise<RegistryId> {
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
