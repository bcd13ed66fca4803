import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseRegistryId } from '#document/registry-id.ts'
import { describeDatabases } from '../../support/databases.ts'
import { docregGateway } from '../../support/docreg.ts'
import { ADA, randomKey } from '../../support/given.ts'
import { freePort } from '../../support/http.ts'
import { databaseRows } from './database-rows.ts'
import { type LocalGateway, localGateway } from './local-gateway.ts'

// `docreg-gateway reindex` between two runs of a gateway, in one data folder and on one local
// chain.

const KEY = 'a-key-that-only-the-tests-have'

describeDatabases('reindex', (settings) => {
  let folder: string
  let env: Record<string, string>
  let gateway: LocalGateway
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
    env = {
      PORT: `${await freePort()}`,
      CHAIN_PORT: `${await freePort()}`,
      DATA_DIR: join(folder, 'data'),
      API_KEY: KEY,
      ISSUER_KEY: randomKey(),
      ISSUER_SECRET: randomKey(),
      LOCK_SECONDS: '3',
      ...(await settings()),
    }
    gateway = localGateway(env)
    await gateway.start()
  })
  afterEach(async () => {
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const reindex = (...more: string[]) => docregGateway(['reindex', ...more], { env })

  async function call(path: string, body?: object) {
    const response = await fetch(`${gateway.url}/v1/documents${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${KEY}`,
        ...(body && { 'content-type': 'application/json' }),
      },
    })
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
    return { status: response.status, data: ((await response.json()) as { data: any }).data }
  }

  const database = () => databaseRows(env)

  const rows = () => {
    const { all, hex } = database()
    return all(`
    SELECT ${hex('record.hash')} AS hash, send.block_number AS block_number, status, issued_on,
      valid_until, CAST(subject AS TEXT) AS subject, CAST(category AS TEXT) AS category, tenant
    FROM record LEFT JOIN member ON member.record = record.id LEFT JOIN send ON send.id = member.send
    ORDER BY 1`)
  }

  async function issueSome() {
    const fields = { ...ADA, expiresAt: '2050-01-01' }
    const first = (await call('', fields)).data
    const second = (await call('', { ...fields, subjectId: '77' })).data
    await call(`/${first.publicId}/revoke`, {})
    const third = (await call(`/${second.publicId}/supersede`, { ...fields, subjectId: '78' })).data
    await call(`/${third.publicId}/suspend`, {})
    return [first, second, third]
  }

  test('rebuilds the same index from only chain, payloads and secret', async () => {
    const issued = await issueSome()
    const listed = (await call('?limit=10')).data.documents
    const { blockTime } = (await call(`/${issued[0].publicId}`)).data.blockchainProof
    await gateway.stop()
    const before = await rows()
    expect(before).toHaveLength(3)
    // Nothing but the payloads is left of them.
    await database().run(`DELETE FROM member; DELETE FROM attempt; DELETE FROM send;
      DELETE FROM change; DELETE FROM record`)
    const { stderr, code } = await reindex('--tenant', 'default')
    expect(stderr).toContain('indexed   3 anchored documents, 0 pending')
    expect(code).toBe(0)
    // They have no send: nobody knows who issued them.
    expect(await rows()).toEqual(before.map((row) => ({ ...row, block_number: null })))
    await gateway.start()
    // Its time went with the index.
    expect((await call(`/${issued[0].publicId}`)).data).toMatchObject({ createdAt: blockTime })
    expect(
      (await call('?limit=10')).data.documents.map(({ status }: { status: string }) => status),
    ).toEqual(listed.map(({ status }: { status: string }) => status))
    expect((await call('/search', { subjectId: '78' })).data.documents).toMatchObject([
      { documentHash: issued[2].documentHash, supersedes: issued[1].documentHash },
    ])
    expect((await call(`/${issued[1].publicId}`)).data).toMatchObject({
      supersededBy: issued[2].documentHash,
    })
  })

  test('keeps tenants and times, corrects statuses, and cursors stay valid', async () => {
    await issueSome()
    const { nextCursor } = (await call('?limit=1')).data
    await gateway.stop()
    const before = await rows()
    await database().run('UPDATE record SET created_at = 7 WHERE id < 3')
    await database().run('UPDATE record SET status = 0, subject = NULL, issued_on = 0')
    expect((await reindex()).code).toBe(0)
    expect(await rows()).toEqual(before)
    await gateway.start()
    expect((await call(`?cursor=${nextCursor}`)).data.documents).toHaveLength(2)
    const { documents } = (await call('?limit=10')).data
    expect(documents.map(({ createdAt }: { createdAt: string }) => createdAt).sort()).toEqual([
      ...Array(2).fill('1970-01-01T00:00:07Z'),
      expect.stringMatching(/^20/),
    ])
  })

  test('keeps documents of a batch, and restores lost ones from its manifest', async () => {
    const response = await fetch(`${gateway.url}/v1/batches`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/x-ndjson' },
      body: ['1', '2', '3'].map((subjectId) => JSON.stringify({ ...ADA, subjectId })).join('\n'),
    })
    expect(response.status).toBe(201)
    const [first] = (await response.text()).split('\n').map((line) => JSON.parse(line || '{}').data)
    await gateway.stop()
    const before = await rows()
    expect(before).toHaveLength(3)
    expect((await reindex()).code).toBe(0)
    expect(await rows()).toEqual(before)
    await database().run('DELETE FROM record WHERE id % 2 = 0')
    // As `restore` lists a batch that the backup did not have.
    await database().run("UPDATE batch SET tenant = '', promised_at = NULL")
    const { stderr } = await reindex('--tenant', 'default')
    expect(stderr).toContain('documents of batches that the index lacked')
    expect(stderr).toContain('1 of an unknown tenant now belong to default')
    expect(await rows()).toEqual(before)
    await gateway.start()
    const { createdAt, blockchainProof } = (await call(`/${first.publicId}`)).data
    expect(createdAt).toBe(blockchainProof.blockTime)
    expect((await call('/search', { subjectId: '1' })).data.documents).toMatchObject([
      { publicId: first.publicId, createdAt },
    ])
  })

  test('rebuilds beside a running gateway on PostgreSQL only, which still issues', async () => {
    const [first] = await issueSome()
    if (env.DATABASE_URL === undefined) {
      const { stderr, code } = await reindex()
      expect(code).toBe(2)
      expect(stderr).toContain('a gateway runs with')
      return
    }
    // The gateway has the local chain, so the command takes it for another one.
    const { address } = parseRegistryId(first.registry)
    const rpc = { RPC_URL: `http://127.0.0.1:${env.CHAIN_PORT}`, ISSUER_ID: '1' }
    const beside = { ...env, ...rpc, REGISTRY_ADDRESS: address, MAX_HEAD_AGE_SECONDS: '9999999' }
    const running = docregGateway(['reindex'], { env: beside })
    const later: string[] = []
    for (let n = 0; n < 10; n++)
      later.push((await call('', { ...ADA, subjectId: `${n}` })).data.documentHash)
    await call(`/${later[0]}/revoke`, {})
    expect((await running).stderr).toContain('indexed')
    const { documents } = (await call('?limit=100')).data
    expect(documents).toHaveLength(13)
    const statusOf = (hash: string | undefined) =>
      documents.find((one: { documentHash: string }) => one.documentHash === hash)?.status
    expect([statusOf(first.documentHash), statusOf(later[0])]).toEqual(['revoked', 'revoked'])
  })
})
