import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { createRpcPool, type RpcPool } from '#chain/rpc.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { freePort } from '#local-chain/free-port.ts'
import { startLocalChain } from '#local-chain/local-chain.ts'
import { ensureRegistry } from '#operate/local-registry.ts'
import { ensureSecret } from '#operate/secrets.ts'
import { localAnvil } from '#test/support/anvil.ts'
import { startGethNode } from '#test/support/geth.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'

/** A chain with a registry and a registered issuer. */
export type BenchChain = {
  url: string
  registry: RegistryId
  issuerKey: Hex
  rpc: RpcPool
  /** Absent if the chain is not an Anvil. */
  anvilPid?: number
  stop(): Promise<void>
}

const ISSUER = { name: 'Benchmark', uri: 'http://localhost' }
const RPC_TIMEOUT_MS = 60_000

/**
 * The chain of `npm start`, which mines when a transaction arrives. Its front runs in the calling
 * process.
 */
export async function startInstantChain(dataDir: string): Promise<BenchChain> {
  const keys = keysIn(dataDir)
  const dir = join(dataDir, 'chain')
  const chain = await startLocalChain({
    dataDir: dir,
    port: 0,
    host: '127.0.0.1',
    log: () => {},
    fund: keys.addresses,
  })
  const rpc = createRpcPool([chain.url], RPC_TIMEOUT_MS)
  return {
    url: chain.url,
    registry: await registryOn(rpc, keys),
    issuerKey: keys.issuer,
    rpc,
    anvilPid: anvilPidOf(dataDir),
    async stop() {
      await rpc.close()
      await chain.stop()
    },
  }
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
  const keys = keysIn(dataDir)
  const port = await freePort()
  const anvil = spawnAnvil(port, slots)
  const url = `http://127.0.0.1:${port}`
  const rpc = createRpcPool([url], RPC_TIMEOUT_MS)
  await untilAnswered(rpc)
  for (const address of keys.addresses)
    await rpc.request({
      method: 'anvil_setBalance',
      params: [address, `0x${(10n ** 24n).toString(16)}`],
    })
  const registry = await registryOn(minesAtOnce(rpc), keys)
  await rpc.request({
    method: 'evm_setIntervalMining',
    params: [blockTime],
  })
  return {
    url,
    registry,
    issuerKey: keys.issuer,
    rpc,
    anvilPid: anvil.pid ?? 0,
    async stop() {
      await rpc.close()
      anvil.kill('SIGKILL')
    },
  }
}

/** Starts a geth with a block each second that has room for all transactions in flight. */
export async function startGethChain(binary: string, dataDir: string): Promise<BenchChain> {
  const keys = keysIn(dataDir)
  const geth = await startGethNode(binary, join(dataDir, 'geth'))
  const rpc = createRpcPool([geth.url], RPC_TIMEOUT_MS)
  const stop = async () => {
    await rpc.close()
    await geth.kill()
  }
  try {
    for (const address of keys.addresses) await geth.fund(address)
    const registry = await registryOn(waitsForBlocks(rpc), keys)
    return { url: geth.url, registry, issuerKey: keys.issuer, rpc, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** @returns The process that holds the local chain of this data directory. */
export function anvilPidOf(dataDir: string): number {
  return localAnvil(join(dataDir, 'chain'))?.pid ?? 0
}

function keysIn(dataDir: string) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const admin = ensureSecret(dataDir, 'admin.key')
  const issuer = ensureSecret(dataDir, 'issuer.key')
  const addresses = [admin, issuer].map((key) => new Wallet(key).address)
  return { admin, issuer, addresses }
}

function registryOn(
  rpc: Eip1193Provider,
  { admin, issuer }: { admin: Hex; issuer: Hex },
): Promise<RegistryId> {
  const account = new Wallet(issuer).address
  return ensureRegistry(rpc, admin, { account, ...ISSUER })
}

/** Mines a block for each transaction before answering it. */
function minesAtOnce(rpc: RpcPool): Eip1193Provider {
  return {
    async request(args) {
      const answer = await rpc.request(args)
      if (args.method === 'eth_sendRawTransaction') await rpc.request({ method: 'evm_mine' })
      return answer
    },
  }
}

/** Answers a transaction once it is in a block. */
function waitsForBlocks(rpc: RpcPool): Eip1193Provider {
  return {
    async request(args) {
      const answer = await rpc.request(args)
      if (args.method !== 'eth_sendRawTransaction') return answer
      const receipt = { method: 'eth_getTransactionReceipt', params: [answer] }
      while ((await rpc.request(receipt)) === null) await sleep(50)
      return answer
    },
  }
}

function spawnAnvil(port: number, slots: number): ChildProcess {
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const binary = createRequire(import.meta.url).resolve(`${name}/bin/anvil`)
  const flags =
    `--port ${port} --quiet --no-mining --chain-id 31337 --slots-in-an-epoch ${slots} --prune-history 10 --enable-tx-gas-limit`.split(
      ' ',
    )
  return spawn(binary, flags, { stdio: 'ignore', env: {} })
}

async function untilAnswered(rpc: RpcPool): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const answered = await rpc.request({ method: 'eth_chainId' }).then(
      () => true,
      () => false,
    )
    if (answered) return
    await sleep(20)
  }
  throw new Error('Anvil does not answer')
}
