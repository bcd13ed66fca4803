/**
 * Compares the registry on a chain and its forwarder with this commit's build, and prints who may
 * do what: `npm run check-deployment -- --network <name> [--registry <address>]`. Fails on any
 * difference.
 */
import { parseArgs } from 'node:util'
import { Contract, dataLength, type JsonRpcProvider, keccak256 } from 'ethers'
import { InputError, UsageError } from '#cli/errors.ts'
import { readBuild } from '#cli/registry/build.ts'
import {
  addressOf,
  forwarderOf,
  planOf,
  readDeployment,
  readInput,
  recordOf,
  withoutImmutables,
} from '#cli/registry/deployment.ts'
import { readNetwork } from '#cli/registry/network.ts'
import { formatPermissions } from '#cli/registry/permissions.ts'
import { textIn } from '#parts/identity.ts'
import { runCommand } from './command.ts'

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { network: { type: 'string' }, registry: { type: 'string' } },
  })
  if (values.network === undefined)
    throw new UsageError('--network <name> is missing; hardhat.config.ts lists the names')
  const provider = await readNetwork(values.network)
  try {
    return await check(provider, values.registry)
  } finally {
    provider.destroy()
  }
}

async function check(provider: JsonRpcProvider, given: string | undefined): Promise<number> {
  const { artifact, input, forwarder } = await readBuild()
  const { chainId } = await provider.getNetwork()
  const named = addressOf(chainId, given)
  const deployment = readDeployment(chainId, named)
  if (deployment === undefined)
    throw new InputError('not_possible', `there is no ${recordOf(chainId, named)}`)

  let differences = 0
  const compare = (what: string, same: boolean): void => {
    if (!same) differences++
    console.log(`${same ? 'same     ' : 'DIFFERENT'}  ${what}`)
  }
  const code = await provider.getCode(deployment.address)
  compare(`chain id ${deployment.chainId}`, BigInt(deployment.chainId) === chainId)
  compare(
    `code hash in ${recordOf(chainId, named)} (${dataLength(code)} bytes)`,
    keccak256(code) === deployment.codeHash,
  )
  compare(
    "code of this commit's build, except what the constructor fills in",
    withoutImmutables(code, artifact.immutableReferences ?? {}) === artifact.deployedBytecode,
  )
  // A CREATE2 address is a hash of the creation code, so this also checks what the constructor fills
  // in.
  compare(
    "address that follows from this commit's build, admin and delay",
    planOf(artifact.bytecode, deployment.admin, deployment.adminDelay).address ===
      deployment.address,
  )
  compare(
    "its compiler input, beside it, and this commit's",
    JSON.stringify(readInput(chainId, named)) === JSON.stringify(input),
  )
  const forwarderCode = await provider.getCode(forwarderOf(deployment.address))
  compare(
    `forwarder ${deployment.forwarder}, created by the registry`,
    forwarderOf(deployment.address) === deployment.forwarder,
  )
  compare(
    `forwarder's code hash (${dataLength(forwarderCode)} bytes)`,
    keccak256(forwarderCode) === deployment.forwarderCodeHash,
  )
  compare(
    "forwarder's code of this commit's build, except what the constructor fills in",
    withoutImmutables(forwarderCode, forwarder.immutables) ===
      withoutImmutables(forwarder.code, forwarder.immutables),
  )
  const receipt = await provider.getTransactionReceipt(deployment.transaction)
  compare(
    `transaction ${deployment.transaction} in block ${deployment.block}`,
    receipt?.blockNumber === deployment.block,
  )
  if (differences > 0) return 1
  await printPermissions(new Contract(deployment.address, artifact.abi, provider))
  return 0
}

async function printPermissions(registry: Contract): Promise<void> {
  const read = (name: string, ...args: unknown[]) => registry.getFunction(name)(...args)
  const when = (seconds: bigint): string => new Date(Number(seconds) * 1000).toISOString()
  const [pendingAdmin, schedule] = await read('pendingDefaultAdmin')
  console.log(
    `\nadmin     ${await read('defaultAdmin')}, changes after ${await read('defaultAdminDelay')} s`,
  )
  if (schedule !== 0n) console.log(`pending   ${pendingAdmin}, may accept after ${when(schedule)}`)
  const issuers = await read('issuerCount')
  for (let issuerId = 1n; issuerId <= issuers; issuerId++) {
    const issuer = await read('issuerOf', issuerId)
    const closed = issuer.closedBlock === 0n ? '' : `, closed in block ${issuer.closedBlock}`
    console.log(
      `issuer    ${issuerId} ${JSON.stringify(textIn(issuer, 'name'))} ${textIn(issuer, 'uri')}${closed}`,
    )
    for (let index = 0n; index < issuer.accountCount; index++)
      console.log(`            ${index} ${describe(await read('accountAt', issuerId, index))}`)
    const proposal = await read('proposalOf', issuerId)
    if (proposal.acceptFrom !== 0n)
      console.log(
        `            proposed ${proposal.account}, may accept from ${when(proposal.acceptFrom)} to ${when(proposal.acceptUntil)}`,
      )
  }
}

function describe(account: {
  account: string
  permissions: bigint
  retiredBlock: bigint
  distrustedFrom: bigint
}): string {
  const state =
    account.distrustedFrom !== 0n
      ? `distrusted from block ${account.distrustedFrom}`
      : account.retiredBlock !== 0n
        ? `retired in block ${account.retiredBlock}`
        : formatPermissions(account.permissions)
  return `${account.account} ${state}`
}

await runCommand('check', main)
