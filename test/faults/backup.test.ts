import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { cidOf } from '#document/cid.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { DOCREG_GATEWAY } from '../support/docreg.ts'
import { type GatewayProcess, gatewayProcess } from '../support/gateway-process.ts'
import { ADA, API_KEY } from '../support/given.ts'
import { freePort } from '../support/http.ts'
import { type Client, createClient } from './support/client.ts'
import { type Folder, temporaryFolder } from './support/machine.ts'
import { promisesOf } from './support/wish.ts'
import { startAnvilWorld } from './support/world.ts'

// `docreg-gateway backup` of a service while it issues, and `docreg-gateway restore` of that
// backup.

let folder: Folder
const running: { gateway: GatewayProcess; client: Client }[] = []
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  for (const { gateway, client } of running.splice(0)) {
    await gateway.stop()
    await client.close()
  }
  folder.remove()
})

async function startService(dataDir: string, env: Record<string, string> = {}) {
  const gateway = gatewayProcess({
    PORT: String(await freePort()),
    CHAIN_PORT: '0',
    DATA_DIR: dataDir,
    API_KEY,
    ...env,
  })
  await gateway.start()
  const service = { gateway, client: createClient(gateway.url) }
  running.push(service)
  return service
}

/** Runs a command in a process of its own, as users do. */
async function run(
  command: 'backup' | 'restore',
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [DOCREG_GATEWAY, command, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const [code] = await once(child, 'close')
  return { code, output }
}

type InBatch = { publicId: string; documentHash: Hex; batchRoot: Hex }

/** Issues the same three documents each time. */
async function issueBatch(url: string): Promise<InBatch[]> {
  const lines = ['1', '2', '3'].map((subjectId) => JSON.stringify({ ...ADA, subjectId }))
  const response = await fetch(`${url}/v1/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/x-ndjson' },
    body: lines.join('\n'),
  })
  expect(response.status).toBe(201)
  const text = await response.text()
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).data)
}

/** The hashes of the blocks in a data folder. */
function storedIn(dataDir: string): Hex[] {
  const database = new DatabaseSync(join(dataDir, 'gateway.db'))
  try {
    const rows = database.prepare('SELECT hash FROM payload').all()
    return rows.map(({ hash }) => toHex(hash as Uint8Array))
  } finally {
    database.close()
  }
}

test('a backup of an issuing gateway restores every acknowledged document', async () => {
  const dataDir = join(folder.dir, 'live')
  const backup = join(folder.dir, 'backup')
  const { client } = await startService(dataDir)
  let working = true
  const load = Array.from({ length: 6 }, async () => {
    while (working) await client.issue()
  })
  await expect.poll(() => client.wishes.flatMap(promisesOf).length).toBeGreaterThan(50)
  const before = client.wishes.flatMap(promisesOf)
  const made = await run('backup', [backup], { DATA_DIR: dataDir })
  working = false
  await Promise.all(load)
  expect(made).toMatchObject({
    code: 0,
    output: expect.stringContaining('of a running service'),
  })
  expect(made.output).toContain('It contains the issuer secret')

  const restored = join(folder.dir, 'restored')
  const result = await run('restore', [backup], { DATA_DIR: restored })
  expect(result).toMatchObject({ code: 0 })
  expect(result.output).toContain('the chain has all of them')
  expect(result.output).not.toContain('missing-payloads')
  const { client: reader } = await startService(restored)
  const statuses = () => Promise.all(before.map(async (id) => (await reader.verify(id)).status))
  await expect.poll(statuses).toEqual(before.map(() => 'valid'))
  const next = await reader.issue()
  expect(promisesOf(next)).toHaveLength(1)
})

test('a restore does not bring back what was erased after the backup', async () => {
  const dataDir = join(folder.dir, 'live')
  const backup = join(folder.dir, 'backup')
  const { client, gateway } = await startService(dataDir)
  const [kept = '', erased = ''] = [await client.issue(), await client.issue()].flatMap(promisesOf)
  const cid = cidOf(decodePublicId(erased).hash)
  const sealed = Buffer.from((await client.block(cid)) ?? [])
  expect(sealed.length).toBeGreaterThan(0)
  const made = await run('backup', [backup], { DATA_DIR: dataDir })
  expect(made.code).toBe(0)
  const answer = await fetch(`${gateway.url}/v1/documents/${erased}/payload`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  expect(answer.status).toBe(200)
  await gateway.stop()
  expect(readFileSync(join(backup, 'gateway.db')).includes(sealed)).toBe(true)

  const elsewhere = join(folder.dir, 'no-list')
  const without = await run('restore', [backup], {
    DATA_DIR: join(folder.dir, 'without-list'),
    ERASURE_LIST: elsewhere,
  })
  expect(without.output).toContain(`no list at ${elsewhere}`)
  // The list stands beside the data folder, whatever that is called.
  const restored = join(folder.dir, 'restored')
  const result = await run('restore', [backup], { DATA_DIR: restored })
  expect(result).toMatchObject({ code: 0 })
  expect(result.output).toMatch(/1 erasures in .*erased-documents\.txt/)
  const { client: reader } = await startService(restored)
  expect((await reader.verify(erased)).status).toBe('erased')
  expect((await reader.verify(kept)).status).toBe('valid')
  const files = () =>
    ['gateway.db', 'gateway.db-wal'].map((name) => readFileSync(join(restored, name)))
  await expect.poll(() => files().some((file) => file.includes(sealed))).toBe(false)
})

test('repairs a backup older than the chain from another source, and names lost documents', async () => {
  const world = await startAnvilWorld({ FINALITY_DEPTH: '4' })
  const backup = join(folder.dir, 'backup')
  const restored = join(folder.dir, 'restored')
  try {
    const env = { ...world.env, DATA_DIR: world.dataDir }
    await Promise.all(Array.from({ length: 3 }, () => world.client.issue()))
    const made = await run('backup', [backup], env)
    const kept = await world.client.issue({ idempotencyKey: 'later' })
    const [publicId = ''] = promisesOf(kept)
    const batch = await issueBatch(world.gateway.url)

    const settings = { ...env, DATA_DIR: restored }
    const found = await run('restore', [backup], {
      ...settings,
      IPFS_GATEWAYS: world.gateway.url,
    })
    const stored = storedIn(restored)
    rmSync(restored, { recursive: true })
    await world.gateway.kill()
    const lost = await run('restore', [backup], settings)

    expect(made).toMatchObject({ code: 0 })
    expect(made.output).toContain('It contains no secrets')
    expect(found).toMatchObject({ code: 0 })
    expect(found.output).toContain('1 payloads fetched, 0 lost')
    expect(found.output).toContain('1 batches are on the chain but not in the backup')
    expect(found.output).toContain('of 3 documents, 3 payloads fetched, 0 lost')
    // Of each the document and its batch block.
    for (const { publicId, documentHash } of batch) {
      expect(stored).toContain(documentHash)
      expect(stored).toContain(toHex(decodePublicId(publicId).hash))
    }
    expect(lost).toMatchObject({ code: 0 })
    expect(lost.output).toContain('0 payloads fetched, 1 lost')
    expect(readFileSync(join(restored, 'missing-payloads.txt'), 'utf8')).toMatch(
      /^0x[0-9a-f]{64}\n$/,
    )
    expect(lost.output).toContain('1 of them without a manifest')
    expect(readFileSync(join(restored, 'missing-batches.txt'), 'utf8')).toBe(
      `${batch[0]?.batchRoot}\n`,
    )

    // The old documents are valid, and new ones can be issued.
    const { client } = await startService(restored, {
      ...settings,
      PORT: String(await freePort()),
    })
    const before = world.client.wishes.filter((wish) => wish !== kept)
    for (const id of before.flatMap(promisesOf))
      expect((await client.verify(id)).status).toBe('valid')
    expect((await client.verify(publicId)).status).toBe('unverifiable')
    expect(promisesOf(await client.issue())).toHaveLength(1)
    // Sending the batch again brings its payloads back.
    const { gateway } = running.at(-1) as { gateway: GatewayProcess }
    const again = await issueBatch(gateway.url)
    expect(again.map((one) => one.publicId)).toEqual(batch.map((one) => one.publicId))
    for (const one of batch) expect((await client.verify(one.publicId)).status).toBe('valid')
  } finally {
    await world.close()
  }
})

test('restores a backup with a new account when the old key is lost', async () => {
  const world = await startAnvilWorld({}, { gateways: 2 })
  const [gateway, other] = world.gateways as [GatewayProcess, GatewayProcess]
  const { request } = world.chain
  const backup = join(folder.dir, 'backup')
  const before = createClient(gateway.url)
  try {
    await other.stop()
    const promise = () => before.issue({ respondAsync: true })
    const final = await before.issue()
    await request('evm_setAutomine', false)
    const signed = await promise()
    await expect.poll(() => request('txpool_status')).toMatchObject({ pending: '0x1' })
    const waiting = await promise()
    const env = { ...world.env, DATA_DIR: world.dataDir }
    expect(await run('backup', [backup], env)).toMatchObject({ code: 0 })
    await gateway.kill()
    // The chain has lost what was signed as well.
    await request('anvil_dropAllTransactions')
    await request('evm_setAutomine', true)

    const [, newKey = ''] = world.issuerKeys
    const [, newAccount = ''] = world.accounts
    const settings = { ...env, DATA_DIR: join(folder.dir, 'restored'), ISSUER_KEY: newKey }
    expect(await run('restore', [backup], settings)).toMatchObject({ code: 0 })
    const { client } = await startService(settings.DATA_DIR, {
      ...settings,
      PORT: String(await freePort()),
    })
    const ids = [final, signed, waiting].flatMap(promisesOf)
    expect(ids).toHaveLength(3)
    for (const id of ids)
      await expect.poll(async () => (await client.verify(id)).status).toBe('valid')
    const next = promisesOf(await client.issue())
    const issuerOf = async (id = '') => {
      const path = `/v1/verify?publicId=${id}`
      const { text = '' } = (await client.call({ method: 'GET', path })) ?? {}
      return JSON.parse(text).data.blockchainProof.issuer.account
    }
    expect(await issuerOf(ids[0])).toBe(world.accounts[0]?.toLowerCase())
    expect(await issuerOf(next[0])).toBe(newAccount.toLowerCase())
  } finally {
    await before.close()
    await world.close()
  }
})

test('refuses a changed backup, one of another issuer secret, and a folder that is not empty', async () => {
  const dataDir = join(folder.dir, 'live')
  const backup = join(folder.dir, 'backup')
  const { client, gateway } = await startService(dataDir)
  await client.issue()
  await gateway.stop()
  const made = await run('backup', [backup, '--without-secrets'], {
    DATA_DIR: dataDir,
  })
  expect(made).toMatchObject({ code: 0 })
  expect(made.output).toContain('of a stopped service')
  expect(existsSync(join(backup, 'secrets'))).toBe(false)

  const restored = join(folder.dir, 'restored')
  const otherSecret = await run('restore', [backup], { DATA_DIR: restored })
  const notEmpty = await run('restore', [backup], { DATA_DIR: dataDir })
  const damaged = join(folder.dir, 'damaged')
  cpSync(backup, damaged, { recursive: true })
  appendFileSync(join(damaged, 'gateway.db'), 'x')
  const changed = await run('restore', [damaged], { DATA_DIR: restored })

  expect([otherSecret.code, notEmpty.code, changed.code]).toEqual([2, 2, 2])
  expect(otherSecret.output).toMatch(/fingerprint 0x[0-9a-f]{16}… is missing/)
  expect(notEmpty.output).toContain('is not empty')
  expect(changed.output).toContain('gateway.db was changed')
  expect(existsSync(restored)).toBe(false)
  expect(existsSync(`${restored}.part`)).toBe(false)

  // Put the secrets back that were kept elsewhere.
  const secrets = (folder: string) => join(folder, 'secrets')
  cpSync(secrets(dataDir), secrets(backup), { recursive: true })
  const whole = await run('restore', [backup], { DATA_DIR: restored })
  expect(whole).toMatchObject({ code: 0 })
})
