/**
 * Changes who may do what: `npm run roles -- <action> <arguments> --network <name> [--send]`. Without `--send` it is a dry run: the
 * call is simulated, so that what would fail says why, and its cost is printed. The admin changes in two steps: the admin begins,
 * the next admin accepts after the delay.
 */
import { parseArgs } from 'node:util'
import { formatEther, type Signer } from 'ethers'
import hre from 'hardhat'
import { readDeployment, reasonOf } from './deployment.ts'

/** Action → the registry's function and what its arguments mean. */
const actions = {
  'register-issuer': ['registerIssuer', '<account> <name> <uri>'],
  'update-issuer': ['updateIssuer', '<issuerId> <name> <uri>'],
  'add-account': ['addAccount', '<issuerId> <account>'],
  'retire-account': ['retireAccount', '<account>'],
  'withdraw-issuer': ['withdrawIssuer', '<issuerId>'],
  'distrust-from': ['distrustFrom', '<account> <block>'],
  'grant-revoker': ['grantRole', '<account>'],
  'withdraw-revoker': ['revokeRole', '<account>'],
  'begin-admin-transfer': ['beginDefaultAdminTransfer', '<account>'],
  'cancel-admin-transfer': ['cancelDefaultAdminTransfer', ''],
  'accept-admin-transfer': ['acceptDefaultAdminTransfer', ''],
} as const

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    network: { type: 'string' },
    send: { type: 'boolean', default: false },
  },
})
const [action = '', ...given] = positionals
const known = Object.entries(actions).find(([name]) => name === action)?.[1]
if (
  known === undefined ||
  values.network === undefined ||
  given.length !== known[1].split(' ').filter(Boolean).length
) {
  console.error(
    'npm run roles -- <action> --network <name> [--send], where <action> is one of',
  )
  for (const [name, [, usage]] of Object.entries(actions))
    console.error(`  ${name} ${usage}`)
  process.exit(2)
}

const [method] = known
const connection = await hre.network.create(values.network)
const { provider } = connection.ethers
const { chainId } = await provider.getNetwork()
const deployment = readDeployment(chainId)
if (deployment === undefined)
  throw new Error(`there is no deployments/${chainId}.json`)
const [signer] = (await connection.ethers.getSigners()) as unknown as [
  Signer | undefined,
]
if (signer === undefined)
  throw new Error(`network ${values.network} has no account to sign with`)
const registry = await connection.ethers.getContractAt(
  'DocumentRegistry',
  deployment.address,
  signer,
)
const args = action.endsWith('-revoker')
  ? [await registry.REVOKER_ROLE(), ...given]
  : given

const call = registry.getFunction(method)
try {
  await call.staticCall(...args)
} catch (cause) {
  console.error(`${method} would fail: ${reasonOf(cause, registry.interface)}`)
  process.exit(1)
}
const gas = await call.estimateGas(...args)
const { maxFeePerGas, gasPrice } = await provider.getFeeData()
console.log(
  `${method}(${args.join(', ')}) at ${deployment.address} on chain ${chainId}`,
)
console.log(
  `by ${await signer.getAddress()}, ${gas} gas, at most ${formatEther(gas * (maxFeePerGas ?? gasPrice ?? 0n))}`,
)
if (values.send) {
  const receipt = await (await call.send(...args)).wait()
  console.log(`Done in block ${receipt?.blockNumber} by ${receipt?.hash}.`)
} else {
  console.log('Dry run: nothing was sent. Add --send.')
}
await connection.close()
