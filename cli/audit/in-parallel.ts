/** Works on items as they come, at most `limit` at a time. Rejects with the first error. */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  for await (const item of items) {
    const one = work(item).finally(() => running.delete(one))
    running.add(one)
    if (running.size >= limit) await Promise.race(running)
  }
  await Promise.all(running)
}
