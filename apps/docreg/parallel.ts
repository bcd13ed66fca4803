/**
 * Works on items in their order, at most `limit` at a time.
 *
 * @param isStopped Whether to start no further item.
 * @throws The first error, after the other items that have started.
 */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const errors: unknown[] = []
  for await (const item of items) {
    if (errors.length > 0 || isStopped()) break
    const one = work(item)
      .catch((error) => void errors.push(error))
      .finally(() => running.delete(one))
    running.add(one)
    if (running.size >= limit) await Promise.race(running)
  }
  await Promise.all(running)
  if (errors.length > 0) throw errors[0]
}
