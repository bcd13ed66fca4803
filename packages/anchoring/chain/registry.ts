import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Account, Blocks, Head, Quotes, RegistryReader, Transactions } from '#promise/ports.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { createFinalityReader, type FinalityRule } from '#verifier/readers/finality.ts'
import { isPrunedHistory } from '#verifier/readers/logs.ts'
import { createRequest } from '#verifier/readers/request.ts'
import { readHash, readObject, readQuantity, toQuantity } from '#verifier/readers/rpc-codec.ts'
import { createAccount } from './account.ts'
import { asIssueError, type ChainCalls, createChainCalls } from './chain-calls.ts'
import { readPrice } from './fees.ts'
import { createRegistryReader } from './registry-reader.ts'
import type { Signer } from './signer.ts'
import { createTransactions } from './transactions.ts'

export type RegistryOptions = {
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: RegistryId
  /** The issuer that the account writes for. */
  issuerId: number
  /** Signs for the account. */
  signer: Signer
  /** The maximum wei per gas; absent = any price. */
  feeCap?: bigint
  /** Decides which blocks count as final; absent = only the node's tag decides. */
  finality?: FinalityRule
}

/** The registry as seen through one account of an issuer. */
export type RegistryPorts = {
  account: Account
  transactions: Transactions & Quotes
  registry: RegistryReader
  blocks: Blocks
}

/**
 * @throws {IssueError} when the chain cannot be read or has no base fee, or the account may not
 * issue.
 */
export async function createRegistry(
  provider: Eip1193Provider,
  options: RegistryOptions,
): Promise<RegistryPorts> {
  const ports = openRegistry(provider, options)
  await ports.account.assertReady()
  const { address } = parseRegistry(options.registry)
  await readPrice(createChainCalls(provider, address), options.signer.address)
  return ports
}

/** Same as {@link createRegistry}, for an account that may not be usable at the moment. */
export function openRegistry(
  provider: Eip1193Provider,
  { finality, ...options }: RegistryOptions,
): RegistryPorts {
  const { registry, issuerId } = options
  const { chainId, address } = parseRegistry(registry)
  const calls = createChainCalls(provider, address)
  return {
    account: createAccount(calls, { ...options, chainId }),
    transactions: createTransactions(provider, calls, {
      ...options,
      chainId,
      address: address as Hex,
    }),
    ...openRegistryReads(provider, { registry, issuerId, finality }),
  }
}

/** Opens the ports of the registry that need no account. */
export function openRegistryReads(
  provider: Eip1193Provider,
  {
    registry,
    issuerId,
    finality,
  }: Pick<RegistryOptions, 'registry' | 'issuerId'> & { finality: FinalityRule | undefined },
): Pick<RegistryPorts, 'registry' | 'blocks'> & { counts: IssuedCounts } {
  const { address } = parseRegistry(registry)
  const calls = createChainCalls(provider, address)
  const blocks = createBlocks(provider, calls, finality)
  return {
    registry: createRegistryReader(calls, address, issuerId, blocks.finalizedBlock),
    blocks,
    async counts() {
      const { documentCount, batchCount } = await calls.view('issuerOf', issuerId)
      return { documents: Number(documentCount), batches: Number(batchCount) }
    },
  }
}

/** How many documents the issuer has issued alone, and how many batches. */
export type IssuedCounts = () => Promise<{ documents: number; batches: number }>

/** @param finality Which blocks count as final; absent = only the node's tag decides. */
function createBlocks(
  provider: Eip1193Provider,
  { request }: ChainCalls,
  finality?: FinalityRule,
): Blocks {
  const { finalizedBlock } = createFinalityReader(createRequest(provider), finality)
  return {
    head: () => request('eth_getBlockByNumber', readHead, 'latest', false),
    block: (number) => request('eth_getBlockByNumber', readHead, toQuantity(number), false),

    async blockHash(blockNumber) {
      return request(
        'eth_getBlockByNumber',
        (block) => (block === null ? null : readHash(readObject(block).hash)),
        toQuantity(blockNumber),
        false,
      ).catch((error) => {
        if (isPrunedHistory(error.cause)) return null
        throw error
      })
    },

    finalizedBlock: () =>
      finalizedBlock().catch((error) => {
        throw asIssueError('finality', error)
      }),
  }
}

function readHead(answer: unknown): Head {
  const { number, timestamp } = readObject(answer)
  return { number: readQuantity(number), timestamp: readQuantity(timestamp) }
}
