/**
 * Does work on several items at a time, in their order.
 *
 * @param isStopped Whether to begin no further item.
 * @throws The first error; other items that have begun are waited for.
 */
export async function inParallel<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
  isStopped: () => boolean = () => false,
): Promise<void> {
  let next = 0
  const errors: unknown[] = []
  const worker = async () => {
    while (next < items.length && errors.length === 0 && !isStopped()) {
      const item = items[next++] as T
      await work(item).catch((error) => errors.push(error))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  if (errors.length > 0) throw errors[0]
}
