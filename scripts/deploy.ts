/**
 * Deploys the registry: `npm run deploy -- --network <name> [--admin <address>] [--admin-delay <seconds>] [--send] [--verify]`.
 * Without `--send` it is a dry run: it says what would be sent and what it would cost. docs/contract.md says how to configure a
 * network and its key.
 */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import {
  concat,
  formatEther,
  formatUnits,
  getAddress,
  Interface,
  keccak256,
  type Signer,
  type TransactionRequest,
} from 'ethers'
import hre from 'hardhat'
import {
  checkBlockNumbers,
  planOf,
  proxy,
  readDeployment,
  reasonOf,
  salt,
  writeDeployment,
} from './deployment.ts'

const { values } = parseArgs({
  options: {
    network: { type: 'string' },
    admin: { type: 'string' },
    'admin-delay': { type: 'string', default: String(2 * 24 * 60 * 60) },
    send: { type: 'boolean', default: false },
    verify: { type: 'boolean', default: false },
  },
})
if (values.network === undefined)
  throw new Error(
    '--network <name> is missing; hardhat.config.ts lists the names',
  )

await hre.tasks.getTask('build').run({ quiet: true, noTests: true })
const artifact = await hre.artifacts.readArtifact('DocumentRegistry')
const connection = await hre.network.create(values.network)
const { provider } = connection.ethers
const [signer] = (await connection.ethers.getSigners()) as unknown as [
  Signer | undefined,
]
if (signer === undefined)
  throw new Error(`network ${values.network} has no account to pay with`)
const payer = await signer.getAddress()
const admin = getAddress(values.admin ?? payer)
const adminDelay = Number(values['admin-delay'])
if (!Number.isSafeInteger(adminDelay) || adminDelay < 0)
  throw new Error(
    `--admin-delay ${values['admin-delay']} is no number of seconds`,
  )

const { chainId } = await provider.getNetwork()
await checkBlockNumbers(provider)
const { initCode, address } = planOf(artifact.bytecode, admin, adminDelay)
console.log(`chain        ${chainId}`)
console.log(`registry     ${address}`)
console.log(
  `admin        ${admin}${values.admin === undefined ? ' (the payer; name a multi-signature account by --admin)' : ''}`,
)
console.log(`admin delay  ${adminDelay} s`)

const isThere = async (where: string): Promise<boolean> =>
  (await provider.getCode(where)) !== '0x'
if (await isThere(address)) {
  console.log(
    `It is there already${readDeployment(chainId)?.address === address ? '' : `, but not in deployments/${chainId}.json`}.`,
  )
} else {
  await deploy()
}
if (values.verify) {
  const command = [
    'verify',
    'etherscan',
    '--network',
    values.network,
    address,
    admin,
    String(adminDelay),
  ]
  execFileSync('hardhat', command, { stdio: 'inherit' })
}
await connection.close()

async function deploy(): Promise<void> {
  await tryDirectly()
  const needsProxy = !(await isThere(proxy.address))
  const creation: TransactionRequest = {
    to: proxy.address,
    data: concat([salt, initCode]),
  }
  // Where the proxy is still missing, a direct creation of the same code stands in for the estimate.
  const gas = await provider.estimateGas(
    needsProxy ? { from: payer, data: initCode } : { from: payer, ...creation },
  )
  const { maxFeePerGas, gasPrice } = await provider.getFeeData()
  const price = maxFeePerGas ?? gasPrice ?? 0n
  const cost = gas * price + (needsProxy ? proxy.funds : 0n)
  const balance = await provider.getBalance(payer)
  console.log(`payer        ${payer} with ${formatEther(balance)}`)
  if (needsProxy)
    console.log(
      `proxy        missing here: ${formatEther(proxy.funds)} to its sender, which creates it, come first`,
    )
  console.log(`gas          ${gas}${needsProxy ? ' (about)' : ''}`)
  console.log(
    `cost         at most ${formatEther(cost)} at ${formatUnits(price, 'gwei')} gwei`,
  )
  if (!values.send) {
    console.log('Dry run: nothing was sent. Add --send to deploy.')
    return
  }
  if (balance < cost)
    throw new Error(
      `${payer} has ${formatEther(balance)}, but the deployment may cost ${formatEther(cost)}`,
    )

  if (needsProxy) {
    await (
      await (signer as Signer).sendTransaction({
        to: proxy.sender,
        value: proxy.funds,
      })
    ).wait()
    await (await provider.broadcastTransaction(proxy.raw)).wait()
  }
  const receipt = await (
    await (signer as Signer).sendTransaction(creation)
  ).wait()
  const code = await provider.getCode(address)
  if (receipt === null || code === '0x')
    throw new Error(
      `the transaction went through, but there is no code at ${address}`,
    )
  const solidity = hre.config.solidity.profiles['default']?.compilers[0]
  if (solidity === undefined)
    throw new Error('hardhat.config.ts has no compiler')
  writeDeployment({
    chainId: Number(chainId),
    address,
    block: receipt.blockNumber,
    transaction: receipt.hash,
    codeHash: keccak256(code),
    admin,
    adminDelay,
    compiler: {
      solc: solidity.version,
      evmVersion: solidity.settings.evmVersion,
      viaIR: solidity.settings.viaIR,
      optimizerRuns: solidity.settings.optimizer.runs,
    },
    commit: commit(),
  })
  console.log(
    `Deployed in block ${receipt.blockNumber} by ${receipt.hash} for ${receipt.gasUsed} gas; see deployments/${chainId}.json.`,
  )
}

/** The proxy swallows the reason of a failure, so the creation is simulated without it first. */
async function tryDirectly(): Promise<void> {
  try {
    await provider.call({ from: payer, data: initCode })
  } catch (cause) {
    throw new Error(
      `the deployment would fail: ${reasonOf(cause, new Interface(artifact.abi))}`,
      { cause },
    )
  }
}

function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { encoding: 'utf8' }).trim()
  const dirty =
    git(
      'status',
      '--porcelain',
      '--',
      'contracts',
      'hardhat.config.ts',
      'package-lock.json',
    ) !== ''
  return git('rev-parse', 'HEAD') + (dirty ? ', changed' : '')
}
