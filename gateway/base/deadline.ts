import { ChainError } from '#verifier/errors.ts'
import type { VerifyOptions } from '#verifier/verify.ts'

/** When a request, or one call, has to end, even while it waits for something. */
export type Deadline = {
  /** @returns Milliseconds that are left; 0 once it has passed. */
  left(): number
  /**
   * @param read Reads something. It should end with its signal, but need not.
   * @returns What it read. Once the deadline has passed, rejects with a `ChainError`
   *   `rpc_unreachable`.
   */
  within<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** When a request that begins now has to be answered. */
export type NewDeadline = () => Deadline

/** @param limit Milliseconds from now. */
export function createDeadline(limit: number): Deadline {
  const end = performance.now() + limit
  const left = () => Math.max(0, end - performance.now())

  // Most documents are issued without a read.
  let passed: AbortController | undefined
  const waiting = new Set<(reason: unknown) => void>()
  let timer: NodeJS.Timeout | undefined

  function abort(): void {
    const reason = new ChainError('rpc_unreachable', 'the node did not answer in time')
    passed?.abort(reason)
    for (const reject of waiting) reject(reason)
  }

  async function within<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    passed ??= new AbortController()
    const { signal } = passed
    signal.throwIfAborted()
    // Only during a read, and therefore not `AbortSignal.timeout`: thousands of timers would stay
    // until they fire.
    if (waiting.size === 0) timer = setTimeout(abort, left())
    // Not `abortable`: a listener for each of the four reads of a verdict takes longer.
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    waiting.add(reject)
    try {
      read(signal).then(resolve, reject)
      return await promise
    } finally {
      waiting.delete(reject)
      if (waiting.size === 0) clearTimeout(timer)
    }
  }

  return { left, within }
}

/**
 * @returns The same options, with sources that do not answer after the deadline: the verdict then
 *   follows from what was read before.
 */
export function verifyWithin(
  deadline: Deadline,
  { chain, blocks, ...options }: VerifyOptions,
): VerifyOptions {
  const { within } = deadline
  return {
    ...options,
    chain: {
      registry: chain.registry,
      read: (hash, how) => within((signal) => chain.read(hash, { ...how, signal })),
      issuedEvent: (hash, block, how) =>
        within((signal) => chain.issuedEvent(hash, block, { ...how, signal })),
      finalityOf: (block, how) => within((signal) => chain.finalityOf(block, { ...how, signal })),
      blockTime: (block, how) => within((signal) => chain.blockTime(block, { ...how, signal })),
    },
    blocks: blocks.map(({ get }) => ({
      get: (hash, how) => within((signal) => get(hash, { ...how, signal })),
    })),
  }
}

/** How long the entries of one request wait for blocks: a deadline that progress puts off. */
export type Patience = {
  /** @returns Milliseconds that an entry may still wait. */
  left(): number
  /** Reports that an entry has been answered with a block. */
  progressed(): void
}

/** However steadily the chain goes on. */
const MAX_WAIT_MS = 5 * 60_000

/**
 * Thousands of entries need many blocks: they wait while the chain goes on, and no longer than one
 * request would once it stands still.
 *
 * @param wait How long without a block; milliseconds. 0 = do not wait.
 */
export function createPatience(wait: number, now = () => performance.now()): Patience {
  const last = now() + MAX_WAIT_MS
  let end = now() + wait
  return {
    left: () => Math.max(0, Math.min(end, last) - now()),
    progressed() {
      if (wait > 0) end = now() + wait
    },
  }
}
