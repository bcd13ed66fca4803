/**
 * Measures the gas of calls by users: `gasUsed` of the receipt ÷ documents, with the prices of Osaka
 * on Hardhat's own EVM, and with those of Amsterdam on geth.
 *
 * `npm run gas` fails when a figure is over its limit or differs from test/contracts/gas.json or
 * docs/contract.md; `npm run gas -- --update` writes gas.json. Without Go it leaves Amsterdam out.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Contract, type ContractTransactionResponse, id } from 'ethers'
import hre from 'hardhat'
import { gethBinary, startGethNode } from '#test/support/geth.ts'
import { FORWARDER_ABI, forwarderDomain, signForwardRequest } from './forward-request.ts'
import { DELEGATE, freshRegistry, ISSUE, mined, payers, REVOKE } from './fresh-registry.ts'

type Fork = 'osaka' | 'amsterdam'
/** The gas of each row, and the bytes of the contract. */
type Measured = { gas: Record<string, number>; size: number }

/** The most that a row may use with the prices of Osaka. */
const LIMITS: Record<string, number> = {
  'issue one': 55_200,
  'issue many, 500': 25_500,
  'Merkle root of 1,000': 60,
  'issue again, 100': 9_000,
  'revoke one': 33_000,
  'revoke many, 100': 8_600,
  'release one': 33_700,
  'release many, 100': 8_600,
  'forwarded issue': 75_500,
  'forwarded revoke': 53_500,
}

const documentation = readFileSync(new URL('../docs/contract.md', import.meta.url), 'utf8')
const snapshotFile = new URL('../test/contracts/gas.json', import.meta.url)

interface Row {
  readonly documents: number
  readonly send: () => Promise<ContractTransactionResponse>
}

