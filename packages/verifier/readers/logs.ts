import type { Hex } from '../../document/hex.ts'
import { ChainError, RpcResponseError } from '../errors.ts'
import type { Request } from './request.ts'

/** The error "Pruned history unavailable" (EIP-4444). */
export const PRUNED_HISTORY = 4444

/**
 * Other errors with the same meaning, of allnodes and Erigon ("history has been pruned for this
 * block", "old data not available due to pruning"), Erigon before 3.4, and Nethermind before 1.39.
 */
const WORDS = [
  /prun(?:ed|ing)/i,
  /data before txNum=\d+ is not available/,
  /Receipt not available for (?:From|To) block/,
]

/** @returns Whether the error says that the node has pruned the requested logs. */
export function isPrunedHistory(error: unknown): error is RpcResponseError {
  return (
    error instanceof RpcResponseError &&
    (error.code === PRUNED_HISTORY || WORDS.some((words) => words.test(error.message)))
  )
}

/**
 * @param filter The filter of `eth_getLogs`.
 * @returns The node's result, unchecked.
 * @throws {ChainError} `pruned` when the node says that it no longer has these logs; otherwise
 * `rpc_unreachable`, `rpc_error`.
 */
export async function requestLogs(
  request: Request,
  filter: { fromBlock: Hex } & Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  try {
    return await request('eth_getLogs', [filter], signal)
  } catch (error) {
    const cause = error instanceof ChainError ? error.cause : undefined
    if (!isPrunedHistory(cause)) throw error
    throw new ChainError(
      'pruned',
      `the node no longer has the logs of block ${Number(filter.fromBlock)}`,
      cause,
    )
  }
}
