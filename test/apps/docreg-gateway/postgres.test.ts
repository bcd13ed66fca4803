import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMPILE_CACHE } from '../../support/compile-cache.ts'
import { docregGateway } from '../../support/docreg.ts'
import { type GatewayProcess, gatewayProcess } from '../../support/gateway-process.ts'
import { ADA, API_KEY } from '../../support/given.ts'
import { freePort } from '../../support/http.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts'
import { type RemoteIssuer, startRemoteIssuer } from '../../support/remote-issuer.ts'
import { PERMISSION, transact } from '../../support/transact.ts'
import { databaseRows } from './database-rows.ts'

// The commands of an operator with DATABASE_URL: a lost gateway comes back in PostgreSQL, and runs
// while the other commands work.

const folder = postgresFolder()

describe.skipIf(folder === undefined)('commands with DATABASE_URL', () => {
  let server: PostgresServer
  let dir: string
  let issuer: RemoteIssuer
  let keys: [string, string]
  let env: Record<string, string>
  let gateway: GatewayProcess

  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
    dir = mkdtempSync(join(tmpdir(), 'document-registry-commands-'))
    issuer = await startRemoteIssuer(dir, [], 1)
    const second = await issuer.fundedKey()
    keys = [issuer.keys.issuer, second]
    const rights = PERMISSION.issue | PERMISSION.revoke
    const account = [1, new Wallet(second).address, rights]
    await transact(issuer.provider, issuer.registry, issuer.keys.manager, 'addAccount', account)
    env = {
      ...COMPILE_CACHE,
      ...issuer.env,
      DATABASE_URL: await server.newDatabase(),
      DATA_DIR: join(dir, 'data'),
      ISSUER_KEY: keys[0],
      LOCK_SECONDS: '3',
      PORT: `${await freePort()}`,
    }
    gateway = gatewayProcess(env)
  })
  afterAll(async () => {
    await gateway?.kill()
    await issuer?.anvil.kill()
    await server.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  const command = (script: string, args: readonly string[] = [], more: object = {}) =>
    docregGateway([...script.split(' '), ...args], {
      env: { ...env, ...more },
    })

  async function issue(at: GatewayProcess, subjectId: string) {
    const response = await fetch(`${at.url}/v1/documents`, {
      method: 'POST',
      body: JSON.stringify({ ...ADA, subjectId }),
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    })
    expect(response.status).toBe(201)
    return ((await response.json()) as { data: { publicId: string; documentHash: string } }).data
  }

  async function listed(): Promise<{ publicId: string; status: string }[]> {
    const response = await fetch(`${gateway.url}/v1/documents?limit=100`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    return ((await response.json()) as { data: { documents: [] } }).data.documents
  }

  test('recover rebuilds a lost gateway in an empty database, and keys work there', async () => {
    const { DATABASE_URL: _, ...alone } = env
    const lost = gatewayProcess({
      ...alone,
      DATA_DIR: join(dir, 'lost'),
      PORT: `${await freePort()}`,
    })
    await lost.start()
    const documents = [await issue(lost, '1'), await issue(lost, '2')]
    const lines = ['3', '4'].map((subjectId) => JSON.stringify({ ...ADA, subjectId }))
    const batch = await fetch(`${lost.url}/v1/batches`, {
      method: 'POST',
      body: lines.join('\n'),
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/x-ndjson' },
    })
    expect(batch.status).toBe(201)
    await batch.text()
    const recovered = await command('recover', ['--tenant', 'default'], {
      IPFS_GATEWAYS: lost.url,
    })
    expect(recovered.code, recovered.stderr).toBe(0)
    expect(recovered.stderr).toContain('recovered 4 of 4 documents, 1 batch')
    const csv = readFileSync(join(dir, 'data', 'recovered.csv'), 'utf8')
    for (const { publicId } of documents) expect(csv).toContain(publicId)
    await lost.kill()

    await command('keys', ['create', '--scope', 'verify', '--label', 'a front desk'])
    expect((await command('keys', ['list'])).stdout).toContain('a front desk')
    await gateway.start()
    expect(await listed()).toHaveLength(4)
  })

  test('recover refuses a database in use; a gateway refuses a half-recovered one', async () => {
    const again = await command('recover')
    expect(again.code).toBe(2)
    expect(again.stderr).toContain('that is not empty')

    const half = { DATABASE_URL: await server.newDatabase(), DATA_DIR: join(dir, 'half') }
    await command('keys', ['list'], half)
    await databaseRows({ ...env, ...half }).run(
      "INSERT INTO unfinished (command) VALUES ('recover')",
    )
    const started = await command('start', [], { ...half, PORT: `${await freePort()}` })
    expect(started.code).toBe(1)
    expect(started.stderr).toContain('`docreg-gateway recover` has not finished')
    const whole = await command('recover', [], { ...half, IPFS_GATEWAYS: gateway.url })
    expect(whole.code, whole.stderr).toBe(0)
  })

  test('fsck accepts the database, and then finds each planted fault', async () => {
    const fsck = async (more: object = {}) => {
      const { stdout, stderr, code } = await command('fsck', ['--json'], more)
      expect(stderr).toBe('')
      return { code, found: JSON.parse(stdout) }
    }
    const whole = await fsck()
    expect(whole.found).toMatchObject({ documents: 4, batches: 1, differences: [] })
    expect(whole.code).toBe(0)

    const broken = { DATABASE_URL: await server.newDatabase(), DATA_DIR: join(dir, 'broken') }
    const made = await command('recover', [], { ...broken, IPFS_GATEWAYS: gateway.url })
    expect(made.code, made.stderr).toBe(0)
    const rows = databaseRows({ ...env, ...broken })
    const [one, two] = (await rows.all(
      `SELECT ${rows.hex('hash')} AS hash FROM record WHERE batch IS NULL ORDER BY hash`,
    )) as [{ hash: string }, { hash: string }]
    await rows.run(`
        UPDATE payload SET bytes = '' WHERE hash = ${rows.bytes(one.hash)};
        DELETE FROM payload WHERE hash = ${rows.bytes(two.hash)};
        UPDATE record SET hash = ${rows.bytes('07'.repeat(32))} WHERE hash = ${rows.bytes(two.hash)};
        UPDATE record SET status = 2 WHERE hash = ${rows.bytes(one.hash)}`)
    const { code, found } = await fsck(broken)
    expect(found.differences.map((difference: { code: string }) => difference.code).sort()).toEqual(
      [
        'payload_damaged',
        'payload_missing',
        'record_differs',
        'record_missing',
        'record_not_on_chain',
      ],
    )
    expect(code).toBe(1)
  })

  test('doctor reports the database, its leader and what waits', async () => {
    const doctor = async (more: object = {}) => {
      const { stdout } = await command('doctor', ['--json'], more)
      return (JSON.parse(stdout) as { check: string; outcome: string; message: string }[])
        .filter(({ check }) => check === 'database')
        .map(({ outcome, message }) => `${outcome} ${message}`)
        .join('\n')
    }
    const running = await doctor()
    expect(running).not.toMatch(/^(warn|fail)/m)
    expect(running).toMatch(/ok a gateway leads, of 1 that could/)
    const empty = await doctor({ DATABASE_URL: await server.newDatabase() })
    expect(empty).toContain('ok it is empty')
    expect(await doctor({ DATABASE_URL: 'postgres://registry@127.0.0.1:1/none' })).toMatch(
      /^fail it does not answer/,
    )
    const newer = await server.newDatabase()
    await command('keys', ['list'], { DATABASE_URL: newer })
    await databaseRows({ DATABASE_URL: newer }).run('UPDATE schema_version SET version = 9999')
    expect(await doctor({ DATABASE_URL: newer })).toContain('fail its schema is 9999')
    expect((await command('fsck', [], { DATABASE_URL: newer })).stderr).toContain('schema 9999')
  })

  test('a start waits for PostgreSQL, but not for a missing database', async () => {
    await gateway.stop()
    await server.shutDown()
    gateway.launch()
    await expect.poll(gateway.output).toContain('waiting for PostgreSQL …')
    await server.start()
    await gateway.ready()

    const missing = new URL('/no_such_database', env.DATABASE_URL).href
    const more = { DATABASE_URL: missing, PORT: `${await freePort()}` }
    const refused = await command('start', [], more)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('"no_such_database" does not exist')
    expect(refused.stdout).not.toContain('waiting')
  })

  test('issue-again and reindex repair a theft while a gateway runs', async () => {
    const { provider, registry, keys: own, anvil } = issuer
    await issue(gateway, '6')
    await gateway.stop()
    const stolen = new Wallet(keys[0]).address
    await transact(provider, registry, own.manager, 'distrustFrom', [1, stolen, 1])
    gateway = gatewayProcess({ ...env, ISSUER_KEY: keys[1] })
    await gateway.start()
    const taken = await command('issue-again', ['--send'], { ISSUER_KEY: keys[1] })
    expect(taken.code).toBe(2)
    expect(taken.stderr).toContain('a gateway uses the account of the settings')
    const third = await issuer.fundedKey()
    const account = [1, new Wallet(third).address, PERMISSION.issue]
    await transact(provider, registry, own.manager, 'addAccount', account)
    const settings = { ISSUER_KEY: [keys[1], third].join() }
    const again = await command('issue-again', ['--send', '--no-wait'], settings)
    expect([0, 1], again.stderr).toContain(again.code)
    expect(again.stderr).toContain('issued      3 documents in block')
    // The gateway goes on.
    await issue(gateway, '7')
    await anvil.request('anvil_mine', '0x10')
    expect((await command('issue-again', ['--send'], settings)).stderr).toContain('in final blocks')
    const indexed = await command('reindex', ['--tenant', 'default'], settings)
    expect(indexed.code, indexed.stderr).toBe(0)
    const statuses = (await listed()).map(({ status }) => status)
    expect(statuses.length).toBeGreaterThanOrEqual(5)
    expect(new Set(statuses)).toEqual(new Set(['valid']))
  })
})