/** @param url Of a node; absent = Hardhat's own EVM. */
async function measure(url?: string): Promise<Measured> {
  const {
    connection,
    registry,
    manager,
    issuer,
    other: relayer,
    thief,
  } = await freshRegistry(ISSUE | REVOKE | DELEGATE, url)
  const { ethers } = connection
  const issuerId = 1
  const asManager = registry.connect(manager)
  const asIssuer = registry.connect(issuer)
  const asThief = registry.connect(thief)
  await mined(asManager.addAccount(issuerId, await thief.getAddress(), ISSUE))

  const forwarder = new Contract(await registry.trustedForwarder(), FORWARDER_ABI, relayer)
  /** Sends a registry call from the relayer, signed by the issuer. */
  async function forward(data: string): Promise<ContractTransactionResponse> {
    const request = await signForwardRequest(
      issuer,
      forwarderDomain((await ethers.provider.getNetwork()).chainId, await forwarder.getAddress()),
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
    await mined(asIssuer.issueMany(issuerId, list, expiries(count)))
    return list
  }
  const suspended = async (count: number): Promise<string[]> => {
    const list = await issued(count)
    await mined(asIssuer.revokeMany(issuerId, list, 6))
    return list
  }

  const [toRevoke, toForward, toSupersede] = (await issued(3)) as [string, string, string]
  const toRevokeMany = await issued(100)
  const [toRelease] = (await suspended(1)) as [string]
  const toReleaseMany = await suspended(100)
  const root = hash()
  await mined(asIssuer.issueBatch(issuerId, root, 1_000, hash()))
  const toIssueAgain = hashes(100)
  await mined(asThief.issueMany(issuerId, toIssueAgain, expiries(100)))
  await mined(asManager.distrustFrom(issuerId, await thief.getAddress(), 1))
  // An account's first message also pays for a fresh slot, so the next ones are measured.
  await mined(forward(registry.interface.encodeFunctionData('issue', [issuerId, hash(), expiry])))

  const rows: Record<string, Row> = {
    deployment: {
      documents: 1,
      send: async () => registry.deploymentTransaction() as ContractTransactionResponse,
    },
    'issue one': {
      documents: 1,
      send: () => asIssuer.issue(issuerId, hash(), expiry),
    },
    'issue many, 500': {
      documents: 500,
      send: () => asIssuer.issueMany(issuerId, hashes(500), expiries(500)),
    },
    'Merkle root of 1,000': {
      documents: 1_000,
      send: () => asIssuer.issueBatch(issuerId, hash(), 1_000, hash()),
    },
    'issue again, 100': {
      documents: 100,
      send: () => asIssuer.issueMany(issuerId, toIssueAgain, expiries(100)),
    },
    'revoke one': {
      documents: 1,
      send: () => asIssuer.revoke(issuerId, toRevoke, 1),
    },
    'revoke many, 100': {
      documents: 100,
      send: () => asIssuer.revokeMany(issuerId, toRevokeMany, 1),
    },
    'release one': {
      documents: 1,
      send: () => asIssuer.release(issuerId, toRelease),
    },
    'release many, 100': {
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
      documents: 1,
      send: () =>
        forward(registry.interface.encodeFunctionData('issue', [issuerId, hash(), expiry])),
    },
    'forwarded revoke': {
      documents: 1,
      send: () =>
        forward(registry.interface.encodeFunctionData('revoke', [issuerId, toForward, 1])),
    },
  }

  const gas: Record<string, number> = {}
  for (const [name, { documents: count, send }] of Object.entries(rows)) {
    const receipt = await mined(send())
    gas[name] = Math.round(Number(receipt?.gasUsed) / count)
  }
  const size = (await ethers.provider.getCode(registry)).length / 2 - 1
  await connection.close()
  return { gas, size }
}

/** @returns `undefined` on a machine that cannot build geth. */
async function measureAmsterdam(): Promise<Measured | undefined> {
  const binary = await gethBinary()
  if (binary === undefined) return undefined
  const dir = mkdtempSync(join(tmpdir(), 'gas-'))
  const options = ['--dev.period', '0', '--rpc.gascap', '60000000']
  const geth = await startGethNode(binary, dir, options, true)
  try {
    for (const account of payers()) await geth.fund(account)
    return await measure(geth.url)
  } finally {
    await geth.kill()
    rmSync(dir, { recursive: true, force: true })
  }
}

await hre.tasks.getTask('build').run({ quiet: true, noTests: true })
const update = process.argv.includes('--update')
const snapshot: Record<Fork, Record<string, number>> = JSON.parse(
  readFileSync(snapshotFile, 'utf8'),
)
const { gas: osaka, size } = await measure()
const amsterdam = (await measureAmsterdam())?.gas ?? snapshot.amsterdam
const measured: Record<Fork, Record<string, number>> = { osaka, amsterdam }
const faults: string[] = []
console.log(`${''.padEnd(25)}      Osaka   Amsterdam`)
for (const [name, gas] of Object.entries(osaka)) {
  const [limit, later] = [LIMITS[name], amsterdam[name] ?? 0]
  if (limit !== undefined && gas > limit)
    faults.push(`${name}: ${gas} is over the limit of ${limit}`)
  for (const fork of ['osaka', 'amsterdam'] as const)
    if (!update && snapshot[fork][name] !== measured[fork][name])
      faults.push(
        `${name}: ${measured[fork][name]} on ${fork}, but the snapshot has ${snapshot[fork][name]}`,
      )
  const row = `| ${name} | ${gas.toLocaleString('en')} | ${later.toLocaleString('en')} |`
  if (!documentation.includes(row)) faults.push(`docs/contract.md does not say ${row}`)
  const atMost = limit === undefined ? '' : `   at most ${limit}`
  console.log(
    `${name.padEnd(25)} ${String(gas).padStart(10)}  ${String(later).padStart(10)}${atMost}`,
  )
}
console.log(`${'runtime code, bytes'.padEnd(25)} ${String(size).padStart(10)}   at most 24576`)
const said = `has ${size.toLocaleString('en')} bytes`
if (!documentation.includes(said))
  faults.push(`docs/contract.md does not say that the contract ${said}`)
if (update) writeFileSync(snapshotFile, `${JSON.stringify(measured, null, 2)}\n`)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
