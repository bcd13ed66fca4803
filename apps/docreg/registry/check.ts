import { Contract, dataLength, type JsonRpcProvider, keccak256 } from 'ethers'
import { InputError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { printableJson } from '../printable.ts'
import type { Terminal } from '../terminal.ts'
import { readBuild } from './build.ts'
import {
  addressOf,
  forwarderOf,
  planOf,
  readDeployment,
  readInput,
  recordOf,
} from './deployment.ts'
import { withoutImmutables } from './immutables.ts'
import { readNetwork } from './network.ts'
import { requireNetwork } from './options.ts'
import { formatPermissions } from './permissions.ts'
import { type Release, readRelease } from './release.ts'

/**
 * Compares the registry on a chain and its forwarder with this commit's build or a release, and
 * prints who may do what.
 *
 * @returns The exit code: 1 for any difference.
 */
export async function check(
  values: { network?: string; registry?: string; release?: string; json?: boolean },
  { write }: Terminal,
): Promise<number> {
  const provider = await readNetwork(requireNetwork(values.network))
  try {
    const compared = await compareCode(provider, values)
    const { comparisons, ...about } = compared
    const isSame = comparisons.every(({ same }) => same)
    const office = isSame ? await readOffice(compared.contract) : undefined
    if (values.json) {
      const { contract: _, ...shown } = about
      write(printableJson({ same: isSame, ...shown, comparisons, ...office }))
    } else {
      for (const { what, same } of comparisons)
        write(`${same ? 'same     ' : 'DIFFERENT'}  ${what}`)
      if (office) for (const line of linesOf(office)) write(line)
    }
    return isSame ? EXIT.ok : EXIT.wrong
  } finally {
    provider.destroy()
  }
}

async function compareCode(
  provider: JsonRpcProvider,
  { registry, release }: { registry?: string; release?: string },
) {
  const made: Release = release === undefined ? await readBuild() : await readRelease(release)
  const { artifact, input, forwarder } = made
  const whose = release === undefined ? "this commit's build" : 'the release'
  const { chainId } = await provider.getNetwork()
  const named = addressOf(chainId, registry)
  const deployment = readDeployment(chainId, named)
  if (deployment === undefined)
    throw new InputError('not_possible', `there is no ${recordOf(chainId, named)}`)

  const comparisons: { what: string; same: boolean }[] = []
  const compare = (what: string, same: boolean) => void comparisons.push({ what, same })
  const code = await provider.getCode(deployment.address)
  compare(`chain id ${deployment.chainId}`, BigInt(deployment.chainId) === chainId)
  compare(
    `code hash in ${recordOf(chainId, named)} (${dataLength(code)} bytes)`,
    keccak256(code) === deployment.codeHash,
  )
  compare(
    `code of ${whose}, except for the immutable values`,
    withoutImmutables(code, artifact.immutableReferences ?? {}) === artifact.deployedBytecode,
  )
  // A CREATE2 address is a hash of the creation code, so this also checks what the constructor
  // fills in.
  compare(
    `address that follows from ${whose}, admin and delay`,
    planOf(artifact.bytecode, deployment.admin, deployment.adminDelay).address ===
      deployment.address,
  )
  compare(
    `its compiler input, beside it, and that of ${whose}`,
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
    `forwarder's code of ${whose}, except for the immutable values`,
    withoutImmutables(forwarderCode, forwarder.immutables) ===
      withoutImmutables(forwarder.code, forwarder.immutables),
  )
  const receipt = await provider.getTransactionReceipt(deployment.transaction)
  compare(
    `transaction ${deployment.transaction} in block ${deployment.block}`,
    receipt?.blockNumber === deployment.block,
  )
  const contract = new Contract(deployment.address, artifact.abi, provider)
  return { chainId: Number(chainId), registry: deployment.address, comparisons, contract }
}

/** The roles of accounts in the registry. */
type Office = Awaited<ReturnType<typeof readOffice>>

async function readOffice(registry: Contract) {
  const read = (name: string, ...args: unknown[]) => registry.getFunction(name)(...args)
  const when = (seconds: bigint): string => new Date(Number(seconds) * 1000).toISOString()
  const [pendingAdmin, schedule] = await read('pendingDefaultAdmin')
  const issuers = []
  for (let issuerId = 1n; issuerId <= (await read('issuerCount')); issuerId++) {
    const issuer = await read('issuerOf', issuerId)
    const accounts = []
    for (let index = 0n; index < issuer.accountCount; index++)
      accounts.push(describe(await read('accountAt', issuerId, index)))
    const { account, acceptFrom, acceptUntil } = await read('proposalOf', issuerId)
    issuers.push({
      issuerId: Number(issuerId),
      name: textIn(issuer, 'name'),
      uri: textIn(issuer, 'uri'),
      closedBlock: Number(issuer.closedBlock) || null,
      accounts,
      proposal:
        acceptFrom === 0n
          ? null
          : { account, acceptFrom: when(acceptFrom), acceptUntil: when(acceptUntil) },
    })
  }
  return {
    admin: `${await read('defaultAdmin')}`,
    adminDelay: Number(await read('defaultAdminDelay')),
    pendingAdmin: schedule === 0n ? null : { account: pendingAdmin, acceptFrom: when(schedule) },
    issuers,
  }
}

/**
 * An issuer's text that is not UTF-8 is shown as empty, because ethers throws when it is first
 * read.
 */
function textIn(issuer: Record<string, string>, member: string): string {
  try {
    return issuer[member] ?? ''
  } catch {
    return ''
  }
}

function describe(account: {
  account: string
  permissions: bigint
  retiredBlock: bigint
  distrustedFrom: bigint
}) {
  const state =
    account.distrustedFrom !== 0n
      ? `distrusted from block ${account.distrustedFrom}`
      : account.retiredBlock !== 0n
        ? `retired in block ${account.retiredBlock}`
        : formatPermissions(account.permissions)
  return { account: account.account, state }
}

function linesOf({ admin, adminDelay, pendingAdmin: next, issuers }: Office): string[] {
  return [
    `\nadmin     ${admin}, changes after ${adminDelay} s`,
    ...(next ? [`pending   ${next.account}, may accept after ${next.acceptFrom}`] : []),
    ...issuers.flatMap(({ issuerId, name, uri, closedBlock, accounts, proposal }) => [
      `issuer    ${issuerId} ${JSON.stringify(name)} ${uri}${closedBlock ? `, closed in block ${closedBlock}` : ''}`,
      ...accounts.map(({ account, state }, index) => `            ${index} ${account} ${state}`),
      ...(proposal
        ? [
            `            proposed ${proposal.account}, may accept from ${proposal.acceptFrom} to ${proposal.acceptUntil}`,
          ]
        : []),
    ]),
  ]
}
