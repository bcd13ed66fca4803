import { createRequire } from 'node:module'
import hardhatEthers from '@nomicfoundation/hardhat-ethers'
import hardhatTypechain from '@nomicfoundation/hardhat-typechain'
import { defineConfig } from 'hardhat/config'

const solcPath = createRequire(import.meta.url).resolve('solc/soljson.js')

export default defineConfig({
  plugins: [hardhatEthers, hardhatTypechain],
  solidity: {
    version: '0.8.37',
    path: solcPath,
    settings: {
      evmVersion: 'cancun',
      viaIR: true,
      optimizer: { enabled: true, runs: 1_000_000 },
    },
  },
})
