/**
 * Gas of what a user calls: receipt `gasUsed` ÷ documents, on Hardhat's own EVM.
 *
 * `npm run gas` fails when a figure is over its limit (docs/design.md §3) or differs from test/contracts/gas.json or
 * docs/contract.md; `npm run gas -- --update` writes the first of them.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type ContractTransactionResponse, id, type Signer } from 'ethers'
import hre from 'hardhat'
import { domainOf, sign } from './authorization.ts'

const documentation = readFileSync(
  new URL('../docs/contract.md', import.meta.url),
  'utf8',
)
const snapshotFile = new URL('../test/contracts/gas.json', import.meta.url)

interface Row {
  readonly limit?: number
  readonly documents: number
  readonly send: () => Promise<ContractTransactionResponse>
}

await hre.tasks.getTask('build').run({ quiet: true, noTests: true })
const connection = await hre.network.create()
const { ethers } = connection
const [admin, issuer, relayer] = (await ethers.getSigners()) as unknown as [
  Signer,
  Signer,
  Signer,
]
const registry = await ethers.deployContract(
  'DocumentRegistry',
  [await admin.getAddress(), 0],
  admin,
)
await registry.registerIssuer(
  await issuer.getAddress(),
  'An issuer',
  'https://issuer.example',
)
const asIssuer = registry.connect(issuer)
const asRelayer = registry.connect(relayer)

let documents = 0
/** Different ones at every call, the same in every run. */
const hashes = (count: number): string[] =>
  Array.from({ length: count }, () => id(`document ${documents++}`))
const hash = (): string => id(`document ${documents++}`)
const expiry = 2_000_000_000
const expiries = (count: number): number[] =>
  Array.from({ length: count }, () => expiry)
const issued = async (count: number): Promise<string[]> => {
  const list = hashes(count)
  await asIssuer.issueMany(list, expiries(count))
  return list
}
const batch = async (): Promise<string> => {
  const root = hash()
  await asIssuer.issueBatch(root, 1_000, hash())
  return root
}
const domain = domainOf(31_337n, await registry.getAddress())
const deadline = 4_000_000_000n

const [toRevoke, toRevokeFor, toSupersede] = (await issued(3)) as [
  string,
  string,
  string,
]
const toRevokeMany = await issued(100)
const root = await batch()
// The first nonce of a word of 256 costs a fresh slot; the figures are those of the next ones.
await asIssuer.cancelNonce(0)

const issueFor = async (nonce: bigint) => {
  const documentHash = hash()
  const payload = { documentHash, validUntil: expiry }
  return asRelayer.issueFor(
    documentHash,
    expiry,
    await sign(issuer, domain, 'Issue', payload, nonce, deadline),
  )
}
const issueBatchFor = async (nonce: bigint) => {
  const payload = { root: hash(), size: 1_000, manifest: hash() }
  const authorization = await sign(
    issuer,
    domain,
    'IssueBatch',
    payload,
    nonce,
    deadline,
  )
  return asRelayer.issueBatchFor(
    payload.root,
    payload.size,
    payload.manifest,
    authorization,
  )
}
const revokeFor = async (nonce: bigint) => {
  const payload = { documentHash: toRevokeFor, reason: 1 }
  return asRelayer.revokeFor(
    toRevokeFor,
    1,
    await sign(issuer, domain, 'Revoke', payload, nonce, deadline),
  )
}

const rows: Record<string, Row> = {
  'issue one': {
    limit: 50_000,
    documents: 1,
    send: () => asIssuer.issue(hash(), expiry),
  },
  'issue many, 500': {
    limit: 25_400,
    documents: 500,
    send: () => asIssuer.issueMany(hashes(500), expiries(500)),
  },
  'Merkle root of 1,000': {
    limit: 60,
    documents: 1_000,
    send: () => asIssuer.issueBatch(hash(), 1_000, hash()),
  },
  'revoke one': {
    limit: 33_500,
    documents: 1,
    send: () => asIssuer.revoke(toRevoke, 1),
  },
  'revoke many, 100': {
    limit: 8_500,
    documents: 100,
    send: () => asIssuer.revokeMany(toRevokeMany, 1),
  },
  'supersede one': {
    documents: 1,
    send: () => asIssuer.supersede(toSupersede, hash(), expiry),
  },
  'revoke one of a batch': {
    documents: 1,
    send: () => asIssuer.revokeInBatch(1, root, hashes(1), 1),
  },
  'revoke 100 of a batch': {
    documents: 100,
    send: () => asIssuer.revokeInBatch(1, root, hashes(100), 1),
  },
  'revoke a whole batch': {
    documents: 1,
    send: () => asIssuer.revokeBatch(1, root, 1),
  },
  'issue one, delegated': { documents: 1, send: () => issueFor(1n) },
  'issue one, delegated, first of 256 nonces': {
    documents: 1,
    send: () => issueFor(256n),
  },
  'Merkle root, delegated, in all': {
    documents: 1,
    send: () => issueBatchFor(2n),
  },
  'revoke one, delegated': { documents: 1, send: () => revokeFor(3n) },
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
    faults.push(`${name}: ${gas}, but the snapshot says ${snapshot[name]}`)
  if (!documentation.includes(`| ${name} | ${gas.toLocaleString('en')} |`))
    faults.push(`${name}: docs/contract.md does not say ${gas}`)
  console.log(
    `${name.padEnd(42)} ${String(gas).padStart(7)}   ${limit === undefined ? '' : `at most ${limit}`}`,
  )
}
await connection.close()
if (update)
  writeFileSync(snapshotFile, `${JSON.stringify(measured, null, 2)}\n`)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
