import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { docregGateway } from '../../support/docreg.ts'
import { ADA, randomKey } from '../../support/given.ts'
import { freePort } from '../../support/http.ts'
import { transact } from '../../support/transact.ts'
import { type LocalGateway, localGateway } from './local-gateway.ts'

// The theft of an issuing key: a thief issues a forged document, the account is distrusted, and the
// gateway issues its own documents again with a new account.

const KEY = 'a-key-that-only-the-tests-have'
const FORGED: Hex = `0x${'f0'.repeat(32)}`
const JSON_BODY = { 'content-type': 'application/json' }

type Issued = { publicId: string; documentHash: Hex; registry: string }

let folder: string
let env: Record<string, string>
let gateway: LocalGateway
let alone: Issued[]
let inBatch: Issued
let old: Issued

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  const stolen = randomKey()
  env = {
    PORT: `${await freePort()}`,
    CHAIN_PORT: `${await freePort()}`,
    DATA_DIR: join(folder, 'data'),
    API_KEY: KEY,
    ISSUER_KEY: stolen,
  }
  gateway = localGateway(env)
  await gateway.start()
  const provider = createFetchProvider(`http://127.0.0.1:${env.CHAIN_PORT}`)
  const head = async () => Number(await provider.request({ method: 'eth_blockNumber' }))
  old = await issue('0')
  const theft = (await head()) + 1
  alone = [await issue('1'), await issue('2'), await issue('3')]
  await call(`/v1/documents/${alone[2]?.publicId}/revoke`, '{}')
  // Released with the stolen key: it counts as suspended.
  for (const action of ['suspend', 'release'])
    await call(`/v1/documents/${alone[0]?.publicId}/${action}`, '{}')
  inBatch = await issueBatch()

  const { registry } = old
  await transact(provider, registry, stolen, 'issue', [1, FORGED, 0])
  const managerKey = readFileSync(join(folder, 'data/secrets/manager.key'), 'utf8').trim() as Hex
  const account = new Wallet(stolen).address
  await transact(provider, registry, managerKey, 'distrustFrom', [1, account, theft])
  await gateway.stop()
  // The start adds the account to the local chain's issuer.
  env.ISSUER_KEY = randomKey()
  gateway = localGateway(env)
  await gateway.start()
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function call(path: string, body?: string, headers: Record<string, string> = JSON_BODY) {
  const response = await fetch(`${gateway.url}${path}`, {
    ...(body && { method: 'POST', body }),
    headers: { authorization: `Bearer ${KEY}`, ...(body && headers) },
  })
  // A batch answers a line for each document.
  const answer = JSON.parse((await response.text()).split('\n')[0] ?? '')
  if (!answer.success) throw new Error(`${path.slice(0, 16)}: ${JSON.stringify(answer.error)}`)
  return answer
}

const issue = async (subjectId: string): Promise<Issued> =>
  (await call('/v1/documents', JSON.stringify({ ...ADA, subjectId }))).data

async function issueBatch(): Promise<Issued> {
  const line = `${JSON.stringify({ ...ADA, subjectId: '4' })}\n`
  const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': 'batch' }
  return (await call('/v1/batches', line, headers)).data
}

const statusOf = async ({ publicId }: Issued): Promise<string> =>
  (await call(`/v1/documents/${publicId}`)).data.status

const statuses = () => Promise.all([old, ...alone, inBatch].map(statusOf))

const issueAgain = (...args: string[]) => docregGateway(['issue-again', ...args], { env })

test('issues its own documents and batches again, but not those of the thief', async () => {
  const distrusted = 'distrusted'
  expect(await statuses()).toEqual(['valid', ...Array(4).fill(distrusted)])
  await gateway.stop()

  const listed = await issueAgain()
  expect(listed.code, listed.stderr).toBe(0)
  expect(listed.stderr).toContain('distrusted  3 documents, 1 batch\n')
  expect(listed.stderr).toContain('Nothing was sent')
  const hashes = alone.map(({ documentHash }) => documentHash)
  for (const hash of hashes) expect(listed.stdout).toContain(hash)
  expect(listed.stdout).toMatch(new RegExp(`${hashes[2]} .*stays revoked`))
  expect(listed.stdout).toMatch(new RegExp(`${hashes[0]} .*stays suspended`))
  expect(listed.stdout).not.toContain(old.documentHash)
  expect(listed.stdout).not.toContain(FORGED)

  // One was doubtful, so the operator takes it out of the list.
  const only = join(folder, 'only.txt')
  writeFileSync(only, listed.stdout.replace(new RegExp(`${hashes[1]}.*\n`), ''))
  const sent = await issueAgain('--only', only, '--send')
  expect(sent.code, sent.stderr).toBe(0)
  expect(sent.stderr).toContain('issued      2 documents in block')
  expect(sent.stderr).toContain('issued      a batch of 1 in block')
  const reindexed = await docregGateway(['reindex'], { env })
  expect(reindexed.code, reindexed.stderr).toBe(0)

  await gateway.start()
  expect(await statuses()).toEqual(['valid', 'suspended', distrusted, 'revoked', 'valid'])
  const held = (await call('/v1/documents?status=suspended')).data.documents
  expect(held.map(({ documentHash }: Issued) => documentHash)).toEqual([hashes[0]])
  await call(`/v1/documents/${alone[0]?.publicId}/release`, '{}')
  expect(await statuses()).toEqual(['valid', 'valid', distrusted, 'revoked', 'valid'])
  const { documents } = (await call('/v1/documents?status=distrusted')).data
  expect(documents.map(({ documentHash }: Issued) => documentHash).sort()).toEqual(
    [FORGED, hashes[1]].sort(),
  )
  // The gateway knows the transaction of each that was issued again.
  const { blockchainHash } = (await call(`/v1/documents/${alone[0]?.publicId}`)).data
  expect(sent.stderr).toContain(blockchainHash)

  await gateway.stop()
  // What is left is the doubtful one; the forged one is in the list of documents now, and not
  // here.
  expect((await issueAgain()).stdout).toMatch(new RegExp(`^${hashes[1]}[^\\n]*\\n$`))
})

test('refuses a list with a line that has no hash, and sends nothing', async () => {
  const only = join(folder, 'bad.txt')
  writeFileSync(only, `${old.documentHash}\nnothing\n`)
  const { code, stderr } = await issueAgain('--only', only, '--send')
  expect(code).toBe(65)
  expect(stderr).toContain('line 2 has no documentHash or root')
  expect(stderr).not.toContain('issued')
})
