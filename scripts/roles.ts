/**
 * Changes who may do what: `npm run roles -- <action> <arguments> --network <name> [--registry
 * <address>] [--as <address>] [--send]`.
 *
 * Prints the call, for a multi-signature wallet to send, and simulates it as the account that must
 * make it; this needs no key. `--send` sends it with the network's key instead.
 */
import { parseArgs } from 'node:util'
import {
  Contract,
  formatEther,
  getAddress,
  isCallException,
  type Signer,
  type TransactionReceipt,
} from 'ethers'
import hre from 'hardhat'
import { addressOf, errorOf, reasonOf } from './deployment.ts'
import { fittingParts, readHashes, type Trial } from './hash-list.ts'
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
  revoke: ['account', 'revoke', '<issuerId> <documentHashes> <reason>'],
  release: ['account', 'release', '<issuerId> <documentHashes>'],
  'revoke-batch': ['account', 'revokeBatch', '<issuerId> <root> <reason>'],
  'release-batch': ['account', 'releaseBatch', '<issuerId> <root>'],
  'revoke-in-batch': ['account', 'revokeInBatch', '<issuerId> <root> <documentHashes> <reason>'],
  'release-in-batch': ['account', 'releaseInBatch', '<issuerId> <root> <documentHashes>'],
}

/** The functions for several documents, of those for one. */
const manyOf: Readonly<Record<string, string>> = { revoke: 'revokeMany', release: 'releaseMany' }
const CHANGES = /^Document(InBatch)?(Revoked|Released)$/

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
  console.error(
    '<documentHashes> are one or more, separated by commas, or @ and a file with one a line',
  )
  process.exit(2)
}

type Argument = string | number | readonly string[]

const [actor, method] = known
const args = texts.map((text, index): Argument => {
  if (names[index] === '<permissions>') return parsePermissions(text)
  return names[index] === '<documentHashes>' ? readHashes(text) : text
})
const hashes = args.find((arg) => typeof arg === 'object')
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

type Call = { to: string; data: string; text: string; changes: number | null }

async function run(): Promise<void> {
  const [signer] = ((await connection?.ethers.getSigners()) ?? []) as Signer[]
  const from = await caller(signer)
  let count = 0
  for await (const { call, trial } of fittingCalls(from)) {
    console.log(`${count++ > 0 ? '\n' : ''}call   ${call.text}`)
    console.log(`chain  ${chainId}`)
    console.log(`from   ${from} (${actor})`)
    console.log(`to     ${call.to}`)
    console.log(`data   ${call.data}`)
    console.log('value  0')
    if ('failure' in trial) {
      console.error(`It would fail: ${trial.failure}`)
      process.exitCode = 1
      return
    }
    const { maxFeePerGas, gasPrice } = await provider.getFeeData()
    const cost = formatEther(trial.gas * (maxFeePerGas ?? gasPrice ?? 0n))
    console.log(`gas    ${trial.gas}, at most ${cost}`)
    if (signer !== undefined) await send(signer, call)
  }
  if (signer !== undefined) return
  console.log(
    count === 1
      ? 'It would succeed. Nothing was sent: add --send, or send the call yourself.'
      : `All ${count} calls would succeed. Nothing was sent: add --send, or send them yourself.`,
  )
}

/** @returns The calls of the action, each simulated: a list may need several. */
async function* fittingCalls(from: string): AsyncGenerator<{ call: Call; trial: Trial }> {
  const many = hashes !== undefined && (hashes.length > 1 || manyOf[method] === undefined)
  if (!many) {
    const call = await callOf(method, hashes?.[0])
    yield { call, trial: await simulated(call, from) }
    return
  }
  const ofMany = (part: readonly string[]) => callOf(manyOf[method] ?? method, part)
  const block = await provider.getBlock('latest')
  const limits = {
    length: Number(await registry.getFunction('MAX_LIST')()),
    blockGas: block?.gasLimit ?? 0n,
  }
  const trialOf = async (part: readonly string[]) => simulated(await ofMany(part), from)
  for await (const { part, trial } of fittingParts(hashes, trialOf, limits))
    yield { call: await ofMany(part), trial }
}

/** @param listed The part of the action's hashes that this call is about; absent = no hashes. */
async function callOf(name: string, listed?: string | readonly string[]): Promise<Call> {
  const given = args.map((arg) => (arg === hashes ? (listed ?? arg) : arg))
  const { to, data } = await registry.getFunction(name).populateTransaction(...given)
  const shown = given.map((arg) =>
    typeof arg === 'object' && arg.length > 3 ? `${arg.length} hashes from ${arg[0]} on` : arg,
  )
  const changes = typeof listed === 'object' ? listed.length : null
  return { to, data, text: `${name}(${shown.join(', ')})`, changes }
}

async function simulated({ to, data }: Call, from: string): Promise<Trial> {
  try {
    await provider.call({ from, to, data })
    return { gas: await provider.estimateGas({ from, to, data }) }
  } catch (cause) {
    const failure = reasonOf(cause, registry.interface)
    // Anything else is no word of the chain on this call.
    if (!isCallException(cause)) throw new Error(failure, { cause })
    return { failure, isReverted: errorOf(cause, registry.interface) !== undefined }
  }
}

async function send(signer: Signer, { to, data, changes }: Call): Promise<void> {
  const response = await signer.sendTransaction({ to, data })
  const receipt = await response.wait()
  const done = changes === null ? '' : `, ${changedBy(receipt)} of ${changes} changed`
  console.log(`Done in block ${receipt?.blockNumber} by ${receipt?.hash}${done}.`)
}

/** @returns How many documents a list has changed: it skips the others. */
function changedBy(receipt: TransactionReceipt | null): number {
  const events = receipt?.logs.map((log) => registry.interface.parseLog(log)?.name ?? '') ?? []
  return events.filter((name) => CHANGES.test(name)).length
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
