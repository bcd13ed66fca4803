import type { Blocks, Head } from '#promise/ports.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createFinalityReader, type FinalityRule } from '#verifier/readers/finality.ts'
import { isPrunedHistory } from '#verifier/readers/logs.ts'
import { createRequest } from '#verifier/readers/request.ts'
import { readHash, readObject, readQuantity, toQuantity } from '#verifier/readers/rpc-codec.ts'
import { asIssueError, type ChainCalls } from './chain-calls.ts'

/** @param finality Which blocks count as final; absent = by the node's tag alone. */
export function createBlocks(
  provider: Eip1193Provider,
  { request }: ChainCalls,
  finality?: FinalityRule,
): Blocks {
  const { finalizedBlock } = createFinalityReader(createRequest(provider), finality)
  return {
    head: () => request('eth_getBlockByNumber', readHead, 'latest', false),

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
