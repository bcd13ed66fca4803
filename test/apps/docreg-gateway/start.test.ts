import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openIdentity } from '#operate/identity.ts'
import { ensureSecret } from '#operate/secrets.ts'
import { readConfig } from '#settings/config.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { localAnvil } from '../../support/anvil.ts'
import { COMPILE_CACHE } from '../../support/compile-cache.ts'
import { ADA, randomKey } from '../../support/given.ts'
import { freePort, serveHttp } from '../../support/http.ts'
import { transact } from '../../support/transact.ts'
import { type LocalGateway, localGateway } from './local-gateway.ts'

/** The files of what is shown once. */
const FIRST = ['first-api-key', 'first-desk-link']
const KEY = 'a-first-key-given-from-outside'

let dataDir: string
let env: Record<string, string>
let url: string
let running: Run | undefined

type Run = { child: ChildProcess; output: () => string; ended: Promise<number> }

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'document-registry-'))
  const [port, chainPort] = [await freePort(), await freePort()]
  url = `http://127.0.0.1:${port}`
  env = { PORT: `${port}`, CHAIN_PORT: `${chainPort}`, DATA_DIR: dataDir }
})
afterEach(async () => {
  if (running?.child.exitCode === null && running.child.signalCode === null) {
    await ready()
    await stop('SIGTERM')
  }
  rmSync(dataDir, { recursive: true, force: true })
})

function anvilOf(dir: string): number {
  const anvil = localAnvil(join(dir, 'chain'))
  if (anvil === undefined) throw new Error(`no Anvil runs for ${dir}`)
  return anvil.pid
}

/** `npm start` as a process group of its own, as a shell would. */
const npmStart = (more?: Record<string, string>) => run('npm', ['start'], more)

/** What `npm start` runs, in less time. */
const start = (more?: Record<string, string>) =>
  run(process.execPath, ['scripts/docreg-gateway.mjs', 'start'], more)

/** Starts a gateway with its chain in this process, for what is the same there. */
async function startHere(more: Record<string, string> = {}): Promise<LocalGateway> {
  const gateway = localGateway({ ...env, API_KEY: KEY, ...more })
  onTestFinished(gateway.stop)
  await gateway.start()
  return gateway
}

function run(program: string, args: readonly string[], more: Record<string, string> = {}): Run {
  const child = spawn(program, args, {
    detached: true,
    // Nothing else of this process: Vitest sets a BASE_URL of its own.
    env: { ...COMPILE_CACHE, PATH: process.env.PATH, HOME: process.env.HOME, ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      text += chunk
    })
  const ended = new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? -1))
  })
  running = { child, output: () => text, ended }
  return running
}

async function ready(at = url): Promise<void> {
  await expect
    .poll(
      () =>
        fetch(`${at}/readyz`).then(
          ({ status }) => status,
          () => 0,
        ),
      { interval: 50 },
    )
    .toBe(200)
}

const group = (run = running) => -(run?.child.pid ?? Number.NaN)

/** @returns Its exit code. */
async function stop(signal: NodeJS.Signals, run = running): Promise<number | undefined> {
  process.kill(group(run), signal)
  return run?.ended
}

async function send(key: string, fields: object, at: string, headers: object = {}) {
  const response = await fetch(`${at}/v1/documents`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(fields),
  })
  const { data } = (await response.json()) as { data: Record<string, string> }
  return { status: response.status, replayed: response.headers.get('idempotency-replayed'), data }
}

const issue = async (key = KEY, fields: object = ADA, at = url) =>
  (await send(key, fields, at)).data

/** Repeats its request. */
const issueOnce = (key = KEY) => send(key, ADA, url, { 'idempotency-key': 'once' })

async function verify(publicId = '', key = KEY, at = url) {
  const response = await fetch(`${at}/v1/verify?publicId=${publicId}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { data } = (await response.json()) as {
    data: { status: string; blockchainProof: object }
  }
  return data
}

async function signIn(link: string) {
  const response = await fetch(`${url}/v1/session/invitation`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ invitation: link.split('#invitation=')[1] }),
  })
  const { data } = (await response.json()) as { data: { person?: object } }
  return { status: response.status, person: data.person }
}

async function chainAnswers(): Promise<boolean> {
  return fetch(`http://127.0.0.1:${env.CHAIN_PORT}`, { method: 'POST' }).then(
    () => true,
    () => false,
  )
}

