import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { docreg } from '../support/docreg.ts'
import { freePort } from '../support/http.ts'
import { buildImage, type Container, type Image, runImage, whyNoImage } from '../support/image.ts'
import { IS_LONG } from '../support/long.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts'
import { type RemoteIssuer, startRemoteIssuer } from '../support/remote-issuer.ts'
import { ADA, type Answer, requestsTo } from '../support/stack.ts'

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
      LEASE_SECONDS: '3',
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

  const start = (args: readonly string[] = [], env = settings) =>
    runImage(folder, image, args, env, volumes)

  async function started(): Promise<Container> {
    const gateway = start()
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

  test('default: has what the gateway reads, and nothing of the machine or of its tools', () => {
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

  test('behavior: runs as a user without rights, on files that it cannot change', async () => {
    const gateway = await started()
    const script = 'id -u; grep -E "^(CapEff|NoNewPrivs)" /proc/self/status; touch /app/x /x'
    const { stdout, stderr } = await gateway.exec(['sh', '-c', script])
    expect(stdout).toMatch(/^1000\nCapEff:\s+0+\nNoNewPrivs:\s+1\n$/)
    expect(stderr.match(/Read-only file system/g)).toHaveLength(2)
    await gateway.signal('TERM')
    expect((await gateway.ended).code).toBe(0)
  })

  test('default: issues, is killed while it issues, and keeps what it promised', async () => {
    const scopes = ['documents:issue', 'documents:read'].flatMap((scope) => ['--scope', scope])
    const created = await start(['keys', 'create', ...scopes, '--label', 'Desk']).ended
    expect(created.code, created.stderr).toBe(0)
    const authorization = `Bearer ${created.stdout.trim()}`
    const request = requestsTo(url)
    const issue = (subjectId: string) =>
      request('/v1/documents', {
        method: 'POST',
        body: JSON.stringify({ ...ADA, subjectId }),
        headers: {
          authorization,
          ...{ 'content-type': 'application/json', 'idempotency-key': subjectId },
        },
      })
    const asked = ['--registry', issuer.registry, '--rpc', issuer.anvil.url, '--ipfs', url]
    const expectValid = async ({ status, body }: Answer) => {
      expect(status).toBe(201)
      const stdin = body.data.publicId
      const { code, stdout } = await docreg(['verify', '-', ...asked, '--no-identity'], { stdin })
      expect(code, stdout).toBe(0)
    }
    let gateway = await started()
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

    gateway = await started()
    await expectValid(await issue('1'))
    for (const id of ids) await expectValid(await issue(id))
    const { body } = await request('/v1/documents', { headers: { authorization } })
    expect(body.data.documents).toHaveLength(1 + ids.length)

    const [kind, ...check] = image.config.Healthcheck.Test
    expect(kind).toBe('CMD')
    expect((await gateway.exec(check)).code).toBe(0)
    expect((await gateway.exec(['env', `PORT=${await freePort()}`, ...check])).code).toBe(1)
    await gateway.signal('TERM')
    expect((await gateway.ended).code).toBe(0)
  })

  test('error: start without RPC_URL says that the image has no local chain', async () => {
    const { code, stderr } = await start([], {}).ended
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('RPC_URL') })
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})
