// Defaults shared by the command, the page and the gateway.

/**
 * The chain id of local test chains. They make blocks only for transactions, and their issuers may
 * use loopback addresses.
 */
export const LOCAL_CHAIN_ID = 31337

/** @param chainId The EIP-155 chain id. */
export function isLocalChain(chainId: number): boolean {
  return chainId === LOCAL_CHAIN_ID
}

/** A node whose newest block is older than this is stale. */
export const MAX_HEAD_AGE_SECONDS = 900

/**
 * @param chainId The EIP-155 chain id.
 * @returns The maximum age of the newest block in seconds; `undefined` = any age.
 */
export function headAgeOf(chainId: number): number | undefined {
  return isLocalChain(chainId) ? undefined : MAX_HEAD_AGE_SECONDS
}

/** @returns How many of `nodes` nodes must give the same answer: more than half, so both of two. */
export function majorityOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1
}
