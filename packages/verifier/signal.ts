/** @returns A signal that aborts after `timeout` milliseconds or together with the given one. */
export function withTimeout(timeout: number, signal: AbortSignal | undefined): AbortSignal {
  return eitherSignal(AbortSignal.timeout(timeout), signal)
}

/**
 * @returns A signal that aborts with the first of two. (`AbortSignal.any` is missing in browsers of
 * 2023.)
 */
export function eitherSignal(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  if (!second) return first
  const either = new AbortController()
  for (const one of [second, first]) {
    const abort = () => either.abort(one.reason)
    if (one.aborted) abort()
    else one.addEventListener('abort', abort, { signal: either.signal })
  }
  return either.signal
}

/**
 * @returns The result of `work`; rejects with the signal's reason as soon as it aborts, even if
 * `work` ignores the signal.
 */
export async function abortable<T>(
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return work()
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
  })
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
