import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { type AnvilNode, startAnvilNode } from '../../../support/anvil.ts'
import { docreg } from '../../../support/docreg.ts'
import { documents, hashOf, issueList, ofAnother, roots } from '../../../support/issued-list.ts'

let dir: string
let anvil: AnvilNode
let registry: RegistryId
let blockHash: Hex
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-'))
  anvil = await startAnvilNode(dir)
  const provider = createFetchProvider(anvil.url, 30_000)
  registry = await issueList(provider)
  const block = await anvil.request<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false)
  blockHash = block.hash
})
afterAll(async () => {
  await anvil?.kill()
  rmSync(dir, { recursive: true, force: true })
})

const ofIssuer = (...args: string[]) =>
  docreg(['list', '--issuer', '1', '--registry', registry, ...args])
const list = (...args: string[]) => ofIssuer('--rpc', anvil.url, ...args)
const fileOf = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}

test('lists every document and batch, and reports that the list is complete', async () => {
  const { code, stdout, stderr } = await list()
  expect(stdout.match(/^document 0x\S+ /gm)).toHaveLength(30)
  expect(stdout).toContain(`document ${documents[3]} revoked block `)
  expect(stdout).toContain(`document ${documents[4]} suspended block `)
  expect(stdout).toMatch(
    new RegExp(`^batch ${roots[0]} valid block .*, 7 documents, manifest ${hashOf(5, 0)}$`, 'm'),
  )
  expect(stdout).toMatch(
    /^COMPLETE: 30 of 30 documents, 2 of 2 batches\nissuer 1, as of block \d+, /m,
  )
  expect(stderr).toBe(
    'Warning: Test network, or one not known to carry real documents\nNo code hash of the registry is known: the code at its address was not checked\n',
  )
  expect(code).toBe(0)
})

test('writes a proof and checks it offline', async () => {
  const file = join(dir, 'proof.json')
  const made = await list('--proof', file)
  expect(made.code).toBe(0)
  expect(made.stdout).toContain(blockHash)
  const checked = await ofIssuer('--check', file, '--block-hash', blockHash)
  // Only events have manifests.
  const stdout = made.stdout.replaceAll(/, manifest \S+/g, '')
  expect(checked).toEqual({ ...made, stdout })
})

test('accepts --json, --from and --as-of', async () => {
  const { code, stdout } = await list('--json', '--from', '17')
  expect(JSON.parse(stdout)).toMatchObject({
    status: 'complete',
    issuerId: 1,
    documents: { count: 30, notIssued: [] },
    network: 'test',
  })
  expect(code).toBe(0)
  const { blockNumber } = JSON.parse(stdout).asOf
  const early = await list('--as-of', String(blockNumber - 7))
  expect(early.stdout).toContain('COMPLETE: 20 of 20 documents, 0 of 0 batches')
})

test('--hashes accepts what the command prints', async () => {
  const { stdout } = await list()
  const again = await list('--hashes', fileOf('hashes', stdout))
  expect(again).toMatchObject({ code: 0, stdout })
})

test('reports missing hashes, and hashes of another issuer', async () => {
  const lines = [...documents.slice(1), ofAnother].map((h) => `document ${h}`)
  const file = fileOf('short', lines.join('\n'))
  for (const proof of [[], ['--proof', join(dir, 'short.json')]]) {
    const { code, stdout } = await list('--hashes', file, ...proof)
    expect(code).toBe(1)
    expect(stdout).toContain(`not issued: document ${ofAnother}`)
    expect(stdout).toContain(
      'INCOMPLETE: 29 of 30 documents (1 missing), 0 of 2 batches (2 missing)',
    )
  }
})

test('reports missing events before --from', async () => {
  const head = await anvil.request<Hex>('eth_blockNumber')
  const { code, stdout } = await list('--from', String(Number(head) - 6))
  expect(stdout).toContain('INCOMPLETE: 10 of 30 documents (20 missing)')
  expect(code).toBe(1)
})

test('rejects a proof that is changed, of another issuer, or untrusted', async () => {
  const file = join(dir, 'good.json')
  await list('--proof', file)
  const proof = JSON.parse(readFileSync(file, 'utf8'))
  const changed = (change: object) =>
    fileOf('changed.json', JSON.stringify({ ...proof, ...change }))
  const check = async (path: string, ...args: string[]) => {
    const trusted = args.length > 0 ? args : ['--block-hash', blockHash]
    const run = await ofIssuer('--check', path, '--json', ...trusted)
    expect(run.code).toBe(2)
    const { error, code } = JSON.parse(run.stdout)
    return code ?? error.code
  }
  const nodes = proof.nodes.slice(1)
  expect(await check(changed({ nodes }))).toBe('proof_invalid')
  const documentHashes = [documents[0], ...documents]
  expect(await check(changed({ documentHashes }))).toBe('completeness_malformed')
  expect(await check(file, '--block-hash', hashOf(9, 9))).toBe('block_untrusted')
  expect(await check(file, '--block-hash', blockHash, '--issuer', '2')).toBe('other_issuer')
  expect(await check(join(dir, 'absent'))).toBe('unreadable')
})

test('reports a node that is down and a folder that does not exist', async () => {
  const down = await ofIssuer('--rpc', 'http://127.0.0.1:1', '--json')
  expect(JSON.parse(down.stdout).error.code).toBe('rpc_unreachable')
  const out = join(dir, 'no', 'such', 'folder')
  const unwritable = await list('--proof', out, '--json')
  expect(JSON.parse(unwritable.stdout).error.code).toBe('unwritable')
  expect([down.code, unwritable.code]).toEqual([2, 2])
})

test('reports a node without old logs as pruned', async () => {
  const node = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const { id, method } = JSON.parse(body.toString())
    const error = { code: 4444, message: 'pruned history unavailable' }
    const answer = method === 'eth_getLogs' ? { error } : { result: '0x10' }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  }).listen(0, '127.0.0.1')
  await once(node, 'listening')
  const { port } = node.address() as AddressInfo
  const { code, stdout } = await ofIssuer('--rpc', `http://127.0.0.1:${port}`, '--json')
  node.close()
  expect(JSON.parse(stdout).error.code).toBe('pruned')
  expect(code).toBe(2)
})

test('refuses a file with too many hashes, or with a line without one', async () => {
  const hash = (i: number) => `0x${i.toString(16).padStart(64, '0')}`
  const lines = Array.from({ length: 100_001 }, (_, i) => `batch ${hash(i)}`)
  for (const [text, expected] of [
    [lines.join('\n'), 'too_many'],
    ['document 0x12', 'unreadable'],
  ] as const) {
    const { code, stdout } = await list('--hashes', fileOf('bad', text), '--json')
    expect(JSON.parse(stdout).error.code).toBe(expected)
    expect(code).toBe(2)
  }
})

test.each([
  [[]],
  [['--issuer', '0', '--rpc', 'http://127.0.0.1:1']],
  [['--check', 'x']],
  [['--check', 'x', '--block-hash', hashOf(1, 1), '--from', '1']],
  [['--rpc', 'http://127.0.0.1:1', '--block-hash', hashOf(1, 1)]],
  [['--check', 'x', '--block-hash', '0x12']],
])('refuses the usage %j', async (args) => {
  expect((await ofIssuer(...args)).code).toBe(64)
})
