// Measures the chain without a gateway: `issueMany` with the gateway's maximum batch, each sent
// once the previous one is answered.
//
//   node tools/bench/raw.ts '{"dataDir", "blockTime", "documents", "seconds"}'
//
// It prints a `RawResult` as JSON.
import { Wallet } from 'ethers'
import type { Hex } from '#document/hex.ts'
import { MAX_BATCH } from '#engine/planner.ts'
import { type BenchChain, startClockedChain, startInstantChain } from './chain.ts'
import { usageOf } from './processes.ts'
import { signIssues } from './sign-issues.ts'

type RawOptions = {
  dataDir: string
  /** The block time in seconds; 0 = the local chain. */
  blockTime: number
  documents: number
  seconds: number
}

export type RawResult = {
  documents: number
  seconds: number
  /** Anvil's processor time in seconds; absent if it cannot be read. */
  anvilCpu?: number
}

/**
 * The gateway's number of transactions in flight. With blocks at fixed times, the gas limit of a
 * block is reached first.
 */
const IN_FLIGHT = 10

const { dataDir, blockTime, ...limits }: RawOptions = JSON.parse(process.argv[2] ?? '{}')
const chain =
  blockTime === 0 ? await startInstantChain(dataDir) : await startClockedChain(dataDir, blockTime)
try {
  console.log(JSON.stringify(await issueAll(chain)))
} finally {
  await chain.stop()
}

async function issueAll({ rpc, registry, issuerKey, anvilPid }: BenchChain): Promise<RawResult> {
  const wallet = new Wallet(issuerKey)
  const request = <T>(method: string, ...params: unknown[]) =>
    rpc.request({ method, params }) as Promise<T>
  const mined = async () =>
    Number(await request<Hex>('eth_getTransactionCount', wallet.address, 'latest'))

  const before = usageOf(anvilPid)?.cpu
  const start = performance.now()
  const elapsed = () => (performance.now() - start) / 1000
  let sent = 0
  const most = Math.ceil(limits.documents / MAX_BATCH)
  while (sent < most && elapsed() < limits.seconds) {
    const raw = await signIssues(wallet, {
      registry,
      nonce: sent,
      size: MAX_BATCH,
      maxFeePerGas: 10n ** 12n,
    })
    await request('eth_sendRawTransaction', raw)
    sent++
    while (blockTime > 0 && sent - (await mined()) >= IN_FLIGHT)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }
  while ((await mined()) < sent) await new Promise((resolve) => setTimeout(resolve, 5))
  const seconds = elapsed()
  const after = usageOf(anvilPid)?.cpu
  return {
    documents: sent * MAX_BATCH,
    seconds,
    ...(before !== undefined && after !== undefined && { anvilCpu: after - before }),
  }
}
