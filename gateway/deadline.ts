import { ChainError } from '../verifier/errors.ts'
import { abortable } from '../verifier/signal.ts'
import type { VerifyOptions } from '../verifier/verify.ts'

/** When a request, or one call, has to end, whatever it still waits for. */
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

/** @param limit Milliseconds from now. */
export function createDeadline(limit: number): Deadline {
  const end = performance.now() + limit
  const left = () => Math.max(0, end - performance.now())

  const passed = new AbortController()
  const abort = () => passed.abort(new ChainError('rpc_unreachable', 'no answer in time'))
  let reads = 0
  let timer: NodeJS.Timeout | undefined

  async function within<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    // Only while something is read, and so not `AbortSignal.timeout`: thousands of timers would
    // stay until their time has come.
    if (reads++ === 0) timer = setTimeout(abort, left())
    try {
      return await abortable(() => read(passed.signal), passed.signal)
    } finally {
      if (--reads === 0) clearTimeout(timer)
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
    },
    blocks: blocks.map(({ get }) => ({
      get: (hash, how) => within((signal) => get(hash, { ...how, signal })),
    })),
  }
}
