import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { docreg } from '../support/docreg.ts'
import { freePort } from '../support/http.ts'
import { IS_LONG } from '../support/long.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts'
import { type RemoteIssuer, startRemoteIssuer } from '../support/remote-issuer.ts'
import { ADA, type Answer, requestsTo } from '../support/stack.ts'
import { buildImage, type Container, type Image, runImage, whyNoImage } from './image.ts'

// Builds the image and runs it with a read-only root against a PostgreSQL and a chain of others.

const why = IS_LONG ? whyNoImage() : undefined
// biome-ignore lint/style/noProcessEnv: this decides between a skipped test and a failure.
if (why !== undefined && process.env.CI) throw new Error(why)
// biome-ignore lint/suspicious/noConsole: a skipped test needs a reason.
if (why !== undefined) console.warn(`skipped: ${why}`)
const postgres = IS_LONG ? postgresFolder() : undefined

const TIMEOUT = 900_000

describe.runIf(IS_LONG && why === undefined && postgres !== undefined)('the image', () => {
  let folder: string
  let image: Image
  let server: PostgresServer
  let issuer: RemoteIssuer
  let url: string
  let settings: Record<string, string>
  let volumes: Record<string, string>

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'document-registry-image-'))
    image = await buildImage(folder)
    server = await startPostgres(postgres ?? '')
    issuer = await startRemoteIssuer(folder, ['--chain-id', '4321'], 1)
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    settings = {
      ...issuer.env,
      ISSUER_KEY: issuer.keys.issuer,
      DATABASE_URL: await server.newDatabase(),
      LOCK_SECONDS: '3',
      // The container shares the network of this machine.
      HOST: '127.0.0.1',
      PORT: `${port}`,
    }
    volumes = Object.fromEntries(
      Object.keys(image.config.Volumes).map((path) => {
        const source = join(folder, path)
        mkdirSync(source)
        chownSync(source, 1000, 1000)
        return [path, source]
      }),
    )
  }, TIMEOUT)
  afterAll(async () => {
    await issuer?.anvil.kill()
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  }, TIMEOUT)

  const start = (args: readonly string[], env: Record<string, string>) =>
    runImage(folder, image, args, env, volumes)

  async function started(env: Record<string, string>): Promise<Container> {
    const gateway = start([], env)
    onTestFinished(async () => {
      if (gateway.isRunning()) await gateway.signal('KILL')
      await gateway.ended
    })
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    while (!(await isReady())) {
      if (!gateway.isRunning()) throw new Error((await gateway.ended).stderr)
      await sleep(50)
    }
    return gateway
  }

  test('has the files that the gateway reads, and none of the build machine', () => {
    const app = join(image.root, 'app')
    // biome-ignore lint/suspicious/noConsole: the documents state it.
    console.info(`base ${image.size.base}, image ${image.size.whole}`)
    expect(readdirSync(join(app, 'deployments'))).toEqual(['1'])
    const modules = readdirSync(join(app, 'node_modules'))
    expect(modules).toContain('ethers')
    for (const name of [...Object.keys(manifest.devDependencies), 'bait'])
      expect(modules).not.toContain(name)
    for (const path of ['app/test', 'app/contracts', 'app/data', 'root/.npmrc', 'checkout'])
      expect(existsSync(join(image.root, path)), path).toBe(false)
  })

  test('runs as a user without rights, on files that it cannot change', async () => {
    const gateway = await started(settings)
    const script = 'id -u; grep -E "^(CapEff|NoNewPrivs)" /proc/self/status; touch /app/x /x'
    const { stdout, stderr } = await gateway.exec(['sh', '-c', script])
    expect(stdout).toMatch(/^1000\nCapEff:\s+0+\nNoNewPrivs:\s+1\n$/)
    expect(stderr.match(/Read-only file system/g)).toHaveLength(2)
    const [kind, ...check] = image.config.Healthcheck.Test
    expect(kind).toBe('CMD')
    expect((await gateway.exec(check)).code).toBe(0)
    expect((await gateway.exec(['env', `PORT=${await freePort()}`, ...check])).code).toBe(1)
    await gateway.signal('TERM')
    expect((await gateway.ended).code).toBe(0)
  })

  test.each([
    { name: 'PostgreSQL', subject: '1', database: {} },
    { name: 'SQLite', subject: '2', database: { DATABASE_URL: '', DATA_DIR: '/data/sqlite' } },
  ])('keeps the promises of $name after a kill', async ({ subject, database }) => {
    const env = { ...settings, ...database }
    let gateway = await started(env)
    const scopes = ['issue', 'read', 'erase'].flatMap((scope) => ['--scope', `documents:${scope}`])
    const created = await gateway.exec(['docreg-gateway', 'keys', 'create', ...scopes])
    expect(created.code, created.stderr).toBe(0)
    const listed = await start(['keys', 'list'], env).ended
    expect(listed.stdout).toContain('documents:erase')

    const request = requestsTo(url)
    const headers = { authorization: `Bearer ${created.stdout.trim()}` }
    const post = (path: string, body: string, type: string, key: string) => {
      const more = { 'content-type': type, 'idempotency-key': key }
      return request(path, { method: 'POST', body, headers: { ...headers, ...more } })
    }
    const ada = (id: string) => JSON.stringify({ ...ADA, subjectId: `${subject}${id}` })
    const issue = (id: string) => post('/v1/documents', ada(id), 'application/json', id)
    const asked = ['--registry', issuer.registry, '--rpc', issuer.anvil.url, '--ipfs', url]
    const verify = (stdin: string) => docreg(['verify', '-', ...asked, '--no-identity'], { stdin })
    const expectValid = async ({ status, body }: Answer) => {
      expect(status).toBe(201)
      const { code, stdout } = await verify(body.data.publicId)
      expect(code, stdout).toBe(0)
    }
    await expectValid(await issue('1'))

    // The kill finds these in the pool of the node.
    const { anvil } = issuer
    await anvil.request('evm_setAutomine', false)
    const ids = ['2', '3', '4']
    const cut = Promise.allSettled(ids.map(issue))
    const pending = async () => (await anvil.request<{ pending: string }>('txpool_status')).pending
    await expect.poll(pending).not.toBe('0x0')
    await gateway.signal('KILL')
    expect((await gateway.ended).code).toBe(137)
    expect((await cut).map(({ status }) => status)).toEqual(ids.map(() => 'rejected'))
    await anvil.request('evm_setAutomine', true)
    await anvil.request('evm_mine')

    gateway = await started(env)
    for (const id of ['1', ...ids]) await expectValid(await issue(id))

    // A batch is sealed in a thread.
    const two = [ada('5'), ada('6')].join('\n')
    const batch = await post('/v1/batches', two, 'application/x-ndjson', 'two')
    expect(batch.status).toBe(201)
    const lines = Buffer.from(batch.body).toString().trim().split('\n')
    const [first, last] = lines.map((line) => JSON.parse(line).data.publicId)
    expect((await verify(first)).code).toBe(0)
    const path = `/v1/documents/${last}/payload`
    expect((await request(path, { method: 'DELETE', headers })).status).toBe(200)
    const erased = readFileSync(join(folder, 'erasures/erased-documents.txt'), 'utf8')
    expect(erased.match(/^0x/gm)).toHaveLength(Number(subject))
    const { body } = await request('/v1/documents', { headers })
    expect(body.data.documents).toHaveLength(1 + ids.length + 2)
    await gateway.signal('TERM')
    expect((await gateway.ended).code).toBe(0)
  })

  test('start without RPC_URL says that the image has no local chain', async () => {
    const { code, stderr } = await start([], {}).ended
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('RPC_URL') })
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})
