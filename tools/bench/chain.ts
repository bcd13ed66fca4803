import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { createRpcPool, type RpcPool } from '#chain/rpc.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { ensureRegistry } from '#operate/local-registry.ts'
import { localAnvil, startAnvilNode } from '#test/support/anvil.ts'
import { startGethNode } from '#test/support/geth.ts'
import { randomKey } from '#test/support/given.ts'
import { startLocalIssuer } from '#test/support/local-issuer.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'

/** A chain with a registry and a registered issuer. */
export type BenchChain = {
  url: string
  registry: RegistryId
  issuerKey: Hex
  rpc: RpcPool
  /** Absent if the chain is not an Anvil. */
  anvilPid?: number | undefined
  stop(): Promise<void>
}

const ISSUER = { name: 'Benchmark', uri: 'http://localhost' }
const RPC_TIMEOUT_MS = 60_000
const MANY_ETHER = `0x${(10n ** 24n).toString(16)}`

/**
 * The chain of `npm start`, which mines when a transaction arrives. Its front runs in the calling
 * process.
 */
export async function startInstantChain(dataDir: string): Promise<BenchChain> {
  const { chain, registry, keys } = await startLocalIssuer(join(dataDir, 'chain'))
  const { rpc, stop } = connect(chain.url, chain.stop)
  const anvilPid = anvilPidOf(dataDir)
  return { url: chain.url, registry, issuerKey: keys[0], rpc, anvilPid, stop }
}

/** @returns The Anvil of this data directory. */
export function anvilPidOf(dataDir: string): number | undefined {
  return localAnvil(join(dataDir, 'chain'))?.pid
}

/**
 * Starts an Anvil that mines at fixed times, like public chains.
 *
 * @param blockTime Seconds.
 * @param slots In an epoch; a block is final after two epochs.
 */
export async function startClockedChain(
  dataDir: string,
  blockTime: number,
  slots = 1,
): Promise<BenchChain> {
  const dir = join(dataDir, 'chain')
  mkdirSync(dir)
  const { url, request, kill } = await startAnvilNode(dir, ['--enable-tx-gas-limit'], slots)
  const { rpc, stop } = connect(url, kill)
  const fund = (address: string) => request('anvil_setBalance', address, MANY_ETHER)
  const issuer = await register(rpc, fund)
  await request('evm_setIntervalMining', blockTime)
  return { url, ...issuer, rpc, anvilPid: anvilPidOf(dataDir), stop }
}

/** Starts a geth with a block each second that has room for all transactions in flight. */
export async function startGethChain(binary: string, dataDir: string): Promise<BenchChain> {
  const { url, fund, kill } = await startGethNode(binary, join(dataDir, 'geth'))
  const { rpc, stop } = connect(url, kill)
  return { url, ...(await register(rpc, fund)), rpc, stop }
}

function connect(url: string, end: () => Promise<void>) {
  const rpc = createRpcPool([url], RPC_TIMEOUT_MS)
  const stop = async () => {
    await rpc.close()
    await end()
  }
  return { rpc, stop }
}

async function register(
  rpc: RpcPool,
  fund: (address: string) => Promise<unknown>,
): Promise<Pick<BenchChain, 'registry' | 'issuerKey'>> {
  const [adminKey, issuerKey] = [randomKey(), randomKey()]
  const account = new Wallet(issuerKey).address
  await fund(new Wallet(adminKey).address)
  await fund(account)
  return {
    registry: await ensureRegistry(waitsForBlocks(rpc), adminKey, { account, ...ISSUER }),
    issuerKey,
  }
}

/** Answers a transaction once it is in a block. */
function waitsForBlocks(rpc: RpcPool): Eip1193Provider {
  return {
    async request(args) {
      const answer = await rpc.request(args)
      if (args.method !== 'eth_sendRawTransaction') return answer
      const receipt = { method: 'eth_getTransactionReceipt', params: [answer] }
      while ((await rpc.request(receipt)) === null) await sleep(20)
      return answer
    },
  }
}
