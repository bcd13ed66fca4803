/** @param sorted In rising order. @returns The value at this quantile; 0 for an empty list. */
export function quantile(sorted: readonly number[], share: number): number {
  const at = Math.min(sorted.length - 1, Math.floor(sorted.length * share))
  return sorted[at] ?? 0
}

/** @param values In any order. @returns The one in the middle; 0 for an empty list. */
export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}
