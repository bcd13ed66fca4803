import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { hkdfWithNode } from '#base/node-crypto.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { deriveSubkeys } from '#document/keys.ts'
import { indexesOf, type Listed } from '#modules/wallets/status-slots.ts'
import { startBlockServer } from '../../support/block-server.ts'
import { makeCredentialKey } from '../../support/credential-key.ts'
import { docregGateway } from '../../support/docreg.ts'
import { type GatewayProcess, gatewayProcess } from '../../support/gateway-process.ts'
import { ADA, API_KEY, randomKey } from '../../support/given.ts'
import { freePort } from '../../support/http.ts'
import { type RemoteIssuer, startRemoteIssuer } from '../../support/remote-issuer.ts'
import { statusesIn } from '../../support/status-list.ts'
import { PERMISSION, transact } from '../../support/transact.ts'

// A gateway is lost with its data folder; another machine has a copy of its payloads.

let folder: string
let issuer: RemoteIssuer
let env: Record<string, string>
let lost: GatewayProcess
let recovered: GatewayProcess
let credentialKey: ReturnType<typeof makeCredentialKey>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recover-'))
  issuer = await startRemoteIssuer(folder, ['--block-time', '1'], 1)
  env = issuer.env
  credentialKey = makeCredentialKey()
  const settings = {
    ...env,
    ISSUER_KEY: issuer.keys.issuer,
    CREDENTIAL_KEY_FILE: credentialKey.path,
  }
  lost = gatewayProcess({ ...settings, PORT: `${await freePort()}`, DATA_DIR: join(folder, 'a') })
  recovered = gatewayProcess({
    ...settings,
    PORT: `${await freePort()}`,
    DATA_DIR: join(folder, 'b'),
  })
  await lost.start()
})
afterAll(async () => {
  await lost?.kill()
  await recovered?.kill()
  await issuer?.anvil.kill()
  credentialKey?.remove()
  rmSync(folder, { recursive: true, force: true })
})

