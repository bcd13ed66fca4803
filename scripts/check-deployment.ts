/**
 * Compares the registry on a chain with this commit's build and prints who holds which role:
 * `npm run check-deployment -- --network <name>`. Fails on any difference.
 */
import { parseArgs } from 'node:util'
import { dataLength, keccak256 } from 'ethers'
import hre from 'hardhat'
import { planOf, readDeployment, withoutImmutables } from './deployment.ts'

const { values } = parseArgs({ options: { network: { type: 'string' } } })
if (values.network === undefined)
  throw new Error(
    '--network <name> is missing; hardhat.config.ts lists the names',
  )

await hre.tasks.getTask('build').run({ quiet: true, noTests: true })
const artifact = await hre.artifacts.readArtifact('DocumentRegistry')
const connection = await hre.network.create(values.network)
const { provider } = connection.ethers
const { chainId } = await provider.getNetwork()
const deployment = readDeployment(chainId)
if (deployment === undefined)
  throw new Error(`there is no deployments/${chainId}.json`)

let differences = 0
const compare = (what: string, same: boolean): void => {
  if (!same) differences++
  console.log(`${same ? 'same     ' : 'DIFFERENT'}  ${what}`)
}
const code = await provider.getCode(deployment.address)
compare(
  `chain id ${deployment.chainId}`,
  BigInt(deployment.chainId) === chainId,
)
compare(
  `code hash as deployments/${chainId}.json has it (${dataLength(code)} bytes)`,
  keccak256(code) === deployment.codeHash,
)
compare(
  "code as this commit's build, apart from what the constructor fills in",
  withoutImmutables(code, artifact.immutableReferences ?? {}) ===
    artifact.deployedBytecode,
)
// An address made by CREATE2 is the hash of what made it, so this holds the constructor's part of the code too.
compare(
  "address as it follows from this commit's build, admin and delay",
  planOf(artifact.bytecode, deployment.admin, deployment.adminDelay).address ===
    deployment.address,
)
const receipt = await provider.getTransactionReceipt(deployment.transaction)
compare(
  `transaction ${deployment.transaction} in block ${deployment.block}`,
  receipt?.blockNumber === deployment.block,
)

const registry = await connection.ethers.getContractAt(
  'DocumentRegistry',
  deployment.address,
)
const [pendingAdmin, schedule] = await registry.pendingDefaultAdmin()
console.log(
  `\nadmin    ${await registry.defaultAdmin()}, changes after ${await registry.defaultAdminDelay()} s`,
)
if (schedule !== 0n)
  console.log(
    `pending  ${pendingAdmin}, may accept after ${new Date(Number(schedule) * 1000).toISOString()}`,
  )
await printRevokers()
const issuers = await registry.issuerCount()
for (let issuerId = 1n; issuerId <= issuers; issuerId++) {
  const { name, uri, accountCount } = await registry.issuerOf(issuerId)
  console.log(`issuer   ${issuerId} ${JSON.stringify(name)} ${uri}`)
  for (let index = 0n; index < accountCount; index++) {
    const account = await registry.accountAt(issuerId, index)
    const { active, distrustedFrom } = await registry.accountOf(account)
    const state =
      distrustedFrom !== 0n
        ? `distrusted from block ${distrustedFrom}`
        : active
          ? 'active'
          : 'retired'
    console.log(`           ${index} ${account} ${state}`)
  }
}
await connection.close()
if (differences > 0) process.exitCode = 1

/** REVOKERs stand in no list on the chain: their events name them, and `hasRole` says who of them still is one. */
async function printRevokers(): Promise<void> {
  const role = await registry.REVOKER_ROLE()
  const filter = registry.filters.RoleGranted(role)
  const accounts = await registry.queryFilter(filter, deployment?.block).then(
    (events) => [...new Set(events.map(({ args }) => args.account))],
    (cause: unknown) => {
      console.log(
        `REVOKER  unknown: this RPC does not give the events since block ${deployment?.block} (${String(cause).slice(0, 80)})`,
      )
      return []
    },
  )
  for (const account of accounts)
    if (await registry.hasRole(role, account))
      console.log(`REVOKER  ${account}`)
}
