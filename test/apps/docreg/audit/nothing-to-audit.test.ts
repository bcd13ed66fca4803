import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { id, Wallet } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { slotsOfIssuer } from '#verifier/proof/slots.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { toWord } from '#verifier/readers/verification-codec.ts'
import { type AnvilNode, startAnvilNode } from '../../../support/anvil.ts'
import { docreg } from '../../../support/docreg.ts'
import { randomKey } from '../../../support/given.ts'
import { patient } from '../../../support/patient.ts'
import { type RpcProxy, startRpcProxy } from '../../../support/rpc-proxy.ts'
import { deployRegistry, transact } from '../../../support/transact.ts'

// An audit that proves nothing says so: an issuer, documents or a registry that are not there at
// the final block. Tests go along one chain, in their order; the last two blocks are not final.

const keys = { admin: randomKey(), manager: randomKey(), issuer: randomKey() }
const documents = [id('one'), id('two'), id('three')]

let dir: string
let anvil: AnvilNode
let proxy: RpcProxy
let registry: RegistryId
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'nothing-'))
  anvil = await startAnvilNode(dir, [], 1)
  for (const key of Object.values(keys))
    await anvil.request('anvil_setBalance', new Wallet(key).address, '0x56bc75e2d63100000')
  await anvil.request('anvil_mine', '0x10')
  registry = await deployRegistry(patient(createFetchProvider(anvil.url)), keys, {
    name: 'Testville',
    uri: '',
  })
  proxy = await startRpcProxy(anvil.url)
})
afterAll(async () => {
  await proxy?.close()
  await anvil?.kill()
  rmSync(dir, { recursive: true, force: true })
})

const send = (by: keyof typeof keys, name: string, ...args: unknown[]) =>
  transact(patient(createFetchProvider(anvil.url)), registry, keys[by], name, args)
const pass = () => anvil.request('anvil_mine', '0x4')
const head = async () => String(Number(await anvil.request<Hex>('eth_blockNumber')))
const run = (command: string, issuer: number, ...args: string[]) =>
  docreg([command, '--issuer', String(issuer), '--registry', registry, '--rpc', proxy.url, ...args])
const refusalOf = async (command: string, issuer: number, ...args: string[]) => {
  const { code, stdout } = await run(command, issuer, '--json', ...args)
  const { error } = JSON.parse(stdout)
  return { code, error: error.code as string, message: error.message as string }
}

test('reports a registry that is newer than the final block', async () => {
  // Of its deployment and what follows, the last two blocks are not final.
  const before = String(Number(await head()) - 3)
  for (const command of ['audit', 'export']) {
    const file = join(dir, `young-${command}`)
    const refused = await refusalOf(command, 1, '--as-of', before, '--out', file)
    expect(refused).toMatchObject({ code: 2, error: 'no_registry' })
    expect(refused.message).toContain(`the registry was deployed after block ${before}`)
  }
  const nowhere = registry.replace(/.{8}$/, '00000000')
  const { stderr } = await docreg([
    'audit',
    '--issuer',
    '1',
    '--registry',
    nowhere,
    '--rpc',
    proxy.url,
  ])
  expect(stderr).toBe('there is no account at the address\n')
  await pass()
})

test('reports an issuer that was never registered', async () => {
  const unknown = { code: 2, error: 'unknown_issuer' }
  const file = join(dir, 'unknown.ndjson')
  for (const [command, ...args] of [
    ['audit', '--out', join(dir, 'unknown')],
    ['export', '--out', file],
    ['list'],
    ['list', '--proof', join(dir, 'proof.json')],
  ] as const) {
    const refused = await refusalOf(command, 999, ...args)
    expect(refused, command).toMatchObject(unknown)
    expect(refused.message).toMatch(
      /^the registry has no issuer 999 at block \d+, nor at the newest block$/,
    )
  }
  expect(existsSync(file)).toBe(false)
  expect(existsSync(join(dir, 'unknown', 'report.html'))).toBe(false)
  expect(existsSync(join(dir, 'unknown', 'events-999.ndjson'))).toBe(false)

  const hash = await anvil.request<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false)
  const offline = await docreg([
    'list',
    '--issuer',
    '999',
    '--registry',
    registry,
    '--json',
    '--check',
    join(dir, 'proof.json'),
    '--block-hash',
    hash.hash,
  ])
  expect(offline.code).toBe(2)
  expect(JSON.parse(offline.stdout).error.code).toBe('unknown_issuer')
})

