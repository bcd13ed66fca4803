/**
 * @returns A signal that aborts after `timeout` milliseconds or together with the given one.
 * (`AbortSignal.any` is missing in browsers of 2023.)
 */
export function withTimeout(timeout: number, signal: AbortSignal | undefined): AbortSignal {
  const timer = AbortSignal.timeout(timeout)
  if (!signal) return timer
  const either = new AbortController()
  for (const one of [signal, timer]) {
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
