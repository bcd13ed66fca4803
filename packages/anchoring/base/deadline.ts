import { ChainError } from '#verifier/errors.ts'
import type { VerifyOptions } from '#verifier/verify.ts'

/** The time at which a request or a call has to end, even while it waits for something. */
export type Deadline = {
  /** @returns The milliseconds that are left; 0 once it has passed. */
  left(): number
  /**
   * @param read Reads something. It should stop when its signal aborts, but need not.
   * @returns The result of `read`. Once the deadline has passed, rejects with a `ChainError`
   * `rpc_unreachable`.
   */
  within<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** @returns The deadline of a request that starts now. */
export type NewDeadline = () => Deadline

/** @param limit Milliseconds from now. */
export function createDeadline(limit: number): Deadline {
  const end = performance.now() + limit
  const left = () => Math.max(0, end - performance.now())

  // Created only when needed, because most documents are issued without a read.
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
    // The timer runs only during a read. `AbortSignal.timeout` is not used, because thousands of
    // its timers would stay until they fire.
    if (waiting.size === 0) timer = setTimeout(abort, left())
    // `abortable` is not used, because a listener for each of the four reads of a verdict takes
    // longer.
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
 * @returns The same options with sources that do not answer after the deadline. The verdict then
 * follows from what was read before.
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

/** How long the entries of one request wait for blocks. Progress extends this deadline. */
export type Patience = {
  /** @returns The milliseconds that an entry may still wait. */
  left(): number
  /** Reports that an entry has been answered with a block. */
  progressed(): void
}

/** The maximum wait, however steadily the chain goes on. */
const MAX_WAIT_MS = 5 * 60_000

/**
 * Thousands of entries need many blocks, so they wait while the chain goes on. Once it stops, they
 * wait no longer than a single request would.
 *
 * @param wait How long to wait without a block, in milliseconds; 0 = do not wait.
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
