import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sha256 } from '@noble/hashes/sha2.js'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { type Batch, buildBatch } from '#document/batch/batch.ts'
import type { Hex } from '#document/hex.ts'
import { formatRegistryId, parseRegistryId, type RegistryId } from '#document/registry-id.ts'
import { type Database, openDatabase } from '#store/sqlite/database.ts'
import { createSqliteHistory } from '#store/sqlite/history.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { startBlockServer } from '../support/block-server.ts'
import { COMPILE_CACHE } from '../support/compile-cache.ts'
import { docreg, type Run, run } from '../support/docreg.ts'
import { gatewayProcess } from '../support/gateway-process.ts'
import { freePort } from '../support/http.ts'
import { createKubo, kuboBinary } from '../support/kubo.ts'
import { ADA, randomKey, startStack } from '../support/stack.ts'
import { transact } from '../support/transact.ts'

// `npm run issue-batch` beside `npm start`, in one data folder and on one local chain.

const KEY = 'a-key-that-only-the-tests-have'
const COMMAND = fileURLToPath(new URL('../../operate/issue-batch.ts', import.meta.url))
const BATCH_ISSUED = registryAbi.getEvent('BatchIssued')?.topicHash
const REASON = { keyCompromise: 1, certificateHold: 6 }

const binary = await kuboBinary()

let folder: string
let env: Record<string, string>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  const [port, chainPort] = [await freePort(), await freePort()]
  env = {
    PORT: `${port}`,
    CHAIN_PORT: `${chainPort}`,
    DATA_DIR: join(folder, 'data'),
    API_KEY: KEY,
    ISSUER_KEY: randomKey(),
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = (name: string) => join(folder, name)
const textAt = (name: string) => readFileSync(at(name), 'utf8')

/** @returns The path of a file with these on its lines. */
function write(lines: readonly (object | string)[], name = 'documents.jsonl') {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  writeFileSync(at(name), `${texts.join('\n')}\n`)
  return at(name)
}

const people = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ ...ADA, subjectId: `${i}` }))

const issueBatch = (file: string, out = 'issued.jsonl', more: string[] = []) =>
  run(process.execPath, [COMMAND, file, '--out', at(out), ...more], { env })

type Line = { line: number; publicId: string; documentHash: Hex }
const issued = (name = 'issued.jsonl'): Line[] =>
  textAt(name)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const rootIn = ({ stderr }: Run) => /^root +(0x[0-9a-f]{64})$/m.exec(stderr)?.[1]

/** Starts it and kills it as soon as what it has told, or left, is so. */
async function killWhen(file: string, reached: (told: string) => boolean) {
  const args = [COMMAND, file, '--out', at('issued.jsonl')]
  const child = spawn(process.execPath, args, { env: { ...COMPILE_CACHE, ...env }, stdio: 'pipe' })
  const ended = once(child, 'exit')
  let told = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    told += text
  })
  while (child.exitCode === null && !reached(told)) await sleep(1)
  child.kill('SIGKILL')
  await ended
}

/** A running gateway, which the test's end stops. */
async function startGateway() {
  const gateway = gatewayProcess(env)
  onTestFinished(async () => void (await gateway.stop()))
  await gateway.start()
  const { registry } = parseRegistryId(/registry +(eip155:\S+)/.exec(gateway.output())?.[1] ?? '')
  const statusOf = async ({ publicId }: Line) => {
    const response = await fetch(`${gateway.url}/v1/verify?publicId=${publicId}`, {
      headers: { authorization: `Bearer ${KEY}` },
    })
    const { data } = (await response.json()) as { data: { status: string } }
    return data.status
  }
  return { ...gateway, registry, statusOf }
}

