import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ContractFactory, Interface, type InterfaceAbi, type TransactionLike, Wallet } from 'ethers'
import { onTestFinished } from 'vitest'
import {
  type LocalChain,
  type LocalChainOptions,
  startLocalChain,
} from '#local-chain/local-chain.ts'
import { localAnvil } from '../../support/anvil.ts'

type Receipt = {
  transactionHash: string
  blockHash: string
  blockNumber: string
  contractAddress: string
  logs: unknown[]
  status: string
}
type Block = {
  number: string
  hash: string
  timestamp: string
  transactions: string[]
}
export type Answer<T> = {
  id: unknown
  result: T
  error?: { code: number; message: string }
}

const artifact = JSON.parse(
  readFileSync(
    new URL(
      '../../../artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json',
      import.meta.url,
    ),
    'utf8',
  ),
) as { abi: InterfaceAbi; bytecode: string }
export const registry = new Interface(artifact.abi)

/** A directory of this test; what still runs in it is ended with the test. */
export const tempDir = (): string => {
  const dir = join(mkdtempSync(join(tmpdir(), 'local-chain-')), 'chain')
  onTestFinished(() => {
    killAnvil(dir)
    rmSync(join(dir, '..'), { recursive: true, force: true })
  })
  return dir
}

export const anvilPid = (dir: string): number => {
  const anvil = localAnvil(dir)
  if (anvil === undefined) throw new Error(`no Anvil runs in ${dir}`)
  return anvil.pid
}

export const killAnvil = (dir: string): void => {
  const anvil = localAnvil(dir)
  if (anvil !== undefined) process.kill(anvil.pid, 'SIGKILL')
}

/** The chain in this process. */
export const start = async (
  dataDir: string,
  options: Partial<LocalChainOptions> = {},
  startChain: typeof startLocalChain = startLocalChain,
): Promise<LocalChain & { lines: string[] }> => {
  const lines: string[] = []
  const chain = await startChain({
    dataDir,
    port: 0,
    host: '127.0.0.1',
    log: (line) => lines.push(line),
    ...options,
  })
  onTestFinished(() => chain.stop())
  return { ...chain, lines }
}

/** The chain in a process of its own, for killing. */
export const startProcess = async (
  dataDir: string,
): Promise<{ url: string; lines: string[]; kill: () => Promise<void> }> => {
  const script = new URL('./local-chain-process.ts', import.meta.url).pathname
  const child: ChildProcess = spawn(process.execPath, [script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  onTestFinished(kill)
  const lines: string[] = []
  if (child.stdout === null) throw new Error('no stdout')
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('url ')) return { url: line.slice(4), lines, kill }
    lines.push(line)
  }
  throw new Error(`the chain did not start: ${lines.join('\n')}`)
}

export const post = async (url: string, body: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })

export const ask = async <T>(
  url: string,
  method: string,
  ...params: unknown[]
): Promise<Answer<T>> =>
  (await (
    await post(url, JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }))
  ).json()) as Answer<T>

/** @throws for an error */
export const call = async <T>(url: string, method: string, ...params: unknown[]): Promise<T> => {
  const { result, error } = await ask<T>(url, method, ...params)
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}

export const block = (url: string, tag: string | number): Promise<Block> =>
  call(url, 'eth_getBlockByNumber', typeof tag === 'number' ? `0x${tag.toString(16)}` : tag, false)

export const receipt = (url: string, hash: string): Promise<Receipt | null> =>
  call(url, 'eth_getTransactionReceipt', hash)

/** Sends a transaction, and reads its receipt. @throws if it is in no block */
export const send = async (url: string, raw: string): Promise<Receipt> => {
  const found = await receipt(url, await call(url, 'eth_sendRawTransaction', raw))
  if (found === null) throw new Error('the transaction is in no block')
  return found
}

/** All blocks, or the first so many, whole. */
export const allBlocks = async (url: string, count?: number): Promise<unknown[]> => {
  const numbers = Array(count ?? Number(await call<string>(url, 'eth_blockNumber')) + 1).keys()
  return Promise.all(
    [...numbers].map((number) =>
      call(url, 'eth_getBlockByNumber', `0x${number.toString(16)}`, true),
    ),
  )
}

/** An account that signs offline and counts its own nonces. */
export const account = (
  wallet: {
    address: string
    signTransaction: (tx: TransactionLike) => Promise<string>
  } = Wallet.createRandom(),
) => {
  let nonce = 0
  const sign = (tx: TransactionLike): Promise<string> =>
    wallet.signTransaction({
      chainId: 31337,
      type: 2,
      gasLimit: 8_000_000,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n,
      nonce: nonce++,
      ...tx,
    })
  return {
    address: wallet.address,
    sign,
    transfer: () => sign({ to: wallet.address, value: 1, gasLimit: 21_000 }),
  }
}

/** One of the accounts that Anvil funds at genesis. */
export const devAccount = () =>
  account(new Wallet('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'))

export type Account = ReturnType<typeof account>

/** Deploys the registry with this account as its issuer; returns its address. */
export const deploy = async (url: string, { address, sign }: Account): Promise<string> => {
  const { data } = await new ContractFactory(artifact.abi, artifact.bytecode).getDeployTransaction(
    address,
    86_400,
  )
  const { contractAddress } = await send(url, await sign({ data }))
  await call(
    url,
    'eth_sendRawTransaction',
    await sign({
      to: contractAddress,
      data: registry.encodeFunctionData('registerIssuer', [address, 'Name', 'uri']),
    }),
  )
  // All permissions but DELEGATE: its first account manages the issuer, and issues and revokes too.
  await call(
    url,
    'eth_sendRawTransaction',
    await sign({
      to: contractAddress,
      data: registry.encodeFunctionData('setPermissions', [1, address, 7]),
    }),
  )
  return contractAddress
}

export const issue = ({ sign }: Account, to: string, id: number): Promise<string> =>
  sign({
    to,
    gasLimit: 200_000,
    data: registry.encodeFunctionData('issue', [1, `0x${id.toString(16).padStart(64, '0')}`, 0]),
  })
