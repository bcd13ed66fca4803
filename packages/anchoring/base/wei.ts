/** Amounts of the chain's own coin, in wei. */
export const WEI_OF_GWEI = 1_000_000_000n

export const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other)
export const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)

/** The amount as a rounded number. */
export const inEther = (wei: bigint): number => Number(wei) / 1e18
