import { execFileSync, spawnSync } from 'node:child_process'
import {
  concat,
  formatEther,
  formatUnits,
  Interface,
  id,
  keccak256,
  Transaction,
  type TransactionRequest,
  ZeroHash,
  zeroPadValue,
} from 'ethers'
import hre from 'hardhat'
import type { Values as ValuesOf } from '../command.ts'
import { InputError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { printableJson } from '../printable.ts'
import { wholeNumber } from '../sources.ts'
import type { Terminal } from '../terminal.ts'
import { readBuild } from './build.ts'
import {
  checkBlockNumbers,
  forwarderOf,
  isContract,
  parseAdminDelay,
  planOf,
  proxy,
  readAddress,
  readDeployment,
  reasonOf,
  recordOf,
  salt,
  writeDeployment,
} from './deployment.ts'
import { signerOf } from './network.ts'
import { type DEPLOY_OPTIONS, requireNetwork } from './options.ts'

const TWO_DAYS = `${2 * 24 * 60 * 60}`

type Values = ValuesOf<typeof DEPLOY_OPTIONS>
/** The result of a deployment. */
type Outcome = {
  state: 'planned' | 'deployed' | 'adopted' | 'already_deployed'
  /** The cost is in wei. */
  [more: string]: unknown
}

/**
 * Deploys the registry, which deploys its forwarder. Without `--send` it only prints what would be
 * sent and what it would cost.
 *
 * @returns The exit code.
 */
export async function deploy(
  values: Values & { json?: boolean },
  { write, note }: Terminal,
): Promise<number> {
  const network = requireNetwork(values.network)
  const say = values.json ? note : write
  const block = values.block === undefined ? undefined : wholeNumber('block', values.block)
  const adminDelay = parseAdminDelay(values['admin-delay'] ?? TWO_DAYS)
  const named = values.admin === undefined ? undefined : readAddress('--admin', values.admin)
  const build = await readBuild()
  const connection = await hre.network.create(network)
  try {
    const plan = await planFor({ ...values, network, named, adminDelay, say }, build, connection)
    const { address, admin, chainId, isThere } = plan
    const hasIt = await isThere(address)
    if (values.adopt && !hasIt)
      throw new InputError('not_possible', `there is no registry to adopt at ${address}`)
    const outcome = values.adopt
      ? await adopt(plan, block)
      : hasIt
        ? tellKnown(plan)
        : await create(plan)
    if (values.verify) publish(network, plan, values.json)
    const about = { chainId: Number(chainId), registry: address, forwarder: forwarderOf(address) }
    if (values.json) write(printableJson({ ...about, admin, adminDelay, ...outcome }))
    return EXIT.ok
  } finally {
    await connection.close()
  }
}

function tellKnown({ chainId, address, say }: Plan): Outcome {
  const isKnown = readDeployment(chainId, address) !== undefined
  say(
    isKnown
      ? 'The registry is already deployed.'
      : `The registry is already deployed, but there is no ${recordOf(chainId, address)}: --adopt writes that file.`,
  )
  return { state: 'already_deployed', isRecorded: isKnown }
}

type Plan = Awaited<ReturnType<typeof planFor>>

/** Prints what would be deployed, and refuses a plain admin. */
async function planFor(
  values: Values & {
    network: string
    named: string | undefined
    adminDelay: number
    say: (line: string) => void
  },
  { artifact, input }: Awaited<ReturnType<typeof readBuild>>,
  connection: Awaited<ReturnType<typeof hre.network.create>>,
) {
  const { provider } = connection.ethers
  const { network, named, adminDelay, say } = values
  const signer = await signerOf(connection, network)
  const payer = await signer.getAddress()
  const admin = named ?? payer
  const { chainId } = await provider.getNetwork()
  await checkBlockNumbers(provider)
  const { initCode, address } = planOf(artifact.bytecode, admin, adminDelay)
  say(`chain        ${chainId}`)
  say(`registry     ${address}`)
  say(`forwarder    ${forwarderOf(address)}`)
  say(`admin        ${admin}${named === undefined ? ' (the payer)' : ''}`)
  say(`admin delay  ${adminDelay} s`)
  if (!isContract(await provider.getCode(admin)) && !values['allow-plain-admin'])
    throw new InputError(
      'not_possible',
      `the admin ${admin} is a plain key, not a contract: name a multi-signature wallet with --admin, or accept with --allow-plain-admin that one lost or stolen key decides everything`,
    )
  const isThere = async (where: string): Promise<boolean> =>
    (await provider.getCode(where)) !== '0x'
  return {
    artifact,
    input,
    provider,
    signer,
    payer,
    admin,
    adminDelay,
    chainId,
    initCode,
    address,
    isThere,
    isSent: values.send,
    say,
  }
}

/** Publishes the source at Etherscan. */
function publish(network: string, { address, admin, adminDelay }: Plan, json = false): void {
  const args = ['verify', 'etherscan', '--network', network, address, admin, String(adminDelay)]
  const { status } = spawnSync('hardhat', args, { stdio: ['inherit', json ? 2 : 1, 2] })
  if (status !== 0) throw new InputError('not_possible', 'the source was not published: see above')
}

/** @throws {InputError} on a chain whose gas is too dear for the transaction that creates the proxy. */
async function assertProxyPossible({ provider, payer }: Plan): Promise<void> {
  const { data, gasLimit } = Transaction.from(proxy.raw)
  const gas = await provider.estimateGas({ from: payer, data })
  if (gas <= gasLimit) return
  throw new InputError(
    'not_possible',
    `the deployment proxy is missing here, and cannot be created: its transaction has ${gasLimit} gas and needs ${gas}. Ask the operators of the chain to put it at ${proxy.address}`,
  )
}

async function create(plan: Plan): Promise<Outcome> {
  const { provider, signer, payer, initCode, address, chainId, isThere, say } = plan
  await tryDirectly(plan)
  const needsProxy = !(await isThere(proxy.address))
  if (needsProxy) await assertProxyPossible(plan)
  const creation: TransactionRequest = {
    to: proxy.address,
    data: concat([salt, initCode]),
  }
  // Without the proxy, the estimate is that of creating the same code directly.
  const gas = await provider.estimateGas(
    needsProxy ? { from: payer, data: initCode } : { from: payer, ...creation },
  )
  const { maxFeePerGas, gasPrice } = await provider.getFeeData()
  const price = maxFeePerGas ?? gasPrice ?? 0n
  const cost = gas * price + (needsProxy ? proxy.funds : 0n)
  const balance = await provider.getBalance(payer)
  say(`payer        ${payer} with ${formatEther(balance)}`)
  if (needsProxy)
    say(
      `proxy        missing here: first ${formatEther(proxy.funds)} go to its sender, which then creates it`,
    )
  say(`gas          ${gas}${needsProxy ? ' (about)' : ''}`)
  say(`cost         at most ${formatEther(cost)} at ${formatUnits(price, 'gwei')} gwei`)
  if (!plan.isSent) {
    say('Dry run: nothing was sent. Add --send to deploy.')
    return { state: 'planned', payer, balance: `${balance}`, gas: `${gas}`, cost: `${cost}` }
  }
  if (balance < cost)
    throw new InputError(
      'not_possible',
      `${payer} has ${formatEther(balance)}, but the deployment may cost ${formatEther(cost)}`,
    )

  if (needsProxy) {
    await (
      await signer.sendTransaction({
        to: proxy.sender,
        value: proxy.funds,
      })
    ).wait()
    const created = await provider.broadcastTransaction(proxy.raw).catch((cause) => {
      throw new InputError(
        'not_possible',
        `the node refuses the transaction that creates the deployment proxy, because it is not bound to a chain (${cause.message}): use a node that accepts it (geth with --rpc.allow-unprotected-txs), or run the command again once the proxy is at ${proxy.address}`,
        cause,
      )
    })
    await created.wait()
  }
  const receipt = await (await signer.sendTransaction(creation)).wait()
  if (receipt === null || !(await isThere(address)))
    throw new InputError(
      'not_possible',
      `the transaction succeeded, but there is no code at ${address}`,
    )
  await record(plan, receipt.blockNumber, receipt.hash)
  say(
    `Deployed in block ${receipt.blockNumber} by ${receipt.hash} for ${receipt.gasUsed} gas; see ${recordOf(chainId, address)}.`,
  )
  return { state: 'deployed', block: receipt.blockNumber, transaction: receipt.hash }
}

/**
 * Records a registry that was deployed before. Its address is a hash of this build's code, the
 * admin and the delay, so it can only be this registry.
 */
async function adopt(plan: Plan, given: number | undefined): Promise<Outcome> {
  const { provider, address, admin, chainId, say } = plan
  const block = given ?? (await creationBlock(plan))
  // Only the constructor's event has the proxy as its sender.
  const granted = [id('RoleGranted(bytes32,address,address)'), ZeroHash, admin, proxy.address]
  const [log] = await provider.getLogs({
    address,
    topics: granted.map((topic) => zeroPadValue(topic, 32)),
    fromBlock: block,
    toBlock: block,
  })
  if (log === undefined)
    throw new InputError(
      'not_possible',
      `${address} was not created in block ${block}: give the block of its creation with --block`,
    )
  await record(plan, block, log.transactionHash)
  say(
    `Adopted: created in block ${block} by ${log.transactionHash}; see ${recordOf(chainId, address)}.`,
  )
  return { state: 'adopted', block, transaction: log.transactionHash }
}

/** Finds the block by bisection over the code at old blocks, which needs a node with old state. */
async function creationBlock({ provider, address }: Plan): Promise<number> {
  try {
    let low = 0
    let high = await provider.getBlockNumber()
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((await provider.getCode(address, middle)) === '0x') low = middle + 1
      else high = middle
    }
    return low
  } catch (cause) {
    throw new InputError(
      'not_possible',
      'this RPC does not answer for old blocks: give the block of the creation with --block',
      cause,
    )
  }
}

