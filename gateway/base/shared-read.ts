/**
 * Shares a read among callers: the source is read at most once in `ttlMs`, however many callers
 * there are.
 *
 * @param ttlMs How long a value or a failure is reused; milliseconds.
 */
export function shareRead<T>(read: () => Promise<T>, ttlMs: number): () => Promise<T> {
  let last: { answer: Promise<T>; until: number } | undefined
  return () => {
    if (last !== undefined && performance.now() < last.until) return last.answer
    const answer = read()
    const shared = { answer, until: Number.POSITIVE_INFINITY }
    last = shared
    const settle = () => {
      shared.until = performance.now() + ttlMs
    }
    answer.then(settle, settle)
    return answer
  }
}