test('default: issues a thousand by one root, which verify, and are revoked and suspended alone and together', async () => {
  const done = await issueBatch(write(people(1000)))
  expect(done).toMatchObject({ code: 0, stdout: '' })
  expect(done.stderr).toMatch(/anchored +in block \d+ by 0x/)
  const root = rootIn(done)
  const lines = issued()
  expect(lines.map(({ line }) => line)).toEqual(people(1000).map((_, i) => i + 1))
  expect(new Set(lines.map(({ publicId }) => publicId)).size).toBe(1000)
  expect(statSync(at('issued.jsonl')).mode & 0o777).toBe(0o600)
  expect(existsSync(at('issued.jsonl.part'))).toBe(false)

  const { registry, statusOf, url } = await startGateway()
  const [first, last] = [lines[0], lines[999]] as [Line, Line]
  expect(await statusOf(first)).toBe('valid')
  expect(await statusOf(last)).toBe('valid')
  const chain = `http://127.0.0.1:${env.CHAIN_PORT}`
  const verdict = await docreg(
    ['verify', '-', '--rpc', chain, '--registry', registry, '--ipfs', url],
    { stdin: last.publicId },
  )
  expect(verdict).toMatchObject({ code: 0 })
  expect(verdict.stdout).toMatch(/^VALID/)
  expect(verdict.stdout).toMatch(/subjectId +999/)

  const manifest = /^manifest +(\S+)$/m.exec(done.stderr)?.[1] ?? ''
  const recount = (hash: string, of = registry, ipfs = url) =>
    docreg([...['recount', hash, '--json', '--rpc', chain], ...['--registry', of, '--ipfs', ipfs]])
  const counted = await recount(manifest)
  expect(counted).toMatchObject({ code: 0 })
  expect(JSON.parse(counted.stdout)).toMatchObject({
    ...{ complete: true, code: null, manifest, registry, issuerId: 1 },
    ...{ root, size: 1000, revokedBlock: 0 },
  })
  const { registry: other } = parseRegistryId(
    registry.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
  )
  const elsewhere = await recount(manifest, other)
  expect(elsewhere).toMatchObject({ code: 2 })
  expect(elsewhere.stdout).toContain('no_registry')
  const unknown = await recount(`0x${'ab'.repeat(32)}`)
  expect(unknown).toMatchObject({ code: 2 })
  expect(unknown.stdout).toContain('unreadable')
  const noManifest = await recount(last.documentHash)
  expect(noManifest).toMatchObject({ code: 1 })
  expect(noManifest.stdout).toContain('manifest_malformed')

  const provider = createFetchProvider(chain)
  const send = (name: string, ...args: unknown[]) =>
    transact(provider, registry, env.ISSUER_KEY as Hex, name, [1, root, ...args])
  await send('revokeInBatch', [first.documentHash], REASON.keyCompromise)
  expect(await statusOf(first)).toBe('revoked')
  expect(await statusOf(last)).toBe('valid')
  await send('revokeBatch', REASON.certificateHold)
  expect(await statusOf(last)).toBe('suspended')
  const { anchoredBlock, revokedBlock } = JSON.parse((await recount(manifest)).stdout)
  expect(revokedBlock).toBeGreaterThan(anchoredBlock)
  await send('releaseBatch')
  expect(await statusOf(last)).toBe('valid')
  expect(await statusOf(first)).toBe('revoked')
})

test('behavior: a repeat finds the root anchored and writes the same, byte for byte', async () => {
  const file = write(people(3))
  const first = await issueBatch(file)
  const again = await issueBatch(file, 'again.jsonl')
  expect([first.code, again.code]).toEqual([0, 0])
  expect(again.stderr).toMatch(/anchored +in block \d+, by an earlier run/)
  expect(textAt('again.jsonl')).toBe(textAt('issued.jsonl'))
})

test('behavior: the history has the transaction, also after a run that was killed before it wrote it', async () => {
  const file = write(people(3))
  const first = await issueBatch(file)
  const [, block, transactionHash] = /anchored +in block (\d+) by (\S+)/.exec(first.stderr) ?? []
  expect(transactionHash).toMatch(/^0x[0-9a-f]{64}$/)
  const withData = async <T>(work: (database: Database) => Promise<T> | T) => {
    const database = openDatabase(join(env.DATA_DIR ?? '', 'gateway.db'))
    return Promise.resolve(work(database)).finally(database.close)
  }
  const kept = () =>
    withData((database) =>
      createSqliteHistory(database).transactionOf(rootIn(first) as Hex, Number(block)),
    )
  expect(await kept()).toBe(transactionHash)
  await withData(({ sqlite }) => sqlite.exec('DELETE FROM batch_history'))
  expect(await issueBatch(file, 'again.jsonl')).toMatchObject({ code: 0 })
  expect(await kept()).toBe(transactionHash)
})

test('args: another --idempotency-key issues the same file a second time', async () => {
  const file = write(people(3))
  const first = await issueBatch(file)
  const more = ['--idempotency-key', 'second']
  const second = await issueBatch(file, 'second.jsonl', more)
  expect([first.code, second.code]).toEqual([0, 0])
  expect(rootIn(second)).not.toBe(rootIn(first))
  const hashes = [...issued(), ...issued('second.jsonl')].map(({ documentHash }) => documentHash)
  expect(new Set(hashes).size).toBe(6)
})

test('behavior: killed at any moment, it is run again and issues one batch', async () => {
  // More than are kept together.
  const COUNT = 4_200
  const file = write(people(COUNT))
  await killWhen(file, () => existsSync(join(env.DATA_DIR ?? '', 'gateway.db')))
  for (const moment of ['root', 'manifest', 'kept'])
    await killWhen(file, (told) => told.includes(moment))
  // The last kill may have come too late.
  const more = existsSync(at('issued.jsonl')) ? 'again.jsonl' : 'issued.jsonl'
  expect(await issueBatch(file, more)).toMatchObject({ code: 0 })
  const lines = issued(more)
  expect(lines).toHaveLength(COUNT)

  const { registry, statusOf } = await startGateway()
  expect(await statusOf(lines[1_234] as Line)).toBe('valid')
  const chain = `http://127.0.0.1:${env.CHAIN_PORT}`
  const { address } = parseRegistryId(registry)
  const logs = await createFetchProvider(chain).request({
    method: 'eth_getLogs',
    params: [{ address, fromBlock: '0x0', topics: [BATCH_ISSUED] }],
  })
  expect(logs).toHaveLength(1)
})

