/**
 * @param sorted Numbers in ascending order. @returns The value at this quantile; 0 for an empty
 * list.
 */
export function quantile(sorted: readonly number[], share: number): number {
  const at = Math.min(sorted.length - 1, Math.floor(sorted.length * share))
  return sorted[at] ?? 0
}

/** @param values Numbers in any order. @returns The median; 0 for an empty list. */
export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}