async function call(gateway: GatewayProcess, path: string, body?: string, method?: string) {
  const type = body?.includes('\n') ? 'application/x-ndjson' : 'application/json'
  const response = await fetch(`${gateway.url}/v1${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    ...(body !== undefined && { body }),
    headers: {
      authorization: `Bearer ${API_KEY}`,
      ...(body !== undefined && { 'content-type': type }),
    },
  })
  const text = await response.text()
  expect(`${response.status} ${text}`).toMatch(/^20/)
  return text
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
const dataOf = (text: string): any => JSON.parse(text).data
const issue = async (fields: object) =>
  dataOf(await call(lost, '/documents', JSON.stringify({ ...ADA, ...fields })))

/** @returns What lists and documents show, without what is of one gateway alone. */
async function shown(gateway: GatewayProcess) {
  const { documents } = dataOf(await call(gateway, '/documents?limit=100'))
  const whole = []
  for (const { publicId, documentHash, status, subjectId, batchRoot } of documents) {
    const { blockchainHash, supersededBy } = dataOf(await call(gateway, `/documents/${publicId}`))
    whole.push({
      publicId,
      documentHash,
      status,
      subjectId,
      batchRoot,
      blockchainHash,
      supersededBy,
    })
  }
  const { batches } = dataOf(await call(gateway, '/batches'))
  return { documents: whole, batches }
}

const recover = (more: Record<string, string> = {}, ...args: string[]) =>
  docregGateway(['recover', ...args], {
    env: { ...env, DATA_DIR: join(folder, 'b'), IPFS_GATEWAYS: lost.url, ...more },
  })

/** An account releases two documents, one of them in a batch, and is distrusted afterwards. */
async function releaseAsThief(alone: string, root: string, inBatch: string): Promise<void> {
  const { provider, registry, keys } = issuer
  const thief = await issuer.fundedKey()
  const { address } = new Wallet(thief)
  const send = (key: typeof thief, name: string, ...args: unknown[]) =>
    transact(provider, registry, key, name, [1, ...args])
  await send(keys.manager, 'addAccount', address, PERMISSION.revoke)
  await send(thief, 'release', alone)
  await send(thief, 'releaseInBatch', root, [inBatch])
  await send(keys.manager, 'distrustFrom', address, 1)
}

test('brings back every document, batch, publicId and status from chain, IPFS and secret', async () => {
  const [first, second] = [await issue({}), await issue({ subjectId: '77' })]
  const third = await issue({ subjectId: '78', expiresAt: '2050-01-01' })
  await call(lost, `/documents/${first.publicId}/revoke`, '{}')
  const next = JSON.stringify({ ...ADA, subjectId: '79' })
  await call(lost, `/documents/${second.publicId}/supersede`, next)
  const lines = [1, 2, 3].map((n) => JSON.stringify({ ...ADA, subjectId: `10${n}` }))
  const batch = await call(lost, '/batches', `${lines.join('\n')}\n`)
  const ofBatch = batch
    .trim()
    .split('\n')
    .flatMap((line) => JSON.parse(line).data ?? [])
  const batched: string[] = ofBatch.flatMap(({ publicId }) => publicId ?? [])
  const inBatch = { publicId: batched[0] as string }
  expect(batched).toHaveLength(3)
  await call(lost, `/documents/${inBatch.publicId}/suspend`, '{}')
  for (const id of [third.publicId, batched[1]]) await call(lost, `/documents/${id}/suspend`, '{}')
  await releaseAsThief(third.documentHash, ofBatch[1].batchRoot, ofBatch[1].documentHash)
  const before = await shown(lost)
  expect(before.documents).toHaveLength(7)
  const suspended = [third.publicId, batched[0], batched[1]].sort()
  const suspendedIn = async (gateway: GatewayProcess) =>
    dataOf(await call(gateway, '/documents?status=suspended'))
      .documents.map(({ publicId }: { publicId: string }) => publicId)
      .sort()
  expect(await suspendedIn(lost)).toEqual(suspended)

  const { stderr, code } = await recover({}, '--tenant', 'default')
  expect(stderr).toContain('recovered 7 of 7 documents, 1 batch')
  expect(code).toBe(0)
  const csv = readFileSync(join(folder, 'b', 'recovered.csv'), 'utf8')
  for (const { publicId } of before.documents) expect(csv).toContain(`\n${publicId},`)

  await lost.kill()
  rmSync(join(folder, 'a'), { recursive: true })
  await recovered.start()
  // Before another list corrects the index.
  expect(await suspendedIn(recovered)).toEqual(suspended)
  const after = await shown(recovered)
  expect(after.batches).toEqual(before.batches)
  // The order in which a batch was requested is lost.
  const sorted = (documents: typeof after.documents) =>
    documents.toSorted((a, b) => (a.documentHash < b.documentHash ? -1 : 1))
  expect(sorted(after.documents)).toEqual(sorted(before.documents))
  // The times of the blocks.
  for (const { publicId } of before.documents) {
    const { createdAt, blockchainProof } = dataOf(await call(recovered, `/documents/${publicId}`))
    expect(createdAt).toBe(blockchainProof.blockTime)
  }
  const verified = dataOf(await call(recovered, `/verify?publicId=${inBatch.publicId}`))
  expect(verified.status).toBe('suspended')

  // Nobody knows who was in a status list, so each document is wherever it may have been.
  const list = await fetch(`${recovered.url}/v1/status-lists/1`)
  const statusAt = statusesIn(await list.text())
  const statusesOf = (listed: Listed) =>
    indexesOf(deriveSubkeys(fromHex(env.ISSUER_SECRET as Hex)), listed, 1, hkdfWithNode).map(
      statusAt,
    )
  const { documentHash, batchRoot: root } = ofBatch[0]
  expect(statusesOf({ documentHash: first.documentHash })).toEqual([1, 1])
  expect(statusesOf({ documentHash: second.documentHash })).toEqual([1, 1])
  expect(statusesOf({ documentHash: third.documentHash })).toEqual([2, 2])
  expect(statusesOf({ documentHash, root })).toEqual([2, 2])
  expect(statusesOf({ documentHash: ofBatch[2].documentHash, root })).toEqual([0, 0])
})

test('names what no source has; refuses a folder in use and a chain that is lost too', async () => {
  const elsewhere = { DATA_DIR: join(folder, 'c'), IPFS_GATEWAYS: 'http://127.0.0.1:1' }
  const silent = await recover(elsewhere)
  expect(silent.stderr).toContain('a source of payloads does not answer: start the command again')
  expect(silent.code).toBe(2)
  const empty = await startBlockServer()
  onTestFinished(() => empty.close())
  const short = await recover({ ...elsewhere, IPFS_GATEWAYS: empty.url })
  expect(short.stderr).toMatch(/missing +4: no source has the payload/)
  expect(short.stderr).toContain('unread    1 batch:')
  expect(short.code).toBe(1)
  const other = await recover({
    ...elsewhere,
    IPFS_GATEWAYS: recovered.url,
    DATA_DIR: join(folder, 'd'),
    ISSUER_SECRET: randomKey(),
  })
  expect(other.stderr).toMatch(/unopened +7: sealed with another secret/)
  const database = new DatabaseSync(join(folder, 'd', 'gateway.db'), { readOnly: true })
  expect(database.prepare('SELECT tenant FROM batch').all()).toEqual([{ tenant: '' }])
  database.close()
  const again = await recover(elsewhere)
  expect(again.stderr).toContain('has a database already')
  const nowhere = { REGISTRY_ADDRESS: `0x${'a'.repeat(40)}`, DATA_DIR: join(folder, 'f') }
  const foreign = await recover(nowhere)
  expect(foreign.stderr).toMatch(/^there is no contract at eip155:31337:0xaa/m)
  const nobody = await recover({ ISSUER_ID: '999', DATA_DIR: join(folder, 'g') })
  expect(nobody.stderr).toMatch(/^the registry has no issuer 999 at block \d+/m)
  const local = await recover({ RPC_URL: '', DATA_DIR: join(folder, 'e') })
  expect(local.stderr).toContain('RPC_URL is required')
  expect([other.code, again.code, foreign.code, nobody.code, local.code]).toEqual([1, 2, 2, 2, 2])
})

test('fsck accepts the folder, then finds each planted fault, and changes nothing', async () => {
  const fsck = () =>
    docregGateway(['fsck', '--json'], {
      env: { ...env, DATA_DIR: join(folder, 'b') },
    })
  const whole = await fsck()
  expect(JSON.parse(whole.stdout)).toMatchObject({ documents: 7, batches: 1, differences: [] })
  expect(whole.code).toBe(0)

  await recovered.stop()
  const database = new DatabaseSync(join(folder, 'b', 'gateway.db'))
  // 1 = suspended: a document whose release does not count.
  const held = database.prepare('SELECT id FROM record WHERE status = 1 AND batch IS NULL')
  const { id } = held.get() as { id: number }
  database.prepare('UPDATE record SET status = 0 WHERE id = ?').run(id)
  expect(JSON.parse((await fsck()).stdout).differences).toMatchObject([{ code: 'record_differs' }])
  const reindexed = await docregGateway(['reindex'], {
    env: { ...env, ISSUER_KEY: issuer.keys.issuer, DATA_DIR: join(folder, 'b') },
  })
  expect(reindexed.code).toBe(0)
  expect(held.all()).toHaveLength(1)
  expect(JSON.parse((await fsck()).stdout).differences).toEqual([])
  const hashes = database
    .prepare('SELECT hash FROM record WHERE batch IS NULL ORDER BY hash')
    .all()
    .map(({ hash }) => hash as Uint8Array)
  const [first, second, third] = hashes as [Uint8Array, Uint8Array, Uint8Array]
  database.prepare('UPDATE payload SET bytes = zeroblob(9) WHERE hash = ?').run(first)
  database.prepare('DELETE FROM payload WHERE hash = ?').run(second)
  database
    .prepare('UPDATE record SET hash = ? WHERE hash = ?')
    .run(new Uint8Array(32).fill(7), second)
  database.prepare('UPDATE record SET status = 4 WHERE hash = ?').run(third)
  database.prepare('INSERT INTO tombstone VALUES (?)').run(third)
  database.close()
  const before = readFileSync(join(folder, 'b', 'gateway.db'))
  const { stdout, code } = await fsck()
  const { differences } = JSON.parse(stdout)
  expect(differences.map((one: { code: string }) => one.code).sort()).toEqual([
    'erased_but_present',
    'payload_damaged',
    'payload_missing',
    'record_differs',
    'record_missing',
    'record_not_on_chain',
  ])
  expect(code).toBe(1)
  expect(readFileSync(join(folder, 'b', 'gateway.db')).equals(before)).toBe(true)
})