test('reports an issuer that was registered after the block', async () => {
  const before = await head()
  await send('admin', 'registerIssuer', new Wallet(keys.manager).address, 'Two', '')
  const newer = { code: 2, error: 'issuer_newer' }
  expect(await refusalOf('audit', 2)).toMatchObject(newer)
  expect(await refusalOf('export', 2, '--out', join(dir, 'two.ndjson'))).toMatchObject(newer)
  expect(await refusalOf('list', 2, '--as-of', before)).toMatchObject(newer)
  await pass()
  expect((await run('audit', 2)).code).toBe(0)
})

test('does not report an issuer without documents as complete', async () => {
  const out = join(dir, 'empty')
  const { code, stdout } = await run('audit', 1, '--out', out)
  expect(stdout).toMatch(/^NOTHING TO AUDIT: .* no document and no batch .* at this block\.\n/)
  expect(code).toBe(0)
  const html = readFileSync(join(out, 'report.html'), 'utf8')
  expect(html).toContain('<section class="verdict empty"><p class="word">Nothing to audit</p>')
  expect(html).not.toContain('Complete')
  for (const more of [[], ['--proof', join(dir, 'empty.json')]]) {
    const listed = await run('list', 1, ...more)
    expect(listed.stdout).toContain('NOTHING ISSUED: 0 of 0 documents')
    expect(listed.code).toBe(0)
  }
  const exported = await run('export', 1, '--out', join(dir, 'empty.ndjson'))
  expect(exported.stdout).toContain('NOTHING ISSUED: 0 of 0 documents')
  expect(exported.code).toBe(0)
})

test('counts and names what is newer than the final block', async () => {
  await send('issuer', 'issueMany', 1, documents, [0, 0, 0])
  await send('issuer', 'issueBatch', 1, id('root'), 5, id('manifest'))
  const later =
    'Not included, because the node says they are newer than this block: 3 documents and 1 batch.'
  const out = join(dir, 'newer')
  const { code, stdout } = await run('audit', 1, '--out', out)
  expect(code).toBe(2)
  expect(stdout).toMatch(/^NOTHING TO AUDIT: /)
  const html = readFileSync(join(out, 'report.html'), 'utf8')
  const [issuer] = JSON.parse(readFileSync(join(out, 'audit.json'), 'utf8')).issuers
  expect(issuer.counts).toMatchObject({ documents: 0, newerDocuments: 3, newerBatches: 1 })
  expect(issuer.findings).toContainEqual(
    expect.objectContaining({ code: 'documents_newer', count: 3, examples: documents }),
  )
  for (const text of [stdout, html]) expect(text).toContain(later)
  for (const key of [...documents, id('root')]) expect(html).toContain(`<code>${key}</code>`)

  const exported = await run('export', 1, '--out', join(dir, 'newer.ndjson'))
  expect(exported).toMatchObject({ code: 2, stderr: expect.stringContaining(later) })
  // A node that gives no events still counts.
  proxy.fail = (method) =>
    method === 'eth_getLogs' ? { code: 4444, message: 'pruned history unavailable' } : undefined
  const kept = await run('audit', 1, '--list', join(dir, 'newer.ndjson'))
  proxy.fail = () => undefined
  expect(kept.stdout).toContain(later)

  await pass()
  await send('issuer', 'issue', 1, id('four'), 0)
  const whole = await run('audit', 1)
  expect(whole.code).toBe(0)
  expect(whole.stdout).toMatch(/^COMPLETE, PROVEN: The list has 3 of 3 documents .* 1 document\.\n/)
})

test('reports an unknown issuer even if a node lies about the newest block', async () => {
  proxy.change = (method, result) =>
    method === 'eth_call' ? `${String(result).slice(0, 2 + 5 * 64)}${toWord(1).slice(2)}` : result
  expect(await refusalOf('audit', 999)).toMatchObject({ code: 2, error: 'issuer_newer' })
  proxy.change = (method, result) => (method === 'eth_call' ? '0x' : result)
  expect(await refusalOf('audit', 999)).toMatchObject({ code: 2, error: 'unknown_issuer' })
  // The proof of the one issuer, in the place of that of the other.
  proxy.change = (method, result, params) =>
    method === 'eth_getProof' ? proofOf(1, result, params) : result
  expect(await refusalOf('audit', 999)).toMatchObject({ code: 2, error: 'proof_invalid' })
  proxy.change = (_, result) => result
})

async function proofOf(issuerId: number, result: unknown, params: unknown[]): Promise<unknown> {
  const [address, , block] = params
  const other = await anvil.request<{ storageProof: object[] }>(
    'eth_getProof',
    address,
    [slotsOfIssuer(issuerId).state],
    block,
  )
  return { ...(result as object), storageProof: other.storageProof }
}
