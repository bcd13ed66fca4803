import { parseChain } from '../document/registry-id.ts'
import { LOCAL_CHAIN_ID } from './defaults.ts'

/** `live` = a chain that is known to carry real documents. Every other chain is `test`. */
export type Network = 'test' | 'live'

/**
 * Shown with everything about a document on a `test` network. It is also true for an unknown chain.
 */
export const TEST_NETWORK = 'Test network, or one not known to carry real documents'

/** The chains of Anvil, Hardhat and geth `--dev`, which everybody can start. */
const LOCAL_CHAINS: ReadonlySet<number> = new Set([LOCAL_CHAIN_ID, 1337])

/** Production networks with their chain ids in github.com/ethereum-lists/chains. */
// biome-ignore format: a line for each family.
const LIVE_CHAINS: ReadonlySet<number> = new Set([
  1, // Ethereum
  10, 8453, 130, 57073, 1868, 480, 7777777, 34443, // OP, Base, Unichain, Ink, Soneium, World, Zora, Mode
  42161, 42170, 137, 1101, // Arbitrum One and Nova, Polygon PoS and zkEVM
  324, 59144, 534352, 81457, 5000, // zkSync Era, Linea, Scroll, Blast, Mantle
  1088, 196, 1135, 167000, 252, // Metis, X Layer, Lisk, Taiko, Fraxtal
  56, 204, 43114, 250, 146, // BNB Smart Chain, opBNB, Avalanche, Fantom, Sonic
  100, 42220, 50, 1284, 1285, 592, // Gnosis, Celo, XDC, Moonbeam, Moonriver, Astar
  295, 80094, 143, 8217, 25, 30, // Hedera, Berachain, Monad, Kaia, Cronos, Rootstock
  42, 14, 1329, 2020, // LUKSO, Flare, Sei, Ronin
])

/**
 * @param chainId The EIP-155 chain id.
 * @param liveChains Other chains that the caller knows to carry real documents; never take them
 * from a document, a link or a QR code. A local chain is `test` all the same.
 *
 * @example
 * ```ts
 * networkOf(1) // => 'live'
 * networkOf(31337) // => 'test'
 * networkOf(4242, [4242]) // => 'live'
 * ```
 */
export function networkOf(chainId: number, liveChains: readonly number[] = []): Network {
  if (LOCAL_CHAINS.has(chainId)) return 'test'
  return LIVE_CHAINS.has(chainId) || liveChains.includes(chainId) ? 'live' : 'test'
}

/** @returns The id of a chain that may be named live; `undefined` for every other text. */
export function parseLiveChain(text: string): number | undefined {
  const chainId = parseChain(`eip155:${text}`)
  const mayBeNamed = Number.isSafeInteger(chainId) && !LOCAL_CHAINS.has(chainId ?? 0)
  return mayBeNamed ? chainId : undefined
}

/** The message for a text that is not the id of such a chain. */
export const BAD_LIVE_CHAIN = 'must be a chain id other than that of a local chain (31337, 1337)'
