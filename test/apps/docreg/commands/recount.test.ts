import { sha256 } from '@noble/hashes/sha2.js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Batch, buildBatch } from '#document/batch/batch.ts'
import type { Hex } from '#document/hex.ts'
import { formatRegistryId, parseRegistryId, type RegistryId } from '#document/registry-id.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { startBlockServer } from '../../../support/block-server.ts'
import { docreg } from '../../../support/docreg.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../../support/stack.ts'
import { transact } from '../../../support/transact.ts'

const REASON = { keyCompromise: 1, certificateHold: 6 }
const authorization = `Bearer ${API_KEY}`

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack?.stop())

const send = (name: string, ...args: unknown[]) =>
  transact(createFetchProvider(stack.chainUrl), stack.registry, stack.issuerKey, name, args)
const recount = (hash: string, registry: string = stack.registry, ipfs = stack.url) =>
  docreg([
    'recount',
    hash,
    '--json',
    '--rpc',
    stack.chainUrl,
    '--registry',
    registry,
    '--ipfs',
    ipfs,
  ])

type Issued = { publicId: string; documentHash: Hex; batchRoot: Hex }

async function issueBatch(count: number): Promise<Issued[]> {
  const lines = Array.from({ length: count }, (_, i) =>
    JSON.stringify({ ...ADA, subjectId: `${i}` }),
  )
  const response = await fetch(`${stack.url}/v1/batches`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-ndjson' },
    body: `${lines.join('\n')}\n`,
  })
  expect(response.status).toBe(201)
  const text = (await response.text()).trimEnd()
  return text.split('\n').map((line) => JSON.parse(line).data)
}

test('recounts a batch of 1,000 and its revocations and suspensions', async () => {
  const issued = await issueBatch(1000)
  const [first, last] = [issued[0], issued[999]] as [Issued, Issued]
  const root = first.batchRoot
  const verdict = await docreg(
    ['verify', '-', '--rpc', stack.chainUrl, '--registry', stack.registry, '--ipfs', stack.url],
    { stdin: last.publicId },
  )
  expect(verdict).toMatchObject({ code: 0 })
  expect(verdict.stdout).toMatch(/^VALID/)
  expect(verdict.stdout).toMatch(/subjectId +999/)

  const { body } = await stack.request(`/v1/batches/${root}`, { headers: { authorization } })
  const counted = await recount(body.data.manifest)
  expect(counted).toMatchObject({ code: 0 })
  const { manifest } = JSON.parse(counted.stdout)
  expect(JSON.parse(counted.stdout)).toMatchObject({
    complete: true,
    code: null,
    registry: stack.registry,
    issuerId: 1,
    root,
    size: 1000,
    revokedBlock: 0,
  })
  expect((await recount(manifest)).stdout).toBe(counted.stdout)
  const { registry: other } = parseRegistryId(
    stack.registry.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
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

  const statusOf = async ({ publicId }: Issued) => (await stack.verify(publicId)).body.data?.status
  await send('revokeInBatch', 1, root, [first.documentHash], REASON.keyCompromise)
  expect(await statusOf(first)).toBe('revoked')
  expect(await statusOf(last)).toBe('valid')
  await send('revokeBatch', 1, root, REASON.certificateHold)
  expect(await statusOf(last)).toBe('suspended')
  const { anchoredBlock, revokedBlock } = JSON.parse((await recount(manifest)).stdout)
  expect(revokedBlock).toBeGreaterThan(anchoredBlock)
  await send('releaseBatch', 1, root)
  expect(await statusOf(last)).toBe('valid')
  expect(await statusOf(first)).toBe('revoked')
})

test('distinguishes a batch never issued, of another size and of another registry', async () => {
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
    const { code, stdout } = await recount(manifest, stack.registry, blocks.url)
    return [code, JSON.parse(stdout).code]
  }
  const never = await publish(stack.registry, 1)
  const elsewhere = await publish(formatRegistryId(31_337, `0x${'00'.repeat(20)}`), 2)
  const larger = await publish(stack.registry, 3)
  await send('issueBatch', 1, larger.root, 2, larger.manifest)
  expect(await codeOf(never)).toEqual([1, 'not_issued'])
  expect(await codeOf(elsewhere)).toEqual([1, 'other_registry'])
  expect(await codeOf(larger)).toEqual([1, 'other_size'])
})
