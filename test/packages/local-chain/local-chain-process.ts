// Runs the local chain as a process of its own, so that a test can kill it: node
// local-chain-process.ts <data dir>
import { startLocalChain } from '#local-chain/local-chain.ts'

const [dataDir = ''] = process.argv.slice(2)
const chain = await startLocalChain({
  dataDir,
  port: 0,
  host: '127.0.0.1',
  log: (line) => process.stdout.write(`log ${line}\n`),
})
process.stdout.write(`url ${chain.url}\n`)
