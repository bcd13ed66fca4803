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
  isCallException,
  isError,
  type JsonRpcProvider,
  type Signer,
  type TransactionReceipt,
} from 'ethers'
import hre from 'hardhat'
import { InputError, UsageError } from '#cli/errors.ts'
import { addressOf, errorOf, readAddress, reasonOf } from '#cli/registry/deployment.ts'
import { fittingParts, readHashes, type Trial } from '#cli/registry/hash-list.ts'
import { readNetwork, signerOf } from '#cli/registry/network.ts'
import { parsePermissions } from '#cli/registry/permissions.ts'
import { runCommand } from './command.ts'

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

const USAGE = [
  'npm run roles -- <action> --network <name> [--registry <address>] [--as <address>] [--send], where <action> is one of',
  ...Object.entries(actions).map(([name, [, , usage]]) => `  ${name} ${usage}`),
  '<permissions> are one or more of issue,revoke,manage,delegate',
  '<documentHashes> are one or more, separated by commas, or @ and a file with one a line',
].join('\n')

type Argument = string | number | readonly string[]

/** What is to be called, and by whom. */
type Order = {
  network: string
  /** By `--registry`. */
  given: string | undefined
  as: string | undefined
  isSent: boolean
  actor: Actor
  method: string
  args: readonly Argument[]
}

function readOrder(): Order {
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
  if (known === undefined || values.network === undefined || texts.length !== names.length)
    throw new UsageError(USAGE)
  const [actor, method] = known
  const args = texts.map((text, index) => readArgument(names[index] ?? '', text))
  const as = values.as === undefined ? undefined : readAddress('--as', values.as)
  const { network, registry: given, send: isSent } = values
  return { network, given, as, isSent, actor, method, args }
}

/** @param name In the usage of an action. @throws {UsageError} */
function readArgument(name: string, text: string): Argument {
  if (name === '<permissions>') return parsePermissions(text)
  if (name === '<documentHashes>') return readHashes(text)
  if (name === '<account>') return readAddress(name, text)
  if (name === '<root>' && !/^0x[0-9a-fA-F]{64}$/.test(text))
    throw new UsageError('<root> must be 0x and 64 hexadecimal digits')
  const most = LARGEST[name]
  if (most !== undefined && !(/^\d{1,15}$/.test(text) && Number(text) <= most))
    throw new UsageError(`${name} must be a whole number, at most ${most}`)
  return text
}

/** The largest number that the contract takes; it judges the others. */
const LARGEST: Readonly<Record<string, number>> = {
  '<issuerId>': 2 ** 32 - 1,
  '<reason>': 255,
  '<block>': 2 ** 40 - 1,
}

/** The registry of an order. */
type Office = Order & { registry: Contract; provider: JsonRpcProvider; chainId: bigint }

async function main(): Promise<void> {
  const order = readOrder()
  const { abi } = await hre.artifacts.readArtifact('DocumentRegistry')
  const provider = await readNetwork(order.network)
  const connection = order.isSent ? await hre.network.create(order.network) : undefined
  try {
    const { chainId } = await provider.getNetwork()
    const registry = new Contract(addressOf(chainId, order.given), abi, provider)
    await assertRegistry(registry, chainId)
    const signer = connection && (await signerOf(connection, order.network))
    await run({ ...order, registry, provider, chainId }, signer)
  } finally {
    provider.destroy()
    await connection?.close()
  }
}

async function assertRegistry(registry: Contract, chainId: bigint): Promise<void> {
  try {
    await registry.getFunction('MAX_LIST')()
  } catch (cause) {
    if (!isError(cause, 'BAD_DATA') && !isCallException(cause)) throw cause
    throw new InputError(
      'not_possible',
      `${registry.target} on chain ${chainId} is not a document registry`,
      cause,
    )
  }
}

type Call = { to: string; data: string; text: string; changes: number | null }

async function run(office: Office, signer: Signer | undefined): Promise<void> {
  const { provider, chainId, actor } = office
  const from = await caller(office, signer)
  let count = 0
  for await (const { call, trial } of fittingCalls(office, from)) {
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
    if (signer !== undefined) await send(office, signer, call)
  }
  if (signer !== undefined) return
  console.log(
    count === 1
      ? 'It would succeed. Nothing was sent: add --send, or send the call yourself.'
      : `All ${count} calls would succeed. Nothing was sent: add --send, or send them yourself.`,
  )
}

