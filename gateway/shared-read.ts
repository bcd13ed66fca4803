/**
 * Callers share what was read a moment ago, or is being read: however many ask, the source is asked once in that time.
 *
 * @param ttlMs How long an answer, or a failure, is good for.
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
