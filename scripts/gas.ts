/**
 * Measures the gas of calls by users: `gasUsed` of the receipt ÷ documents, on Hardhat's own EVM.
 *
 * `npm run gas` fails when a figure is over its limit or differs from test/contracts/gas.json or
 * docs/contract.md; `npm run gas -- --update` writes gas.json.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { Contract, type ContractTransactionResponse, id } from 'ethers'
import hre from 'hardhat'
import { FORWARDER_ABI, forwarderDomain, signForwardRequest } from './forward-request.ts'
import { DELEGATE, freshRegistry, ISSUE, REVOKE } from './fresh-registry.ts'

const documentation = readFileSync(new URL('../docs/contract.md', import.meta.url), 'utf8')
const snapshotFile = new URL('../test/contracts/gas.json', import.meta.url)

interface Row {
  readonly limit?: number
  readonly documents: number
  readonly send: () => Promise<ContractTransactionResponse>
}

await hre.tasks.getTask('build').run({ quiet: true, noTests: true })
const {
  connection,
  registry,
  manager,
  issuer,
  other: relayer,
  thief,
} = await freshRegistry(ISSUE | REVOKE | DELEGATE)
const { ethers } = connection
const issuerId = 1
const asManager = registry.connect(manager)
const asIssuer = registry.connect(issuer)
const asThief = registry.connect(thief)
await asManager.addAccount(issuerId, await thief.getAddress(), ISSUE)

const forwarder = new Contract(await registry.trustedForwarder(), FORWARDER_ABI, relayer)
/** Sends a registry call from the relayer, signed by the issuer. */
async function forward(data: string): Promise<ContractTransactionResponse> {
  const request = await signForwardRequest(
    issuer,
    forwarderDomain(31_337n, await forwarder.getAddress()),
    {
      to: await registry.getAddress(),
      gas: 200_000n,
      nonce: await forwarder.getFunction('nonces')(await issuer.getAddress()),
      deadline: 4_000_000_000,
      data,
    },
  )
  return forwarder.getFunction('execute')(request)
}

let documents = 0
/** Each call returns new hashes, which are the same in each run. */
const hashes = (count: number): string[] =>
  Array.from({ length: count }, () => id(`document ${documents++}`))
const hash = (): string => id(`document ${documents++}`)
const expiry = 2_000_000_000
const expiries = (count: number): number[] => Array.from({ length: count }, () => expiry)
const issued = async (count: number): Promise<string[]> => {
  const list = hashes(count)
  await asIssuer.issueMany(issuerId, list, expiries(count))
  return list
}
const suspended = async (count: number): Promise<string[]> => {
  const list = await issued(count)
  await asIssuer.revokeMany(issuerId, list, 6)
  return list
}

const [toRevoke, toForward, toSupersede] = (await issued(3)) as [string, string, string]
const toRevokeMany = await issued(100)
const [toRelease] = (await suspended(1)) as [string]
const toReleaseMany = await suspended(100)
const root = hash()
await asIssuer.issueBatch(issuerId, root, 1_000, hash())
const toIssueAgain = hashes(100)
await asThief.issueMany(issuerId, toIssueAgain, expiries(100))
await asManager.distrustFrom(issuerId, await thief.getAddress(), 1)
// An account's first message also pays for a fresh slot, so the next ones are measured.
await forward(registry.interface.encodeFunctionData('issue', [issuerId, hash(), expiry]))

const rows: Record<string, Row> = {
  'issue one': {
    limit: 55_200,
    documents: 1,
    send: () => asIssuer.issue(issuerId, hash(), expiry),
  },
  'issue many, 500': {
    limit: 25_500,
    documents: 500,
    send: () => asIssuer.issueMany(issuerId, hashes(500), expiries(500)),
  },
  'Merkle root of 1,000': {
    limit: 60,
    documents: 1_000,
    send: () => asIssuer.issueBatch(issuerId, hash(), 1_000, hash()),
  },
  'issue again, 100': {
    limit: 9_000,
    documents: 100,
    send: () => asIssuer.issueMany(issuerId, toIssueAgain, expiries(100)),
  },
  'revoke one': {
    limit: 33_000,
    documents: 1,
    send: () => asIssuer.revoke(issuerId, toRevoke, 1),
  },
  'revoke many, 100': {
    limit: 8_600,
    documents: 100,
    send: () => asIssuer.revokeMany(issuerId, toRevokeMany, 1),
  },
  'release one': {
    limit: 33_700,
    documents: 1,
    send: () => asIssuer.release(issuerId, toRelease),
  },
  'release many, 100': {
    limit: 8_600,
    documents: 100,
    send: () => asIssuer.releaseMany(issuerId, toReleaseMany),
  },
  'supersede one': {
    documents: 1,
    send: () => asIssuer.supersede(issuerId, ethers.ZeroHash, toSupersede, hash(), expiry),
  },
  'revoke one of a batch': {
    documents: 1,
    send: () => asIssuer.revokeInBatch(issuerId, root, hashes(1), 1),
  },
  'revoke 100 of a batch': {
    documents: 100,
    send: () => asIssuer.revokeInBatch(issuerId, root, hashes(100), 1),
  },
  'revoke a whole batch': {
    documents: 1,
    send: () => asIssuer.revokeBatch(issuerId, root, 1),
  },
  'forwarded issue': {
    limit: 75_500,
    documents: 1,
    send: () => forward(registry.interface.encodeFunctionData('issue', [issuerId, hash(), expiry])),
  },
  'forwarded revoke': {
    limit: 53_500,
    documents: 1,
    send: () => forward(registry.interface.encodeFunctionData('revoke', [issuerId, toForward, 1])),
  },
}

const update = process.argv.includes('--update')
const snapshot: Record<string, number> = update
  ? {}
  : JSON.parse(readFileSync(snapshotFile, 'utf8'))
const measured: Record<string, number> = {}
const faults: string[] = []
for (const [name, { limit, documents: count, send }] of Object.entries(rows)) {
  const receipt = await (await send()).wait()
  const gas = Math.round(Number(receipt?.gasUsed) / count)
  measured[name] = gas
  if (limit !== undefined && gas > limit)
    faults.push(`${name}: ${gas} is over the limit of ${limit}`)
  if (!update && snapshot[name] !== gas)
    faults.push(`${name}: ${gas}, but the snapshot has ${snapshot[name]}`)
  if (!documentation.includes(`| ${name} | ${gas.toLocaleString('en')} |`))
    faults.push(`${name}: docs/contract.md does not say ${gas}`)
  console.log(
    `${name.padEnd(42)} ${String(gas).padStart(7)}   ${limit === undefined ? '' : `at most ${limit}`}`,
  )
}
const size = (await ethers.provider.getCode(registry)).length / 2 - 1
console.log(`${'runtime code, bytes'.padEnd(42)} ${String(size).padStart(7)}   at most 24576`)
const said = `has ${size.toLocaleString('en')} bytes`
if (!documentation.includes(said))
  faults.push(`docs/contract.md does not say that the contract ${said}`)
await connection.close()
if (update) writeFileSync(snapshotFile, `${JSON.stringify(measured, null, 2)}\n`)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