/** @returns The calls of the action, each simulated: a list may need several. */
async function* fittingCalls(
  office: Office,
  from: string,
): AsyncGenerator<{ call: Call; trial: Trial }> {
  const { method, args, provider, registry } = office
  const hashes = args.find((arg) => typeof arg === 'object')
  const many = hashes !== undefined && (hashes.length > 1 || manyOf[method] === undefined)
  if (!many) {
    const call = await callOf(office, method, hashes?.[0])
    yield { call, trial: await simulated(office, call, from) }
    return
  }
  const ofMany = (part: readonly string[]) => callOf(office, manyOf[method] ?? method, part)
  const block = await provider.getBlock('latest')
  const limits = {
    length: Number(await registry.getFunction('MAX_LIST')()),
    blockGas: block?.gasLimit ?? 0n,
  }
  const trialOf = async (part: readonly string[]) => simulated(office, await ofMany(part), from)
  for await (const { part, trial } of fittingParts(hashes, trialOf, limits))
    yield { call: await ofMany(part), trial }
}

/** @param listed The part of the action's hashes that this call is about; absent = no hashes. */
async function callOf(
  { args, registry }: Office,
  name: string,
  listed?: string | readonly string[],
): Promise<Call> {
  const given = args.map((arg) => (typeof arg === 'object' ? (listed ?? arg) : arg))
  const { to, data } = await registry.getFunction(name).populateTransaction(...given)
  const shown = given.map((arg) =>
    typeof arg === 'object' && arg.length > 3 ? `${arg.length} hashes from ${arg[0]} on` : arg,
  )
  const changes = typeof listed === 'object' ? listed.length : null
  return { to, data, text: `${name}(${shown.join(', ')})`, changes }
}

async function simulated(
  { provider, registry }: Office,
  { to, data }: Call,
  from: string,
): Promise<Trial> {
  try {
    await provider.call({ from, to, data })
    return { gas: await provider.estimateGas({ from, to, data }) }
  } catch (cause) {
    const failure = reasonOf(cause, registry.interface)
    // Anything else is no word of the chain on this call.
    if (!isCallException(cause)) throw new InputError('not_possible', failure, cause)
    return { failure, isReverted: errorOf(cause, registry.interface) !== undefined }
  }
}

async function send(
  { registry }: Office,
  signer: Signer,
  { to, data, changes }: Call,
): Promise<void> {
  const response = await signer.sendTransaction({ to, data })
  const receipt = await response.wait()
  const done = changes === null ? '' : `, ${changedBy(receipt, registry)} of ${changes} changed`
  console.log(`Done in block ${receipt?.blockNumber} by ${receipt?.hash}${done}.`)
}

/** @returns How many documents a list has changed: it skips the others. */
function changedBy(receipt: TransactionReceipt | null, registry: Contract): number {
  const events = receipt?.logs.map((log) => registry.interface.parseLog(log)?.name ?? '') ?? []
  return events.filter((name) => CHANGES.test(name)).length
}

/**
 * @returns With `--send`, the account of the key; otherwise `--as`, or the account that the
 * registry has in that role.
 */
async function caller(
  { registry, as: named, actor, args }: Office,
  signer: Signer | undefined,
): Promise<string> {
  if (signer !== undefined) {
    const own = await signer.getAddress()
    if (named !== undefined && named !== own)
      throw new InputError('not_possible', `--as is ${named}, but the key belongs to ${own}`)
    return own
  }
  if (named !== undefined) return named
  if (actor === 'admin') return registry.getFunction('defaultAdmin')()
  if (actor === 'next admin') return (await registry.getFunction('pendingDefaultAdmin')())[0]
  if (actor === 'proposed account')
    return (await registry.getFunction('proposalOf')(args[0])).account
  throw new UsageError(
    `--as <address> is missing: name the account of the issuer that makes this call`,
  )
}

await runCommand('call the registry', main)
