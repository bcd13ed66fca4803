/**
 * Changes who may do what: `npm run roles -- <action> <arguments> --network <name> [--registry
 * <address>] [--as <address>] [--send]`.
 *
 * Prints the call, for a multi-signature wallet to send, and simulates it as the account that must
 * make it; this needs no key. `--send` sends it with the network's key instead.
 */
import { parseArgs } from 'node:util'
import { Contract, formatEther, getAddress, type Signer } from 'ethers'
import hre from 'hardhat'
import { addressOf, reasonOf } from './deployment.ts'
import { readNetwork } from './network.ts'
import { parsePermissions } from './permissions.ts'

/**
 * Who makes a call: the current or next admin, the proposed account, or the account of the issuer
 * that `--as` names.
 */
type Actor = 'admin' | 'next admin' | 'proposed account' | 'account'

/** For each action: who makes the call, the registry's function, and its arguments. */
const actions: Readonly<Record<string, readonly [actor: Actor, method: string, usage: string]>> = {
  'register-issuer': ['admin', 'registerIssuer', '<account> <name> <uri>'],
  'update-issuer': ['admin', 'updateIssuer', '<issuerId> <name> <uri>'],
  'close-issuer': ['admin', 'closeIssuer', '<issuerId>'],
  'reopen-issuer': ['admin', 'reopenIssuer', '<issuerId>'],
  'propose-account': ['admin', 'proposeAccount', '<issuerId> <account>'],
  'withdraw-proposal': ['admin', 'withdrawProposal', '<issuerId>'],
  'begin-admin-transfer': ['admin', 'beginDefaultAdminTransfer', '<account>'],
  'cancel-admin-transfer': ['admin', 'cancelDefaultAdminTransfer', ''],
  'accept-admin-transfer': ['next admin', 'acceptDefaultAdminTransfer', ''],
  'accept-proposal': ['proposed account', 'acceptProposal', '<issuerId>'],
  'veto-proposal': ['account', 'vetoProposal', '<issuerId>'],
  'add-account': ['account', 'addAccount', '<issuerId> <account> <permissions>'],
  'set-permissions': ['account', 'setPermissions', '<issuerId> <account> <permissions>'],
  'retire-account': ['account', 'retireAccount', '<issuerId> <account>'],
  'distrust-account': ['account', 'distrustFrom', '<issuerId> <account> <block>'],
  revoke: ['account', 'revoke', '<issuerId> <documentHash> <reason>'],
  release: ['account', 'release', '<issuerId> <documentHash>'],
  'revoke-batch': ['account', 'revokeBatch', '<issuerId> <root> <reason>'],
  'release-batch': ['account', 'releaseBatch', '<issuerId> <root>'],
  'revoke-in-batch': ['account', 'revokeInBatch', '<issuerId> <root> <documentHashes> <reason>'],
  'release-in-batch': ['account', 'releaseInBatch', '<issuerId> <root> <documentHashes>'],
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    network: { type: 'string' },
    registry: { type: 'string' },
    as: { type: 'string' },
    send: { type: 'boolean', default: false },
  },
})
const [action = '', ...texts] = positionals
const known = Object.entries(actions).find(([name]) => name === action)?.[1]
const names = known?.[2].split(' ').filter(Boolean) ?? []
if (known === undefined || values.network === undefined || texts.length !== names.length) {
  console.error(
    'npm run roles -- <action> --network <name> [--registry <address>] [--as <address>] [--send], where <action> is one of',
  )
  for (const [name, [, , usage]] of Object.entries(actions)) console.error(`  ${name} ${usage}`)
  console.error('<permissions> are one or more of issue,revoke,manage,delegate')
  console.error('<documentHashes> are one or more, separated by commas')
  process.exit(2)
}

const [actor, method] = known
const args = texts.map((text, index) => {
  if (names[index] === '<permissions>') return parsePermissions(text)
  return names[index] === '<documentHashes>' ? text.split(',') : text
})
const { abi } = await hre.artifacts.readArtifact('DocumentRegistry')
const provider = await readNetwork(values.network)
const { chainId } = await provider.getNetwork()
const registry = new Contract(addressOf(chainId, values.registry), abi, provider)
const connection = values.send ? await hre.network.create(values.network) : undefined
try {
  await run()
} finally {
  provider.destroy()
  await connection?.close()
}

async function run(): Promise<void> {
  const [signer] = ((await connection?.ethers.getSigners()) ?? []) as Signer[]
  const from = await caller(signer)
  const call = registry.getFunction(method)
  const { to, data } = await call.populateTransaction(...args)
  console.log(`call   ${method}(${args.join(', ')})`)
  console.log(`chain  ${chainId}`)
  console.log(`from   ${from} (${actor})`)
  console.log(`to     ${to}`)
  console.log(`data   ${data}`)
  console.log('value  0')

  try {
    await provider.call({ from, to, data })
  } catch (cause) {
    console.error(`It would fail: ${reasonOf(cause, registry.interface)}`)
    process.exitCode = 1
    return
  }
  const gas = await provider.estimateGas({ from, to, data })
  const { maxFeePerGas, gasPrice } = await provider.getFeeData()
  const cost = formatEther(gas * (maxFeePerGas ?? gasPrice ?? 0n))
  console.log(`gas    ${gas}, at most ${cost}`)
  if (signer === undefined) {
    console.log('It would succeed. Nothing was sent: add --send, or send the call yourself.')
    return
  }
  const response = await signer.sendTransaction({ to, data })
  const receipt = await response.wait()
  console.log(`Done in block ${receipt?.blockNumber} by ${receipt?.hash}.`)
}

/**
 * @returns With `--send`, the account of the key; otherwise `--as`, or the account that the
 * registry has in that role.
 */
async function caller(signer: Signer | undefined): Promise<string> {
  const named = values.as === undefined ? undefined : getAddress(values.as)
  if (signer !== undefined) {
    const own = await signer.getAddress()
    if (named !== undefined && named !== own)
      throw new Error(`--as is ${named}, but the key belongs to ${own}`)
    return own
  }
  if (named !== undefined) return named
  if (actor === 'admin') return registry.getFunction('defaultAdmin')()
  if (actor === 'next admin') return (await registry.getFunction('pendingDefaultAdmin')())[0]
  if (actor === 'proposed account')
    return (await registry.getFunction('proposalOf')(args[0])).account
  throw new Error(`--as <address> is missing: name the account of the issuer that makes this call`)
}
