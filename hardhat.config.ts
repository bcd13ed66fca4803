import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import hardhatEthers from '@nomicfoundation/hardhat-ethers'
import hardhatKeystore from '@nomicfoundation/hardhat-keystore'
import hardhatTypechain from '@nomicfoundation/hardhat-typechain'
import hardhatVerify from '@nomicfoundation/hardhat-verify'
import { configVariable, defineConfig, overrideTask } from 'hardhat/config'
import type { HardhatPlugin } from 'hardhat/types/plugins'

const compiler = (settings: object) => ({
  version: '0.8.37',
  path: createRequire(import.meta.url).resolve('solc/soljson.js'),
  settings: { evmVersion: 'cancun', ...settings },
})
/**
 * Tests deploy the artifact of the contract, so the compiler settings for the tests affect only the
 * time that they take.
 */
const quick = compiler({ optimizer: { enabled: false } })
const tests = readdirSync(new URL('test/contracts', import.meta.url))
  .filter((name) => name.endsWith('.sol'))
  .map((name) => `test/contracts/${name}`)

/**
 * Hardhat compiles those files together whose settings are one object, and makes one for each. Apart
 * they take four times as long, because each compiles again what all tests share.
 */
const oneForAll: HardhatPlugin = {
  id: 'one-for-all',
  hookHandlers: {
    config: async () => ({
      default: async () => ({
        async resolveUserConfig(userConfig, resolveVariable, next) {
          const config = await next(userConfig, resolveVariable)
          for (const { overrides } of Object.values(config.solidity.profiles)) {
            const [shared] = Object.values(overrides)
            if (shared) for (const path of Object.keys(overrides)) overrides[path] = shared
          }
          return config
        },
      }),
    }),
  },
}

/** The seed is pinned, so that fuzzing in CI is the same everywhere. Invariants use it too. */
const seed = `0x${Buffer.from('document-registry').toString('hex').padStart(64, '0')}`

/** The long suite uses another seed each time. To repeat a run, set the seed that it printed. */
const longSeed = process.env.SOLIDITY_SEED ?? `0x${randomBytes(32).toString('hex')}`

const printSeed = overrideTask(['test', 'solidity'])
  .setInlineAction(async (args, _, runSuper) => {
    const profile = args.testProfile ?? process.env.HARDHAT_TEST_PROFILE
    if (profile === 'long') console.log(`SOLIDITY_SEED=${longSeed}`)
    return await runSuper(args)
  })
  .build()

/**
 * Addresses and keys are configuration variables, which come from the environment or from `hardhat
 * keystore set <NAME>`, and never from a file.
 */
const network = (name: string) => ({
  type: 'http' as const,
  url: configVariable(`${name.toUpperCase()}_RPC_URL`),
  accounts: [configVariable('DEPLOYER_KEY')],
})
const networks = [
  'ethereum',
  'sepolia',
  'arbitrum',
  'base',
  'optimism',
  'polygon',
  'gnosis',
  'custom',
]

export default defineConfig({
  plugins: [hardhatEthers, hardhatKeystore, hardhatTypechain, hardhatVerify, oneForAll],
  networks: Object.fromEntries(networks.map((name) => [name, network(name)])),
  verify: { etherscan: { apiKey: configVariable('ETHERSCAN_API_KEY') } },
  tasks: [printSeed],
  typechain: { tsNocheck: true },
  paths: { tests: { solidity: './test/contracts' }, cache: process.env.HARDHAT_CACHE ?? './cache' },
  solidity: {
    compilers: [compiler({ viaIR: true, optimizer: { enabled: true, runs: 10_000 } })],
    overrides: Object.fromEntries(tests.map((path) => [path, quick])),
  },
  test: {
    solidity: {
      profiles: {
        default: {
          fuzz: { seed, runs: 256 },
          invariant: { runs: 8, depth: 128, failOnRevert: true },
        },
        // For a longer search: `hardhat test solidity --test-profile long`.
        long: {
          fuzz: { seed: longSeed, runs: 20_000 },
          invariant: { runs: 256, depth: 256, failOnRevert: true },
        },
      },
    },
  },
})
