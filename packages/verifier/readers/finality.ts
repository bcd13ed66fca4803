import { ChainError, RpcResponseError } from '../errors.ts'
import type { Finality } from '../ports.ts'
import { type Request, readStrictly } from './request.ts'
import { readObject, readQuantity } from './rpc-codec.ts'

/** Decides which blocks count as final. Without either depth, the node's tags alone decide. */
export type FinalityRule = {
  /** The number of later blocks that make a block final. The tags are then not read. */
  depth?: number
  /** Used in place of the tags at a node that does not know `finalized`. */
  depthWithoutTag?: number
}

/**
 * All methods reject with a `ChainError` when finality is unknown, because an outage is not an
 * answer.
 */
export type FinalityReader = {
  /**
   * @returns The number of the newest final block; 0 (genesis) until the chain has finalized
   * another block.
   */
  finalizedBlock(signal?: AbortSignal): Promise<number>
  /**
   * @returns The number of the newest safe block; 0 if `depth` is set, because there is then no
   * safe block.
   */
  safeBlock(signal?: AbortSignal): Promise<number>
  finalityOf(blockNumber: number, signal?: AbortSignal): Promise<Finality>
}

/**
 * @param blockNumber At least 1, because a missing record has block 0, which would count as final.
 * @throws {TypeError} for any other number.
 */
export async function finalityBy(
  blockNumber: number,
  finalizedBlock: () => Promise<number>,
  safeBlock: () => Promise<number>,
): Promise<Finality> {
  if (!Number.isSafeInteger(blockNumber) || blockNumber < 1)
    throw new TypeError('blockNumber must be 1 or more')
  if (blockNumber <= (await finalizedBlock())) return 'finalized'
  return blockNumber <= (await safeBlock()) ? 'safe' : 'included'
}

/** The JSON-RPC 2.0 error for invalid params. */
const INVALID_PARAMS = -32602
/** The error of the Ethereum execution API for an unknown block. */
const UNKNOWN_BLOCK = -39001

/**
 * Reads finality by the node's tags, by depth, or by the tags with a depth as fallback.
 *
 * The node's first clear answer decides whether it knows the tag. Any other error leaves finality
 * unknown.
 */
export function createFinalityReader(
  request: Request,
  { depth, depthWithoutTag }: FinalityRule = {},
): FinalityReader {
  let knowsTag: boolean | undefined

  async function finalizedBlock(signal?: AbortSignal): Promise<number> {
    if (depth !== undefined) return below(await readHead(signal), depth)
    if (knowsTag === false && depthWithoutTag !== undefined)
      return below(await readHead(signal), depthWithoutTag)
    try {
      const block = await readTag('finalized', signal)
      knowsTag = true
      return block
    } catch (error) {
      const tagless = depthWithoutTag !== undefined && knowsTag !== true
      if (!tagless || !refusesTag(error)) throw error
      // If the node also refuses this call, it objects to something else.
      const head = await readHead(signal)
      knowsTag = false
      return below(head, depthWithoutTag)
    }
  }

  async function readHead(signal?: AbortSignal): Promise<number> {
    return readTag('latest', signal)
  }

  /** @returns The number of the block with this tag; 0 when no block has it yet. */
  async function readTag(tag: string, signal?: AbortSignal): Promise<number> {
    const block = await request('eth_getBlockByNumber', [tag, false], signal).catch((error) => {
      if (namesNoBlock(error)) return null
      throw error
    })
    return block === null ? 0 : numberOf(block)
  }

  async function safeBlock(signal?: AbortSignal): Promise<number> {
    const tagless = depth !== undefined || knowsTag === false
    return tagless ? 0 : readTag('safe', signal)
  }

  return {
    finalizedBlock,
    safeBlock,
    finalityOf: (blockNumber, signal) =>
      finalityBy(
        blockNumber,
        () => finalizedBlock(signal),
        () => safeBlock(signal),
      ),
  }
}

function below(head: number, depth: number): number {
  return Math.max(0, head - depth)
}

/** @throws {ChainError} for an answer that is not a block with a number. */
function numberOf(block: unknown): number {
  return readStrictly('eth_getBlockByNumber', () => readQuantity(readObject(block).number))
}

function answerIn(error: unknown): RpcResponseError | undefined {
  const cause = error instanceof ChainError ? error.cause : undefined
  return cause instanceof RpcResponseError ? cause : undefined
}

/**
 * Recognizes a node that knows the tag when no block has it yet: Nethermind and reth answer `null`,
 * Besu and Erigon -39001, geth -32000 "finalized block not found" (ethereum/execution-apis#879).
 */
function namesNoBlock(error: unknown): boolean {
  const answer = answerIn(error)
  return (
    answer !== undefined &&
    (answer.code === UNKNOWN_BLOCK || /\b(finalized|safe) block not found/i.test(answer.message))
  )
}

/** Nodes that do not know the tag treat it as a malformed block number. */
function refusesTag(error: unknown): boolean {
  return answerIn(error)?.code === INVALID_PARAMS
}
