import { TooLargeError } from '../../document/bytes.ts'
import { ChainError, HttpStatusError, RpcResponseError } from '../errors.ts'
import type { ReadOptions } from '../ports.ts'
import { eitherSignal } from '../signal.ts'
import { requestLogs } from './logs.ts'
import { type Request, readStrictly } from './request.ts'
import { readList, toQuantity } from './rpc-codec.ts'

/**
 * The number of blocks in the first request. It grows after each answer and shrinks after each
 * refusal. The logs of a few full blocks fit into an answer, while the work for an answer that is
 * too long is lost.
 */
const FIRST_RANGE = 8
const MAX_RANGE = 1_000_000
/** The growth after an answer; the second one applies once the node has refused a range. */
const [FAST, SLOW] = [4, 1.25]
/** The number of logs in one answer at which a range aims, because they are in memory together. */
const LOGS = 5_000
/** The divisor for the next range after an answer that is too long for this program. */
const TOO_LONG_PART = 8
/** After this many consecutive failures the node counts as down. */
const MAX_UNANSWERED = 3

/** `eth_getLogs` without its range of blocks. */
type LogFilter = { address: string } & Record<string, unknown>

/** The unchecked logs of a range of blocks. */
type ScannedLogs = {
  /** The first block. */
  from: number
  /** The last block. */
  to: number
  /** The logs of each filter, in the order of the filters. */
  logs: unknown[][]
}

/**
 * Reads logs from a range of blocks in parts that the node accepts. A part is halved after a
 * refusal or a timeout, takes the size in the node's error, and grows after an answer. The node
 * works on the next part while the caller has one.
 *
 * @throws {ChainError} `pruned` when the node no longer has the logs; otherwise `rpc_unreachable`
 * or `rpc_error` for a request that also fails with a single block.
 */
export async function* scanLogs(
  request: Request,
  filters: readonly LogFilter[],
  { from, to, signal }: ReadOptions & { from: number; to: number },
): AsyncGenerator<ScannedLogs> {
  const left = new AbortController()
  const read = createPartReader(request, filters, to, eitherSignal(left.signal, signal))
  try {
    let next = from <= to ? read(from) : undefined
    while (next) {
      const part: ScannedLogs = await next
      next = part.to < to ? read(part.to + 1) : undefined
      // The error is thrown when the turn of this read comes.
      next?.catch(() => {})
      yield part
    }
  } finally {
    left.abort()
  }
}

/** @returns A function that reads the part that begins with a block. */
function createPartReader(
  request: Request,
  filters: readonly LogFilter[],
  to: number,
  signal: AbortSignal,
): (at: number) => Promise<ScannedLogs> {
  let range = FIRST_RANGE
  let most = MAX_RANGE
  let growth = FAST
  return async (at) => {
    for (let unanswered = 0; ; ) {
      const end = Math.min(at + range - 1, to)
      const size = end - at + 1
      const blocks = { fromBlock: toQuantity(at), toBlock: toQuantity(end) }
      try {
        const answers = await Promise.all(
          filters.map((filter) => requestLogs(request, { ...filter, ...blocks }, signal)),
        )
        const logs = readStrictly('eth_getLogs', () =>
          answers.map((one) => readList(one, (log) => log)),
        )
        const count = logs.reduce((sum, some) => sum + some.length, 0)
        range = Math.min(Math.ceil(range * Math.min(growth, LOGS / Math.max(1, count))), most)
        return { from: at, to: end, logs }
      } catch (error) {
        if (!(error instanceof ChainError) || error.code === 'pruned' || size === 1) throw error
        const refusal = refusalOf(error, size)
        unanswered = refusal.kind === 'unanswered' ? unanswered + 1 : 0
        if (unanswered === MAX_UNANSWERED) throw error
        if (refusal.kind === 'limit') most = refusal.range
        const part = refusal.kind === 'too_long' ? TOO_LONG_PART : 2
        range = 'range' in refusal ? refusal.range : Math.min(Math.ceil(size / part), most)
        growth = SLOW
      }
    }
  }
}

type Refusal =
  /** The node names the maximum number of blocks. */
  | { kind: 'limit'; range: number }
  /** The node names the maximum number of blocks for a range with many logs. */
  | { kind: 'suggestion'; range: number }
  /** The answer would be too long for the node. */
  | { kind: 'too_much' }
  /** The answer was too long for this program, so the node's work was lost. */
  | { kind: 'too_long' }
  /** There was no answer, or none in time. */
  | { kind: 'unanswered' }

/** A block range that the node suggests, such as [0x10, 0x20] from Alchemy and Infura. */
const SUGGESTED = /\[(0x[0-9a-f]{1,12}),\s*(0x[0-9a-f]{1,12})\]/i
/** The number in texts such as "limited to 1,000 blocks" and "up to a 500 block range". */
const LIMIT =
  /(?:limited to|up to|max(?:imum)?|exceeds?|at most|less than)\D{0,40}?([\d,]{1,9})(?!\d|\s*(?:results|logs))/i
/** Other limits count results. */
const OF_BLOCKS = /block|range/i
const TOO_LARGE = 413

function refusalOf({ cause }: ChainError, size: number): Refusal {
  if (cause instanceof TooLargeError) return { kind: 'too_long' }
  if (cause instanceof HttpStatusError && cause.status === TOO_LARGE) return { kind: 'too_much' }
  if (!(cause instanceof RpcResponseError)) return { kind: 'unanswered' }
  const { message } = cause
  const [, first, last] = SUGGESTED.exec(message) ?? []
  const suggested = Number(last) - Number(first) + 1
  if (suggested > 0 && suggested < size) return { kind: 'suggestion', range: suggested }
  const [, blocks = ''] = (OF_BLOCKS.test(message) && LIMIT.exec(message)) || []
  const limit = Number(blocks.replaceAll(',', ''))
  return limit > 0 && limit < size ? { kind: 'limit', range: limit } : { kind: 'too_much' }
}
