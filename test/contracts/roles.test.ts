import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Batch, buildBatch } from '../../document/batch/batch.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import { registryAbi } from '../../gateway/registry-abi.ts'
import { type LocalChain, startLocalChain } from '../../local-chain/local-chain.ts'
import { ensureRegistry } from '../../scripts/local-registry.ts'
import type { Eip1193Provider } from '../../verifier/ports.ts'
import { parseRegistry } from '../../verifier/readers/chain.ts'
import { createFetchProvider } from '../../verifier/readers/json-rpc.ts'
import { type Run, run } from '../support/docreg.ts'
import { randomKey } from '../support/stack.ts'
import { sendTransaction, transact } from '../support/transact.ts'

// `npm run roles` as commands, on the local chain of `npm start`: what a command prints without a
// key is signed and sent by the account that it names, as a wallet would do it.

const root = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT = 120_000
const [VALID, SUSPENDED, REVOKED] = [1n, 3n, 4n]
const REASON = { keyCompromise: '1', certificateHold: '6' }
const documentHash = (name: string): Hex => toHex(sha256(utf8ToBytes(name)))
const alone = documentHash('alone')
const [first, second] = [documentHash('first'), documentHash('second')]

let folder: string
let chain: LocalChain
let provider: Eip1193Provider
let registry: RegistryId
let batch: Batch
const managerKey = randomKey()
const issuerKey = randomKey()
const manager = new Wallet(managerKey).address
const issuer = new Wallet(issuerKey).address

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  chain = await startLocalChain({
    dataDir: join(folder, 'chain'),
    port: 0,
    host: '127.0.0.1',
    log: () => {},
    fund: [manager, issuer],
  })
  provider = createFetchProvider(chain.url)
  registry = await ensureRegistry(provider, managerKey, {
    account: issuer,
    name: 'Registry office of Testville',
    uri: 'https://testville.example',
  })
  const entries = [first, second].map((hash) => ({
    documentHash: Buffer.from(hash.slice(2), 'hex'),
    validUntil: 0,
  }))
  batch = await buildBatch({ registry, issuerId: 1 }, entries)
  const { root, size, manifest } = batch
  await transact(provider, registry, issuerKey, 'issue', [1, alone, 0])
  const args = [1, root, size, manifest]
  await transact(provider, registry, issuerKey, 'issueBatch', args)
})
afterAll(async () => {
  await chain?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** @param key Of the sending account; absent if the command must work without one. */
function roles(args: readonly string[], key?: Hex): Promise<Run> {
  const { address } = parseRegistry(registry)
  const command = ['scripts/roles.ts', ...args, '--registry', address]
  // biome-ignore lint/style/noProcessEnv: as an operator's shell hands it on
  const { PATH = '', HOME = '' } = process.env
  return run(process.execPath, [...command, '--network', 'custom'], {
    cwd: root,
    env: {
      ...{ PATH, HOME, NO_COLOR: '1', CUSTOM_RPC_URL: chain.url },
      ...(key && { DEPLOYER_KEY: key }),
    },
  })
}

/** Lets a command print its call without a key, and sends that call with the account's key. */
async function printAndSend(key: Hex, ...args: string[]): Promise<void> {
  const from = new Wallet(key).address
  const { code, stdout, stderr } = await roles([...args, '--as', from])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('It would succeed. Nothing was sent')
  const printed = (name: string) => new RegExp(`^${name} +(\\S+)`, 'm').exec(stdout)?.[1] ?? ''
  expect(printed('from')).toBe(from)
  expect(printed('to').toLowerCase()).toBe(parseRegistry(registry).address)
  expect(printed('value')).toBe('0')
  const call = { to: printed('to') as Hex, data: printed('data') }
  await sendTransaction(provider, key, call)
}

async function view(name: string, ...args: unknown[]) {
  const { address: to } = parseRegistry(registry)
  const call = { to, data: registryAbi.encodeFunctionData(name, args) }
  const result = await provider.request({
    method: 'eth_call',
    params: [call, 'latest'],
  })
  return registryAbi.decodeFunctionResult(name, String(result))[0]
}

const statusAlone = () => view('statusOf', 1, alone)

function statusInBatch(hash: Hex) {
  const block = batch.blockOf(Buffer.from(hash.slice(2), 'hex'))
  const proof = block?.proof ?? new Uint8Array()
  const siblings = Array.from({ length: proof.length / 32 }, (_, i) =>
    proof.subarray(32 * i, 32 * i + 32),
  )
  return view('statusInBatch', 1, batch.root, hash, 0, siblings)
}

const statusesInBatch = () => Promise.all([first, second].map(statusInBatch))

describe('npm run roles on the local chain', () => {
  test('error: names --registry where no deployment is recorded', {
    timeout: TIMEOUT,
  }, async () => {
    // biome-ignore lint/style/noProcessEnv: as an operator's shell hands it on
    const { PATH = '', HOME = '' } = process.env
    const { code, stderr } = await run(
      'npm',
      ['run', '--silent', 'roles', '--', 'close-issuer', '1', '--network', 'custom'],
      { cwd: root, env: { PATH, HOME, CUSTOM_RPC_URL: chain.url } },
    )
    expect(code).toBe(1)
    expect(stderr).toContain('name the registry by --registry')
  })

  test('behavior: suspends, releases and revokes a document', {
    timeout: TIMEOUT,
  }, async () => {
    expect(await statusAlone()).toBe(VALID)
    await printAndSend(issuerKey, 'revoke', '1', alone, REASON.certificateHold)
    expect(await statusAlone()).toBe(SUSPENDED)
    await printAndSend(issuerKey, 'release', '1', alone)
    expect(await statusAlone()).toBe(VALID)
    await printAndSend(issuerKey, 'revoke', '1', alone, REASON.keyCompromise)
    expect(await statusAlone()).toBe(REVOKED)
    expect(await roles(['release', '1', alone, '--as', issuer])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('It would fail'),
    })
  })

  test('behavior: suspends, releases and revokes a whole batch, and one document of it', {
    timeout: TIMEOUT,
  }, async () => {
    const { root } = batch
    const { certificateHold, keyCompromise } = REASON
    expect(await statusesInBatch()).toEqual([VALID, VALID])
    await printAndSend(issuerKey, 'revoke-batch', '1', root, certificateHold)
    expect(await statusesInBatch()).toEqual([SUSPENDED, SUSPENDED])
    await printAndSend(issuerKey, 'release-batch', '1', root)
    expect(await statusesInBatch()).toEqual([VALID, VALID])

    const one = ['1', root, first] as const
    await printAndSend(issuerKey, 'revoke-in-batch', ...one, certificateHold)
    expect(await statusesInBatch()).toEqual([SUSPENDED, VALID])
    await printAndSend(issuerKey, 'release-in-batch', ...one)
    expect(await statusesInBatch()).toEqual([VALID, VALID])
    await printAndSend(issuerKey, 'revoke-in-batch', ...one, keyCompromise)
    expect(await statusesInBatch()).toEqual([REVOKED, VALID])

    await printAndSend(issuerKey, 'revoke-batch', '1', root, keyCompromise)
    expect(await statusesInBatch()).toEqual([REVOKED, REVOKED])
  })

  test('behavior: sets permissions, by the printed call and with --send', {
    timeout: TIMEOUT,
  }, async () => {
    const permissions = async () => (await view('accountOf', 1, issuer)).permissions
    const set = ['set-permissions', '1', issuer]
    expect(await permissions()).toBe(3n)
    await printAndSend(managerKey, ...set, 'issue')
    expect(await permissions()).toBe(1n)
    const revoke = ['revoke', '1', second, REASON.keyCompromise]
    expect(await roles([...revoke, '--as', issuer])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`MissingPermissions(1, ${issuer}, 2)`),
    })
    const sent = await roles([...set, 'issue,revoke', '--send'], managerKey)
    expect(sent).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Done in block'),
    })
    expect(await permissions()).toBe(3n)
  })
})