async function record(plan: Plan, block: number, transaction: string): Promise<void> {
  const { provider, address, admin, adminDelay, chainId, input } = plan
  const solidity = hre.config.solidity.profiles.default?.compilers[0]
  if (solidity === undefined)
    throw new InputError('not_possible', 'hardhat.config.ts has no compiler')
  const forwarder = forwarderOf(address)
  const deployment = {
    chainId: Number(chainId),
    address,
    block,
    transaction,
    codeHash: keccak256(await provider.getCode(address)),
    forwarder,
    forwarderCodeHash: keccak256(await provider.getCode(forwarder)),
    admin,
    adminDelay,
    compiler: {
      solc: solidity.version,
      evmVersion: solidity.settings.evmVersion,
      viaIR: solidity.settings.viaIR,
      optimizerRuns: solidity.settings.optimizer.runs,
    },
    commit: commit(),
  }
  writeDeployment(deployment, input)
}

/** The proxy swallows the reason of a failure, so the creation is first simulated without it. */
async function tryDirectly({ provider, payer, initCode, artifact }: Plan): Promise<void> {
  try {
    await provider.call({ from: payer, data: initCode })
  } catch (cause) {
    throw new InputError(
      'not_possible',
      `the deployment would fail: ${reasonOf(cause, new Interface(artifact.abi))}`,
      cause,
    )
  }
}

/** @returns The commit of this checkout; `unknown` outside git, as in a container. */
function commit(): string {
  const cwd = new URL('../../..', import.meta.url)
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: 'pipe' }).trim()
  const sources = ['contracts', 'hardhat.config.ts', 'package-lock.json']
  try {
    const dirty = git('status', '--porcelain', '--', ...sources) !== ''
    return git('rev-parse', 'HEAD') + (dirty ? ', changed' : '')
  } catch {
    return 'unknown'
  }
}
