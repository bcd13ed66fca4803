/**
 * @param sorted In rising order. @returns The value below which this share of them is; 0 of none.
 */
export function quantile(sorted: readonly number[], share: number): number {
  const at = Math.min(sorted.length - 1, Math.floor(sorted.length * share))
  return sorted[at] ?? 0
}
