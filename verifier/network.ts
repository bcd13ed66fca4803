import { LOCAL_CHAIN_ID } from './defaults.ts'

/** Whether a chain carries real value: documents on a `test` network prove nothing. */
export type Network = 'test' | 'live'

/**
 * Chain ids of test networks, past ones included: Anvil and Hardhat 31337, geth `--dev` 1337, and
 * the public ones under the names that github.com/ethereum-lists/chains gives them. Kovan is left
 * out: its number, 42, is that of a live chain now.
 */
// biome-ignore format: a line for each family.
const TEST_CHAINS: ReadonlySet<number> = new Set([
  1337, LOCAL_CHAIN_ID, // local chains
  3, 4, 5, 17000, 560048, 11155111, // Ropsten, Rinkeby, Goerli, Holesky, Hoodi, Sepolia
  420, 11155420, 84531, 84532, // OP Goerli, OP Sepolia, Base Goerli, Base Sepolia
  999999999, 919, 1301, 763373, 1946, // Sepolia of Zora, Mode, Unichain, Ink, Soneium (Minato)
  168587773, 5003, 534351, 300, // Sepolia of Blast, Mantle, Scroll, zkSync
  421613, 421614, 59140, 59141, // Arbitrum Goerli, Arbitrum Sepolia, Linea Goerli, Linea Sepolia
  80001, 80002, 2442, // Polygon Mumbai, Polygon Amoy, Polygon zkEVM Cardona
  97, 5611, 43113, 4002, // BNB Smart Chain, opBNB, Avalanche Fuji, Fantom
  10200, 44787, 11142220, // Gnosis Chiado, Celo Alfajores, Celo Sepolia
  51, 1287, 296, 195, 1952, 80069, 10143, // XDC Apothem, Moonbase, Hedera, X Layer, Bepolia, Monad
])

/**
 * @param chainId EIP-155.
 * @returns `live` for every chain that is not a known test network.
 */
export function networkOf(chainId: number): Network {
  return TEST_CHAINS.has(chainId) ? 'test' : 'live'
}
