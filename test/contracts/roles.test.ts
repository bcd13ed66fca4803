import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { fittingParts, readHashes, type Trial } from '#cli/registry/hash-list.ts'
import { type Batch, buildBatch } from '#document/batch/batch.ts'
import { type Hex, toHex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { type LocalChain, startLocalChain } from '#local-chain/local-chain.ts'
import { ensureRegistry } from '#operate/local-registry.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { docreg, type Run } from '../support/docreg.ts'
import { randomKey } from '../support/given.ts'
import { sendTransaction, transact } from '../support/transact.ts'

// `docreg registry roles` as commands, on the local chain of `npm start`: what a command prints
// without a key is signed and sent by the account that it names, as a wallet would do it.

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
  const command = ['registry', 'roles', ...args, '--registry', address]
  // biome-ignore lint/style/noProcessEnv: as an operator's shell hands it on
  const { PATH = '', HOME = '' } = process.env
  return docreg([...command, '--network', 'custom'], {
    cwd: root,
    env: {
      PATH,
      HOME,
      NO_COLOR: '1',
      CUSTOM_RPC_URL: chain.url,
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

describe('docreg registry roles on the local chain', () => {
  test('names --registry where no deployment is recorded', {
    timeout: TIMEOUT,
  }, async () => {
    // biome-ignore lint/style/noProcessEnv: as an operator's shell hands it on
    const { PATH = '', HOME = '' } = process.env
    const { code, stderr } = await docreg(
      ['registry', 'roles', 'close-issuer', '1', '--network', 'custom'],
      { cwd: root, env: { PATH, HOME, CUSTOM_RPC_URL: chain.url } },
    )
    expect(code).toBe(2)
    expect(stderr).toContain('name the registry with --registry')
  })

  test('suspends, releases and revokes a document', {
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

  test('suspends, releases and revokes a whole batch, and one document of it', {
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

  test('revokes and releases documents of a file, skipping those already done', {
    timeout: TIMEOUT,
  }, async () => {
    const hashes = Array.from({ length: 1_100 }, (_, i) => documentHash(`of the file ${i}`))
    for (const part of [hashes.slice(0, 550), hashes.slice(550)]) {
      const args = [1, part, part.map(() => 0)]
      await transact(provider, registry, issuerKey, 'issueMany', args)
    }
    await transact(provider, registry, issuerKey, 'revoke', [1, hashes[1], REASON.keyCompromise])
    const file = join(folder, 'hashes.txt')
    // As an editor on Windows leaves it, with one line twice.
    writeFileSync(file, [...hashes, hashes[0]].join('\r\n'))
    const statusOf = (i: number) => view('statusOf', 1, hashes[i])
    const suspend = ['revoke', '1', `@${file}`, REASON.certificateHold]

    const printed = await roles([...suspend, '--as', issuer])
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(printed.stdout.match(/^call .*/gm)).toEqual([
      `call   revokeMany(1, 1000 hashes from ${hashes[0]} on, 6)`,
      `call   revokeMany(1, 100 hashes from ${hashes[1000]} on, 6)`,
    ])
    expect(printed.stdout).toContain('All 2 calls would succeed. Nothing was sent')
    expect(await statusOf(0)).toBe(VALID)

    const told = await roles([...suspend, '--as', issuer, '--json'])
    expect(JSON.parse(told.stdout)).toMatchObject({
      sent: false,
      calls: [{ from: issuer, value: '0', gas: expect.stringMatching(/^\d+$/) }, {}],
    })

    const sent = await roles([...suspend, '--send'], issuerKey)
    expect(sent.stdout).toContain('999 of 1000 changed.')
    expect(sent.stdout).toContain('100 of 100 changed.')
    expect(await Promise.all([0, 1, 2, 1_099].map(statusOf))).toEqual([
      SUSPENDED,
      REVOKED,
      SUSPENDED,
      SUSPENDED,
    ])
    expect((await roles([...suspend, '--send'], issuerKey)).stdout).toContain('0 of 1000 changed.')
    const release = ['release', '1', `@${file}`, '--send']
    expect((await roles(release, issuerKey)).stdout).toContain('999 of 1000 changed.')
    expect(await Promise.all([0, 1, 1_099].map(statusOf))).toEqual([VALID, REVOKED, VALID])

    // New slots for a thousand would need more gas than a transaction may use.
    writeFileSync(file, hashes.map((_, i) => documentHash(`in the batch ${i}`)).join('\n'))
    const inBatch = ['revoke-in-batch', '1', batch.root, `@${file}`, REASON.keyCompromise]
    const { stdout } = await roles([...inBatch, '--as', issuer])
    const gas = [...stdout.matchAll(/^gas +(\d+)/gm)].map(([, amount]) => Number(amount))
    expect(stdout.match(/\d+ hashes/g)).toEqual(['500 hashes', '500 hashes', '100 hashes'])
    for (const amount of gas) expect(amount).toBeLessThan(16_777_216)
  })

  test('refuses a file in which a line is not a hash, before it asks the chain', {
    timeout: TIMEOUT,
  }, async () => {
    const file = join(folder, 'broken.txt')
    writeFileSync(file, `${alone}\n${alone.slice(0, -1)}\n`)
    for (const args of [
      ['revoke', '1', `@${file}`, REASON.keyCompromise],
      ['release', '1', `@${file}`],
    ])
      expect(await roles([...args, '--as', issuer])).toMatchObject({
        code: 65,
        stderr: expect.stringContaining('line 2 of'),
      })
  })

  test('sets permissions, by the printed call and with --send', {
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

describe('lists of hashes', () => {
  const [one, two] = [documentHash('one'), documentHash('two')]
  const limits = { length: 1_000, blockGas: 30_000_000n }
  const many = Array.from({ length: 10 }, (_, i) => documentHash(`${i}`))
  const partsOf = async (trial: (part: readonly string[]) => Trial, more = {}) => {
    const lengths: number[] = []
    const tried = async (part: readonly string[]) => trial(part)
    for await (const { part } of fittingParts(many, tried, { ...limits, ...more }))
      lengths.push(part.length)
    return lengths
  }

  test('reads hashes with commas, each once, in lower case', () => {
    expect(readHashes(`${one},${two.toUpperCase().replace('0X', '0x')},${one}`)).toEqual([one, two])
    for (const bad of ['', ',', '0x12', `${one};${two}`]) expect(() => readHashes(bad)).toThrow()
    expect(() => readHashes('@/no/such/file')).toThrow('ENOENT')
  })

  test('splits by the limit of the registry, and by the gas of a block', async () => {
    const cheap = () => ({ gas: 1n })
    expect(await partsOf(cheap)).toEqual([10])
    expect(await partsOf(cheap, { length: 4 })).toEqual([4, 4, 2])
    const each = (part: readonly string[]) => ({ gas: BigInt(part.length) * 1_000_000n })
    // 90 % of it, for the wallet that sends it.
    expect(await partsOf(each, { blockGas: 3_400_000n })).toEqual([3, 3, 3, 1])
    expect(await partsOf((part) => ({ gas: BigInt(part.length) * 4_000_000n }))).toEqual([
      3, 3, 3, 1,
    ])
  })

  test('splits what runs out of gas, and stops at what the registry refuses', async () => {
    const failure = 'out of gas'
    const runsOut = (part: readonly string[]) =>
      part.length > 5 ? { failure, isReverted: false } : { gas: 1n }
    expect(await partsOf(runsOut)).toEqual([5, 5])
    expect(await partsOf(() => ({ failure, isReverted: true }))).toEqual([10])
    expect(await partsOf(() => ({ failure, isReverted: false }))).toEqual([1])
  })
})
