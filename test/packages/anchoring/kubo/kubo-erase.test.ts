import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as dagCbor from '@ipld/dag-cbor'
import { CID } from 'multiformats/cid'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { blockCid } from '#kubo/group.ts'
import { createKuboNode } from '#kubo/node.ts'
import { createKuboStore } from '#kubo/store.ts'
import { type GatewayProcess, gatewayProcess } from '../../../support/gateway-process.ts'
import { freePort } from '../../../support/http.ts'
import { createKubo, type Kubo, kuboBinary } from '../../../support/kubo.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../../support/stack.ts'

const binary = await kuboBinary()
const TIMEOUT = 5_000
const WITH_KEY = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }

const randomBlock = () => {
  const bytes = new Uint8Array(randomBytes(300))
  return { hash: new Uint8Array(createHash('sha256').update(bytes).digest()), bytes }
}

describe.skipIf(binary === undefined)('erasing on Kubo', () => {
  let kubo: Kubo
  beforeAll(async () => {
    kubo = await createKubo(binary ?? '')
    await kubo.start()
  })
  afterAll(() => kubo.remove())
  afterEach(() => kubo.signal('SIGCONT'))

  const open = () => createKuboStore(createKuboNode(kubo.apiUrl, TIMEOUT, false), () => {})
  /** Whether the node's datastore has the block, pinned or not. */
  const holds = async (hash: Uint8Array) => {
    const listed = (await kubo.ipfs('refs', 'local')).split('\n')
    const digest = toHex(hash)
    // The datastore knows blocks by their hash, and lists them under any codec.
    return listed.some((cid) => toHex(CID.parse(cid).multihash.digest) === digest)
  }
  const collectGarbage = async () => {
    for await (const { err } of kubo.client.repo.gc()) if (err) throw err
  }

  test('deletes the block at once, however often and by whom it was put', async () => {
    const [ours, theirs] = [open(), open()]
    const block = randomBlock()
    const others = Array.from({ length: 20 }, randomBlock)
    await ours.pin([block, ...others])
    await ours.pin([block])
    await theirs.pin([block, ...others])
    // Another process, which does not remember any group.
    const store = open()
    expect(await store.erase(block.hash)).toBe(true)
    expect(await holds(block.hash)).toBe(false)
    expect(await store.get(block.hash)).toEqual({ status: 'missing' })
    await collectGarbage()
    for (const { hash } of others) expect(await holds(hash)).toBe(true)
    expect(await store.erase(block.hash)).toBe(false)
  })

  test('deletes a block with a pin of its own', async () => {
    const store = open()
    const { hash, bytes } = randomBlock()
    await store.pin([{ hash, bytes }])
    await kubo.client.pin.add(blockCid(hash), { recursive: false })
    await store.erase(hash)
    expect(await holds(hash)).toBe(false)
  })

  test('does not delete what another program has linked to and pinned', async () => {
    const store = open()
    const { hash, bytes } = randomBlock()
    await store.pin([{ hash, bytes }])
    const foreign = await kubo.client.block.put(dagCbor.encode({ link: blockCid(hash) }), {
      format: 'dag-cbor',
    })
    await kubo.client.pin.add(foreign)
    await expect(store.erase(hash)).rejects.toMatchObject({ code: 'store_unavailable' })
    await kubo.client.pin.rm(foreign)
    expect(await store.erase(hash)).toBe(true)
    expect(await holds(hash)).toBe(false)
  })

  describe('a gateway', () => {
    let stack: Stack
    beforeAll(async () => {
      stack = await startStack({
        IPFS_API_URL: kubo.apiUrl,
        IPFS_TIMEOUT_SECONDS: '1',
        WAIT_SECONDS: '5',
      })
    })
    afterAll(() => stack.stop())

    const erase = (publicId: string) =>
      stack.request(`/v1/documents/${publicId}/payload`, { method: 'DELETE', headers: WITH_KEY })

    test('neither node nor database has the document afterwards', async () => {
      const { body } = await stack.issue(ADA, { prefer: 'respond-async' })
      const { publicId } = body.data
      const { hash } = decodePublicId(publicId)
      await expect.poll(() => holds(hash)).toBe(true)
      const block = await open().get(hash)
      const sealed = Buffer.from(block.status === 'found' ? block.bytes : [])
      const files = ['gateway.db', 'gateway.db-wal'].map((name) => join(stack.dataDir, name))
      expect(files.some((path) => readFileSync(path).includes(sealed))).toBe(true)

      const receipt = await erase(publicId)
      expect([receipt.status, receipt.body.data.removed]).toEqual([200, ['database', 'kubo']])
      expect(await holds(hash)).toBe(false)
      expect(files.some((path) => readFileSync(path).includes(sealed))).toBe(false)
    })

    test('answers 202 while the node is down, and finishes later', async () => {
      const { publicId } = (await stack.issue(ADA)).body.data
      const { hash } = decodePublicId(publicId)
      await expect.poll(() => holds(hash)).toBe(true)
      await kubo.signal('SIGSTOP')
      const pending = await erase(publicId)
      expect([pending.status, pending.body.data]).toMatchObject([
        202,
        { status: 'pending', erasedAt: null },
      ])
      const path = `/v1/documents/${publicId}`
      expect((await stack.request(path, { headers: WITH_KEY })).status).toBe(410)
      await kubo.signal('SIGCONT')
      await expect.poll(async () => (await erase(publicId)).status).toBe(200)
      expect(await holds(hash)).toBe(false)
    })
  })

  describe('a kill', () => {
    let folder: string
    let gateway: GatewayProcess
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
      gateway = gatewayProcess({
        DATA_DIR: join(folder, 'data'),
        PORT: String(await freePort()),
        CHAIN_PORT: String(await freePort()),
        API_KEY,
        IPFS_API_URL: kubo.apiUrl,
        IPFS_TIMEOUT_SECONDS: '1',
        WAIT_SECONDS: '1',
        LOG_LEVEL: 'error',
      })
      await gateway.start()
    })
    afterAll(async () => {
      await gateway.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    test('the next start finishes a group that was being pinned', async () => {
      await kubo.signal('SIGSTOP')
      const issued = await fetch(`${gateway.url}/v1/documents`, {
        method: 'POST',
        headers: WITH_KEY,
        body: JSON.stringify(ADA),
      })
      expect(issued.status).toBe(201)
      const { data } = (await issued.json()) as { data: { publicId: string } }
      const { hash } = decodePublicId(data.publicId)
      // The mirror has begun, and waits for the node.
      await sleep(1_500)
      await gateway.kill()
      await kubo.signal('SIGCONT')
      await gateway.start()
      await expect.poll(() => holds(hash)).toBe(true)
      const path = `${gateway.url}/v1/documents/${data.publicId}/payload`
      const erase = () => fetch(path, { method: 'DELETE', headers: WITH_KEY })
      await expect.poll(async () => (await erase()).status).toBe(200)
      expect(await holds(hash)).toBe(false)
    })

    test('the next start finishes an erasure', async () => {
      const issued = await fetch(`${gateway.url}/v1/documents`, {
        method: 'POST',
        headers: WITH_KEY,
        body: JSON.stringify(ADA),
      })
      const { data } = (await issued.json()) as { data: { publicId: string } }
      const { hash } = decodePublicId(data.publicId)
      await expect.poll(() => holds(hash)).toBe(true)
      await kubo.signal('SIGSTOP')
      const path = `${gateway.url}/v1/documents/${data.publicId}/payload`
      const erase = () => fetch(path, { method: 'DELETE', headers: WITH_KEY })
      expect((await erase()).status).toBe(202)
      await gateway.kill()
      await kubo.signal('SIGCONT')
      expect(await holds(hash)).toBe(true)
      await gateway.start()
      await expect.poll(() => holds(hash)).toBe(false)
      await expect.poll(async () => (await erase()).status).toBe(200)
    })
  })
})
