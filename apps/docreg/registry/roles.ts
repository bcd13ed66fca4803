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
import type { Values } from '../command.ts'
import { InputError, UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { printableJson } from '../printable.ts'
import type { Terminal } from '../terminal.ts'
import { ACTIONS, type Actor } from './actions.ts'
import { addressOf, errorOf, readAddress, reasonOf } from './deployment.ts'
import { fittingParts, readHashes, type Trial } from './hash-list.ts'
import { readNetwork, signerOf } from './network.ts'
import { type ROLES_OPTIONS, requireNetwork } from './options.ts'
import { parsePermissions } from './permissions.ts'

/** For each function about one document, the function about several. */
const manyOf: Readonly<Record<string, string>> = { revoke: 'revokeMany', release: 'releaseMany' }
const CHANGES = /^Document(InBatch)?(Revoked|Released)$/

type Argument = string | number | readonly string[]

type RolesValues = Values<typeof ROLES_OPTIONS>

/** The call to make, and the account that makes it. */
type Order = {
  network: string
  /** The value of `--registry`. */
  given: string | undefined
  as: string | undefined
  isSent: boolean
  actor: Actor
  method: string
  args: readonly Argument[]
}

/** @throws {UsageError} */
function readOrder([name = '', ...texts]: readonly string[], values: RolesValues): Order {
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
  if (!action) throw new UsageError(`<action> must be one of ${Object.keys(ACTIONS).join(', ')}`)
  const [actor, method, usage] = action
  const names = usage.split(' ').filter(Boolean)
  if (texts.length !== names.length)
    throw new UsageError(`${name} takes ${usage || 'no arguments'}, but ${texts.length} were given`)
  const network = requireNetwork(values.network)
  const args = texts.map((text, index) => readArgument(names[index] ?? '', text))
  const as = values.as === undefined ? undefined : readAddress('--as', values.as)
  return { network, given: values.registry, as, isSent: values.send === true, actor, method, args }
}

/** @param name The name of an argument in the usage of an action. @throws {UsageError} */
function readArgument(name: string, text: string): Argument {
  if (name === '<permissions>') return parsePermissions(text)
  if (name === '<documentHashes>') return readHashes(text)
  if (name === '<account>') return readAddress(name, text)
  if (name === '<root>' && !/^0x[0-9a-fA-F]{64}$/.test(text))
    throw new UsageError('<root> must be 0x followed by 64 hexadecimal digits')
  const most = LARGEST[name]
  if (most !== undefined && !(/^\d{1,15}$/.test(text) && Number(text) <= most))
    throw new UsageError(`${name} must be a whole number, at most ${most}`)
  return text
}

/**
 * The largest number that the contract accepts for an argument; others are checked by the contract.
 */
const LARGEST: Readonly<Record<string, number>> = {
  '<issuerId>': 2 ** 32 - 1,
  '<reason>': 255,
  '<block>': 2 ** 40 - 1,
}

/** The registry of an order. */
type Office = Order & { registry: Contract; provider: JsonRpcProvider; chainId: bigint }

/**
 * Prints a call of the registry for a multi-signature wallet to send, and simulates it as the
 * account that must make it, which needs no key. `--send` sends it with the network's key instead.
 *
 * @returns The exit code: 1 if it would fail.
 */
export async function changeRoles(
  args: readonly string[],
  values: RolesValues & { json?: boolean },
  { write, note }: Terminal,
): Promise<number> {
  const order = readOrder(args, values)
  const { abi } = await hre.artifacts.readArtifact('DocumentRegistry')
  const provider = await readNetwork(order.network)
  const connection = order.isSent ? await hre.network.create(order.network) : undefined
  try {
    const { chainId } = await provider.getNetwork()
    const registry = new Contract(addressOf(chainId, order.given), abi, provider)
    await assertRegistry(registry, chainId)
    const signer = connection && (await signerOf(connection, order.network))
    const say = values.json ? note : write
    const calls = await makeCalls({ ...order, registry, provider, chainId }, signer, say)
    const failure = calls.at(-1)?.failure
    if (values.json) write(printableJson({ sent: order.isSent && failure === undefined, calls }))
    else if (failure !== undefined) note(`It would fail: ${failure}`)
    return failure === undefined ? EXIT.ok : EXIT.wrong
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

/** A call with its result. Numbers of wei and gas are texts. */
type Made = Record<'call' | 'from' | 'actor' | 'to' | 'data' | 'value', string> & {
  chainId: number
  gas?: string
  failure?: string
  block?: number | null
  transaction?: string | null
  changed?: number | null
}

/** @returns The calls, up to the first that would fail. */
async function makeCalls(
  office: Office,
  signer: Signer | undefined,
  say: (line: string) => void,
): Promise<Made[]> {
  const { provider, chainId, actor } = office
  const from = await caller(office, signer)
  const made: Made[] = []
  for await (const { call, trial } of fittingCalls(office, from)) {
    const { text, to, data } = call
    const one: Made = { call: text, chainId: Number(chainId), from, actor, to, data, value: '0' }
    const shown = { call: text, chain: chainId, from: `${from} (${actor})`, to, data, value: 0 }
    if (made.length > 0) say('')
    for (const [name, value] of Object.entries(shown)) say(`${name.padEnd(6)} ${value}`)
    made.push(one)
    if ('failure' in trial) {
      one.failure = trial.failure
      return made
    }
    const { maxFeePerGas, gasPrice } = await provider.getFeeData()
    const cost = formatEther(trial.gas * (maxFeePerGas ?? gasPrice ?? 0n))
    one.gas = `${trial.gas}`
    say(`gas    ${trial.gas}, at most ${cost}`)
    if (signer !== undefined) Object.assign(one, await send(office, signer, call, say))
  }
  if (signer === undefined)
    say(
      made.length === 1
        ? 'It would succeed. Nothing was sent: add --send, or send the call yourself.'
        : `All ${made.length} calls would succeed. Nothing was sent: add --send, or send them yourself.`,
    )
  return made
}

/** @returns The calls of the action, each simulated. A list may need several. */
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

/** @param listed The part of the action's hashes for this call; absent = no hashes. */
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
    // Any other error is not the chain's answer to this call.
    if (!isCallException(cause)) throw new InputError('not_possible', failure, cause)
    return { failure, isReverted: errorOf(cause, registry.interface) !== undefined }
  }
}

async function send(
  { registry }: Office,
  signer: Signer,
  { to, data, changes }: Call,
  say: (line: string) => void,
): Promise<Pick<Made, 'block' | 'transaction' | 'changed'>> {
  const response = await signer.sendTransaction({ to, data })
  const receipt = await response.wait()
  const [block, transaction] = [receipt?.blockNumber ?? null, receipt?.hash ?? null]
  const changed = changes === null ? null : changedBy(receipt, registry)
  const done = changed === null ? '' : `, ${changed} of ${changes} changed`
  say(`Done in block ${block} by ${transaction}${done}.`)
  return { block, transaction, changed }
}

/** @returns The number of documents of a list that were changed; the others are skipped. */
function changedBy(receipt: TransactionReceipt | null, registry: Contract): number {
  const events = receipt?.logs.map((log) => registry.interface.parseLog(log)?.name ?? '') ?? []
  return events.filter((name) => CHANGES.test(name)).length
}

/**
 * @returns With `--send`, the account of the key; otherwise `--as`, or the account that has this
 * role in the registry.
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
  throw new UsageError(`--as <address> is required, the account of the issuer that makes this call`)
}
