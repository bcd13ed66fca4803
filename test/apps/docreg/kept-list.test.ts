import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Batch, buildBatch } from '#document/batch/batch.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { type AnvilNode, startAnvilNode } from '../../support/anvil.ts'
import { type BlockServer, startBlockServer } from '../../support/block-server.ts'
import { docreg } from '../../support/docreg.ts'
import { type FaultProxy, prunedHistory, startFaultProxy } from '../../support/fault-proxy.ts'
import { hashOf, issueBatchOfAnother, issueList } from '../../support/issued-list.ts'

// A stored list and the manifests of its batches, with a node that has pruned its events.

let dir: string
let anvil: AnvilNode
let node: FaultProxy
let blocks: BlockServer
let registry: RegistryId
let batch: Batch
let smaller: Batch
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kept-'))
  anvil = await startAnvilNode(dir)
  const provider = createFetchProvider(anvil.url, 30_000)
  registry = await issueList(provider)
  const batchOf = (size: number) =>
    buildBatch(
      { registry, issuerId: 2 },
      Array.from({ length: size }, (_, i) => ({
        documentHash: fromHex(hashOf(7, i)),
        validUntil: i,
      })),
    )
  batch = await batchOf(5)
  smaller = await batchOf(4)
  await issueBatchOfAnother(provider, registry, batch)
  await anvil.request('anvil_mine', '0x5')
  node = await startFaultProxy(anvil.url)
  blocks = await startBlockServer()
  for (const { manifest, manifestBlock, chunks } of [batch, smaller]) {
    blocks.set(fromHex(manifest), manifestBlock)
    const { chunks: hashes } = JSON.parse(new TextDecoder().decode(manifestBlock))
    for (const [i, chunk] of [...chunks()].entries()) blocks.set(fromHex(hashes[i]), chunk)
  }
})
afterEach(() => node.heal())
afterAll(async () => {
  await node?.close()
  await blocks?.close()
  await anvil?.kill()
  rmSync(dir, { recursive: true, force: true })
})

const list = (issuerId: number, ...args: string[]) =>
  docreg(['list', '--issuer', String(issuerId), '--registry', registry, '--rpc', node.url, ...args])
const recounted = (issuerId: number, ...args: string[]) =>
  list(issuerId, '--ipfs', blocks.url, ...args)
const fileOf = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}
const prune = async () => {
  const head = Number(await anvil.request<Hex>('eth_blockNumber'))
  node.fault = prunedHistory(node, head)
}

test('recounts every batch of a list from its manifest', async () => {
  const { code, stdout } = await recounted(2)
  expect(stdout).toMatch(
    new RegExp(
      `^batch ${batch.root} valid .*, 5 documents, manifest ${batch.manifest}, recounted$`,
      'm',
    ),
  )
  expect(stdout).toContain('COMPLETE: 2 of 2 documents, 1 of 1 batches\n')
  expect(stdout).toContain('recounted: 1 of 1 batches\n')
  expect(code).toBe(0)
})

test('proves a stored list complete with a node without old events', async () => {
  const kept = await recounted(2)
  const file = fileOf('kept', kept.stdout)
  await prune()
  const gone = await list(2)
  expect(gone.code).toBe(2)
  expect(gone.stderr).toContain('no longer has the logs of block 0')
  expect(gone.stderr).toContain('--hashes')
  expect(await recounted(2, '--hashes', file)).toEqual(kept)
  const proof = join(dir, 'proof.json')
  const proven = await list(2, '--hashes', file, '--proof', proof)
  expect(proven.stdout).toContain('COMPLETE: 2 of 2 documents, 1 of 1 batches')
})

test('reports an incomplete list, with advice, when a node drops events', async () => {
  node.fault = ({ method }) =>
    method === 'eth_getLogs'
      ? { kind: 'garbage', text: '{"jsonrpc":"2.0","id":1,"result":[]}' }
      : undefined
  const { code, stdout, stderr } = await list(2)
  expect(stdout).toContain('INCOMPLETE: 0 of 2 documents (2 missing)')
  expect(stderr).toContain('may have dropped old events')
  expect(code).toBe(1)
})

test.each<[string, () => string, string, number]>([
  ['no source has', () => `manifest ${hashOf(9, 9)}`, 'unreadable', 2],
  ['nobody knows', () => '', 'no_manifest', 2],
  ['lists another batch', () => `manifest ${smaller.manifest}`, 'other_root', 1],
  [
    'is not a manifest',
    () => {
      const hash = fromHex(hashOf(9, 8))
      blocks.set(hash, new Uint8Array())
      return `manifest ${hashOf(9, 8)}`
    },
    'unreadable',
    2,
  ],
])('a manifest that %s', async (_, manifest, expected, exit) => {
  const file = fileOf('other', `batch ${batch.root} x, ${manifest()}\n`)
  const { stdout, code } = await recounted(2, '--hashes', file, '--json')
  const { status, batches } = JSON.parse(stdout)
  expect(batches.listed).toMatchObject([
    { root: batch.root, recount: { complete: false, code: expected } },
  ])
  // This file does not have the documents that were issued alone.
  expect(status).toBe('incomplete')
  expect(code).toBe(1)
  const whole = await list(2)
  const documents = whole.stdout.match(/^document .*$/gm)?.join('\n')
  const all = fileOf('all', `${documents}\nbatch ${batch.root} x, ${manifest()}\n`)
  const judged = await recounted(2, '--hashes', all)
  expect(judged.stdout).toContain(`not recounted: ${expected}`)
  expect(judged.code).toBe(exit)
})

test('refuses a line with half a manifest', async () => {
  const file = fileOf('half', `batch ${batch.root}, manifest 0x12\n`)
  const { stdout, code } = await list(2, '--hashes', file, '--json')
  expect(JSON.parse(stdout).error.code).toBe('unreadable')
  expect(code).toBe(2)
})