test('starts, prints what to paste, stops, starts again and finds everything', async () => {
  const first = npmStart()
  await ready()
  // The output is no terminal: the key is in a file of its owner, and nowhere in the output.
  const file = join(dataDir, 'first-api-key')
  const key = readFileSync(file, 'utf8').trim()
  expect(key).toMatch(/^drk_/)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(first.output()).not.toContain('drk_')
  const link = readFileSync(join(dataDir, 'first-desk-link'), 'utf8').trim()
  expect(link).toMatch(new RegExp(`^http://localhost:${env.PORT}/desk#invitation=dri_[\\w-]{43}$`))
  expect(statSync(join(dataDir, 'first-desk-link')).mode & 0o777).toBe(0o600)
  expect(first.output()).not.toContain('dri_')
  const given = /^ *(export API_KEY=.*)$/m.exec(first.output())?.[1]
  expect(given).toBe(`export API_KEY=$(cat '${file}')`)
  const printed = first.output().split('\n')
  const commands = printed.filter((line) => /^ {2,}\S.*(curl|"|')/.test(line))
  const pasted = await paste(`${given}\n${commands.join('\n')}`)
  expect(pasted).toContain('"valid":true')
  for (const name of ['secrets/issuer.key', 'secrets/issuer.secret', 'keys.db', 'gateway.db'])
    expect(statSync(join(dataDir, name)).mode & 0o077).toBe(0)
  expect(readFileSync(join(dataDir, 'keys.db'), 'latin1')).not.toContain(key)
  expect(await issueOnce(key)).toMatchObject({ status: 201, replayed: null })
  const { publicId } = await issue(key)
  const { blockchainProof } = await verify(publicId, key)
  await stop('SIGTERM')
  expect(await chainAnswers()).toBe(false)

  const second = npmStart()
  await ready()
  // The first start's link has no expiry.
  expect(await signIn(link)).toMatchObject({ status: 201, person: { role: 'administrator' } })
  expect(await signIn(link)).toMatchObject({ status: 401 })
  expect(await issueOnce(key)).toMatchObject({ status: 201, replayed: 'true' })
  expect(second.output()).not.toContain('drk_')
  expect(readFileSync(file, 'utf8').trim()).toBe(key)
  expect(second.output()).toContain('$API_KEY')
  expect(await verify(publicId, key)).toMatchObject({
    status: 'valid',
    blockchainProof: { ...blockchainProof, finality: expect.any(String) },
  })
})

function paste(command: string): Promise<string> {
  const shell = spawn('sh', ['-c', command], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  shell.stdout.on('data', (chunk) => {
    output += chunk
  })
  return new Promise((resolve) => {
    shell.on('close', () => resolve(output))
  })
}

test('keeps acknowledged documents after kill -9 of the group, Anvil included', async () => {
  const issued: { publicId: string | undefined; proof: object }[] = []
  for (let i = 0; i < 3; i++) {
    start({ API_KEY: KEY })
    await ready()
    for (const { publicId, proof } of issued) {
      const { status, blockchainProof } = await verify(publicId)
      expect(status).toBe('valid')
      expect(blockchainProof).toMatchObject({ ...proof, finality: expect.any(String) })
    }
    const { publicId } = await issue()
    issued.push({ publicId, proof: (await verify(publicId)).blockchainProof })
    if (i % 2 === 1) process.kill(anvilOf(dataDir), 'SIGKILL')
    await stop('SIGKILL')
  }
})

test.each([
  { WAIT_SECONDS: '1', RPC_TIMEOUT_SECONDS: '60' },
  { WAIT_SECONDS: '60', RPC_TIMEOUT_SECONDS: '1' },
])('answers every request in time while Anvil hangs, with %o', async (more) => {
  await startHere(more)
  const { publicId = '' } = await issue()
  const statusOf = (path: string, body?: object, headers?: object) =>
    fetch(`${url}/v1/${path}`, {
      headers: {
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    }).then(({ status }) => status)
  const pid = anvilOf(dataDir)
  process.kill(pid, 'SIGSTOP')
  const began = performance.now()
  const statuses = await Promise.all([
    statusOf(`verify?publicId=${publicId}`),
    statusOf(`documents/${publicId}`),
    statusOf(`documents/${publicId}/bundle`),
    statusOf(`documents/${publicId}/revoke`, {}),
    statusOf('documents', ADA, { 'idempotency-key': 'hung' }),
    statusOf('documents', ADA),
  ])
  const took = performance.now() - began
  process.kill(pid, 'SIGCONT')
  const [verified, ...others] = statuses
  const issued = others.pop()
  // A head that was read just before is good for a moment more.
  expect([200, 503]).toContain(verified)
  expect(others).toEqual([503, 503, 503, 503])
  // It is refused if the outage was known when it came.
  expect([202, 503]).toContain(issued)
  // The other of the two limits is 60 s.
  expect(took).toBeLessThan(50_000)
  await ready()
  expect((await verify(publicId)).status).toBe('valid')
})

describe('stopping', () => {
  test('one or two signals to the group stop the chain too, and lose nothing', async () => {
    const signals = [['SIGINT'], ['SIGINT', 'SIGINT'], ['SIGHUP']] as const
    let publicId: string | undefined
    for (const [last, ...others] of signals) {
      npmStart({ API_KEY: KEY })
      await ready()
      if (publicId) expect((await verify(publicId)).status).toBe('valid')
      publicId = (await issue()).publicId
      for (const signal of others) process.kill(group(), signal)
      await stop(last)
      expect(await chainAnswers()).toBe(false)
    }
    // To npm alone.
    const { child, ended } = npmStart({ API_KEY: KEY })
    await ready()
    expect((await verify(publicId)).status).toBe('valid')
    child.kill('SIGTERM')
    await ended
    await expect.poll(chainAnswers).toBe(false)
  })

  test('stops although a client never ends its request', async () => {
    const gateway = await startHere()
    const dribble = httpRequest(`${url}/v1/documents`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        'content-length': 1000,
      },
    })
    dribble.on('error', () => {})
    dribble.write('{')
    await new Promise((resolve) => setTimeout(resolve, 200))
    await gateway.stop()
    expect(await chainAnswers()).toBe(false)
  })
})

test('prints no key, secret or publicId', async () => {
  const { output } = start({ API_KEY: KEY, LOG_LEVEL: 'debug' })
  await ready()
  const subjectName = 'Nobody Printed This'
  const { publicId = '' } = await issue(KEY, { ...ADA, subjectName })
  await verify(publicId)
  await fetch(`${url}/qr/${publicId}`)
  await fetch(`${url}/qr/${publicId.slice(0, -1)}2`)
  await fetch(`${url}/v1/documents/${publicId}`)
  await stop('SIGTERM')
  const secret = readFileSync(join(dataDir, 'secrets/issuer.secret'), 'utf8')
  for (const text of [KEY, secret.trim().slice(2), publicId, subjectName])
    expect(output()).not.toContain(text)
  expect(readFileSync(join(dataDir, 'keys.db'), 'latin1')).not.toContain(KEY)
})

describe('beside a running service', () => {
  test('refuses a second start and a copy on the same ports; permits a copy on others', async () => {
    start({ API_KEY: KEY })
    const live = running
    await ready()
    const { publicId: before } = await issue()
    const anvil = anvilOf(dataDir)
    const port = String(await freePort())
    const otherPorts = { PORT: port, CHAIN_PORT: String(await freePort()) }
    const beside = (more: Record<string, string>) => {
      const other = start({ API_KEY: KEY, ...more })
      running = live
      return other
    }

    const second = beside(otherPorts)
    expect(await second.ended).toBe(1)
    expect(second.output()).toMatch(/DATA_DIR|data folder|already/i)

    const copy = `${dataDir}-copy`
    onTestFinished(() => rmSync(copy, { recursive: true, force: true }))
    expect(spawnSync('cp', ['-r', dataDir, copy]).status).toBe(0)
    const onItsPorts = beside({ DATA_DIR: copy })
    expect(await onItsPorts.ended).toBe(1)
    expect(onItsPorts.output()).toContain('CHAIN_PORT')
    expect(anvilOf(dataDir)).toBe(anvil)
    expect((await verify((await issue()).publicId)).status).toBe('valid')

    const drill = beside({ DATA_DIR: copy, ...otherPorts })
    const at = `http://127.0.0.1:${port}`
    await ready(at)
    expect(anvilOf(copy)).not.toBe(anvil)
    expect((await verify(before, KEY, at)).status).toBe('valid')
    const { publicId: ofTheDrill } = await issue(KEY, ADA, at)
    const { publicId: ofTheService } = await issue()
    expect((await verify(ofTheDrill, KEY, at)).status).toBe('valid')
    expect((await verify(ofTheDrill)).status).toBe('not_issued')
    expect((await verify(ofTheService)).status).toBe('valid')
    expect(await stop('SIGTERM', drill)).toBe(0)
    expect(anvilOf(dataDir)).toBe(anvil)
    expect((await verify((await issue()).publicId)).status).toBe('valid')
    expect(live?.output()).not.toMatch(/Anvil|replay/i)
    expect(await stop('SIGTERM', live)).toBe(0)
    for (const dir of [dataDir, copy]) expect(localAnvil(join(dir, 'chain'))).toBeUndefined()
  })
})

test('binds a data folder to a registry, an issuer and a secret, not to an account', async () => {
  const gateway = await startHere()
  const { publicId, registry = '' } = (await issueOnce()).data
  const key = randomKey()
  const managerKey = ensureSecret(dataDir, 'manager.key')
  const chain = createFetchProvider(`http://127.0.0.1:${env.CHAIN_PORT}`)
  await transact(chain, registry, managerKey, 'addAccount', [1, new Wallet(key).address, 3])
  await gateway.stop()

  const { message } = await gateway.start({ ISSUER_SECRET: randomKey() }).catch((error) => error)
  expect(message).toMatch(/^DATA_DIR belongs to another gateway/)
  expect(message).toMatch(
    /issuer secret with the fingerprint 0x[0-9a-f]{16}… is missing .*ISSUER_SECRET/,
  )
  expect(message).not.toMatch(/0x[0-9a-f]{64}/)
  expect(await chainAnswers()).toBe(false)

  // The folder stayed as it was, and another account of the same issuer goes on with it.
  await gateway.start({ ISSUER_KEY: key })
  expect((await issueOnce()).data.publicId).toBe(publicId)
  expect((await verify(publicId)).status).toBe('valid')
  expect((await verify((await issue()).publicId)).status).toBe('valid')
  await gateway.stop()

  rmSync(join(dataDir, 'secrets', 'admin.key'))
  const elsewhere = await gateway.start().catch((error) => error)
  expect(elsewhere.message).toMatch(
    /registry is eip155:31337:0x\w+, not eip155:31337:0x\w+: set RPC_URL/,
  )
  expect(elsewhere.message).not.toContain('issuer secret')
})

describe('cannot start', () => {
  test('names every bad variable', async () => {
    const { output, ended } = start({
      PORT: 'http',
      RPC_URL: 'ftp://node',
      ISSUER_KEY: 'secret-in-the-wrong-form',
      API_KEY: 'not a token',
    })
    expect(await ended).toBe(1)
    for (const name of ['PORT', 'RPC_URL', 'ISSUER_KEY', 'API_KEY'])
      expect(output()).toContain(name)
    expect(output()).not.toContain('secret-in-the-wrong-form')
  })

  const opened = (settings: Record<string, string>) =>
    openIdentity(readConfig({ ...env, ...settings }), [], () => {})

  test('refuses another chain without the secrets for it', () => {
    const settings = { ...env, RPC_URL: 'http://127.0.0.1:1' }
    for (const name of ['ISSUER_KEY', 'ISSUER_SECRET'])
      expect(() => readConfig(settings)).toThrow(`${name} is required`)
  })

  test('refuses another issuer than that of the local chain', async () => {
    await expect(opened({ ISSUER_ID: '2' })).rejects.toThrow('ISSUER_ID must be 1')
  })

  test('refuses a CHAIN_PORT that another program uses', async () => {
    const stranger = await serveHttp((_, response) => response.end('hello'))
    const { port } = new URL(stranger.url)
    await expect(opened({ CHAIN_PORT: port })).rejects.toThrow('CHAIN_PORT')
    await stranger.close()
  })

  test('refuses a PORT that another program uses', async () => {
    const stranger = await serveHttp((_, response) => response.end('hello'))
    const { port } = new URL(stranger.url)
    const { output, ended } = start({ PORT: port })
    expect(await ended).toBe(1)
    expect(output()).toContain('set PORT')
    expect(output()).not.toContain('at ')
    expect(await chainAnswers()).toBe(false)
    await stranger.close()
    // The key was not shown, so it must not have been made.
    for (const file of FIRST) expect(existsSync(join(dataDir, file))).toBe(false)
    const again = start()
    await ready()
    expect(again.output()).toContain('export API_KEY=')
    for (const file of FIRST) expect(existsSync(join(dataDir, file))).toBe(true)
  })
})
