import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromHex } from '#document/hex.ts'
import { blockCid } from '#kubo/group.ts'
import { docregGateway } from '../../support/docreg.ts'
import { type GatewayProcess, gatewayProcess } from '../../support/gateway-process.ts'
import { ADA, API_KEY } from '../../support/given.ts'
import { freePort } from '../../support/http.ts'
import { createKubo, type Kubo, kuboBinary } from '../../support/kubo.ts'
import { type RemoteIssuer, startRemoteIssuer } from '../../support/remote-issuer.ts'

// A gateway is lost with its data folder. Chain, Kubo, issuer secret and erasure list are left.

const binary = await kuboBinary()

let folder: string
let issuer: RemoteIssuer
let kubo: Kubo
let env: Record<string, string>
let gateway: GatewayProcess

beforeAll(async () => {
  if (!binary) return
  folder = mkdtempSync(join(tmpdir(), 'recover-kubo-'))
  issuer = await startRemoteIssuer(folder, ['--block-time', '1'], 1)
  mkdirSync(join(folder, 'erased'))
  kubo = await createKubo(binary)
  await kubo.start()
  env = {
    ...issuer.env,
    IPFS_API_URL: kubo.apiUrl,
    ERASURE_LIST: join(folder, 'erased', 'list.txt'),
  }
  gateway = await gatewayIn('lost')
})
afterAll(async () => {
  if (!binary) return
  await gateway?.kill()
  await kubo?.remove()
  await issuer?.anvil.kill()
  rmSync(folder, { recursive: true, force: true })
})

async function gatewayIn(name: string, more: Record<string, string> = {}): Promise<GatewayProcess> {
  const settings = { ISSUER_KEY: issuer.keys.issuer, DATA_DIR: join(folder, name) }
  const one = gatewayProcess({ ...env, ...settings, ...more, PORT: `${await freePort()}` })
  await one.start()
  return one
}

async function call(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') {
  const isBatch = path === '/batches'
  const type = isBatch ? 'application/x-ndjson' : 'application/json'
  const text = isBatch ? (body as string) : JSON.stringify(body)
  const response = await fetch(`${gateway.url}/v1${path}`, {
    method,
    ...(body !== undefined && { body: text }),
    headers: {
      authorization: `Bearer ${API_KEY}`,
      ...(body !== undefined && { 'content-type': type }),
    },
  })
  return { status: response.status, text: await response.text() }
}

const dataOf = ({ text }: { text: string }) => JSON.parse(text).data

/** @returns The documents as lists and single answers show them, by hash. */
async function shown() {
  const { documents } = dataOf(await call('/documents?limit=100'))
  const whole: unknown[] = []
  for (const { publicId, documentHash, status, batchRoot } of documents) {
    const { blockchainHash, subjectName } = dataOf(await call(`/documents/${publicId}`))
    whole.push({ documentHash, publicId, status, batchRoot, blockchainHash, subjectName })
  }
  return whole.map((one) => JSON.stringify(one)).sort()
}

async function isMirrored(): Promise<void> {
  const metrics = async () => {
    const headers = { authorization: `Bearer ${API_KEY}` }
    return (await fetch(`${gateway.url}/metrics`, { headers })).text()
  }
  await expect.poll(metrics).toMatch(/^document_registry_mirror_lag_seconds 0$/m)
}

test.skipIf(!binary)('brings every document back from Kubo, and none that was erased', async () => {
  const issued = []
  for (let i = 0; i < 12; i++)
    issued.push(dataOf(await call('/documents', { ...ADA, subjectId: `${i}` })))
  const [erased, revoked, suspended] = issued
  await call(`/documents/${revoked.publicId}/revoke`, {})
  await call(`/documents/${suspended.publicId}/suspend`, {})
  const lines = Array.from({ length: 5 }, (_, i) => JSON.stringify({ ...ADA, subjectId: `9${i}` }))
  const batch = await call('/batches', `${lines.join('\n')}\n`)
  expect(batch.status).toBe(201)
  const cid = blockCid(fromHex(erased.documentHash))
  await isMirrored()
  const sealed = await kubo.client.block.get(cid)
  const before = (await shown()).filter((one) => !one.includes(erased.documentHash))
  expect(before).toHaveLength(16)
  const removed = await call(`/documents/${erased.publicId}/payload`, undefined, 'DELETE')
  expect(removed.status).toBe(200)
  // As if the node were a backup of its own, from before.
  await kubo.client.block.put(sealed, { format: 'raw', pin: true })
  const batches = dataOf(await call('/batches'))
  await gateway.kill()
  rmSync(join(folder, 'lost'), { recursive: true })
  const DATA_DIR = join(folder, 'found')
  const { code, stderr } = await docregGateway(['recover', '--tenant', 'default'], {
    env: { ...env, DATA_DIR },
  })
  expect(stderr).toContain('recovered 16 of 17 documents, 1 batch\nerased    1\n')
  expect(code).toBe(0)
  expect(readFileSync(join(DATA_DIR, 'recovered.csv'), 'utf8')).not.toContain(erased.publicId)

  gateway = await gatewayIn('found')
  expect((await shown()).filter((one) => !one.includes(erased.documentHash))).toEqual(before)
  expect(dataOf(await call('/batches'))).toEqual(batches)
  const { status } = await call(`/documents/${erased.publicId}`)
  expect(status).toBe(410)

  // The recovered payloads are pinned.
  await isMirrored()
  const fsck = () => docregGateway(['fsck'], { env: { ...env, DATA_DIR } })
  expect((await fsck()).stdout).toContain('nothing differs')
  // What the node loses while its newest pin stays is found, and pinned on demand.
  await call('/documents', ADA)
  await isMirrored()
  const lost = String(blockCid(fromHex(revoked.documentHash)))
  for (const pin of await kubo.pins())
    if ((await kubo.ipfs('refs', pin)).includes(lost)) await kubo.ipfs('pin', 'rm', pin)
  await kubo.ipfs('block', 'rm', lost)
  const found = await fsck()
  expect(found.stdout).toMatch(new RegExp(`^payload_not_pinned +${revoked.documentHash}$`, 'm'))
  expect(found.code).toBe(1)
  await gateway.kill()
  gateway = await gatewayIn('found', { IPFS_API_URL: '' })
  await gateway.kill()
  gateway = await gatewayIn('found')
  await isMirrored()
  expect((await fsck()).stdout).toContain('nothing differs')
})