test('error: every bad line is named with its fields, and nothing is issued', async () => {
  const file = write([
    ADA,
    { ...ADA, subjectId: 'x', issuedAt: '2026-02-30' },
    '{"subjectName":"Ada","subjectName":"Bob"}',
    '',
    { ...ADA, subjectName: '\u3164' },
    `{"subjectName":"${'x'.repeat(70_000)}"}`,
    ADA,
    '[]',
  ])
  const { code, stderr } = await issueBatch(file)
  expect(code).toBe(1)
  const told = stderr.split('\n').flatMap((line) => {
    const [, number, field] = /^line (\d+): (\w+)/.exec(line) ?? []
    return number === undefined ? [] : [`${number} ${field}`]
  })
  expect(told).toEqual([
    '2 subjectId',
    '2 issuedAt',
    '3 an',
    '4 not',
    '5 subjectName',
    '6 must',
    '8 must',
  ])
  expect(stderr).toContain('nothing was issued')
  expect(existsSync(join(env.DATA_DIR as string, 'gateway.db'))).toBe(false)
  expect(existsSync(at('issued.jsonl'))).toBe(false)
})

test('error: is refused while a gateway runs with its data folder', async () => {
  await startGateway()
  const { code, stderr } = await issueBatch(write([ADA]))
  expect(code).toBe(1)
  expect(stderr).toContain('a gateway runs with')
  expect(stderr).not.toContain('    at ')
})

test('error: without a file, with --out of a file that is there, and an empty file', async () => {
  const alone = await run(process.execPath, [COMMAND], { env })
  expect(alone).toMatchObject({ code: 64 })
  expect(alone.stderr).toContain('npm run issue-batch')
  writeFileSync(at('issued.jsonl'), 'of another batch')
  expect(await issueBatch(write([ADA]))).toMatchObject({ code: 64 })
  expect(textAt('issued.jsonl')).toBe('of another batch')
  writeFileSync(at('empty'), '')
  expect(await issueBatch(at('empty'), 'none')).toMatchObject({ code: 1 })
})

test('error: a recount tells a batch that was never issued, one of another size and one of another registry', async () => {
  const { registry } = await startGateway()
  const chain = `http://127.0.0.1:${env.CHAIN_PORT}`
  const blocks = await startBlockServer()
  onTestFinished(() => blocks.close())
  const publish = async (of: RegistryId, seed: number) => {
    const documentHash = new Uint8Array(32).fill(seed)
    const entries = [{ documentHash, validUntil: 0 }]
    const batch = await buildBatch({ registry: of, issuerId: 1 }, entries)
    for (const bytes of [batch.manifestBlock, ...batch.chunks()]) blocks.set(sha256(bytes), bytes)
    return batch
  }
  const codeOf = async ({ manifest }: Batch) => {
    const { code, stdout } = await docreg([
      ...['recount', manifest, '--json', '--rpc', chain],
      ...['--registry', registry, '--ipfs', blocks.url],
    ])
    return [code, JSON.parse(stdout).code]
  }
  const never = await publish(registry, 1)
  const elsewhere = await publish(formatRegistryId(31_337, `0x${'00'.repeat(20)}`), 2)
  const larger = await publish(registry, 3)
  const args = [1, larger.root, 2, larger.manifest]
  const provider = createFetchProvider(chain)
  const key = env.ISSUER_KEY as Hex
  await transact(provider, registry, key, 'issueBatch', args)
  expect(await codeOf(never)).toEqual([1, 'not_issued'])
  expect(await codeOf(elsewhere)).toEqual([1, 'other_registry'])
  expect(await codeOf(larger)).toEqual([1, 'other_size'])
})

test.skipIf(binary === undefined)(
  'behavior: with RPC_URL and IPFS_API_URL, it issues beside a running gateway, from a folder of its own, onto Kubo',
  async () => {
    const stack = await startStack()
    onTestFinished(stack.stop)
    const kubo = await createKubo(binary as string)
    onTestFinished(kubo.remove)
    await kubo.start()
    const { address } = parseRegistryId(stack.registry)
    env = {
      ...{ RPC_URL: stack.chainUrl, REGISTRY_ADDRESS: address as string },
      ...{ ISSUER_ID: '1', ISSUER_KEY: stack.issuerKey },
      ...{ ISSUER_SECRET: randomKey(), IPFS_API_URL: kubo.apiUrl },
      DATA_DIR: join(folder, 'data'),
    }
    expect(await issueBatch(write(people(300)))).toMatchObject({ code: 0 })
    const verdict = await docreg(
      [
        ...['verify', '-', '--rpc', stack.chainUrl],
        ...['--registry', stack.registry, '--ipfs', kubo.gatewayUrl],
      ],
      { stdin: issued()[299]?.publicId ?? '' },
    )
    expect(verdict).toMatchObject({ code: 0 })
    expect(verdict.stdout).toMatch(/^VALID/)

    // A refusal of the registry is reported with its error before anything is sealed.
    env.ISSUER_KEY = stack.adminKey
    const refused = await issueBatch(write(people(2)), 'refused.jsonl')
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toContain('may not issue')
    expect(existsSync(at('refused.jsonl'))).toBe(false)
  },
)
