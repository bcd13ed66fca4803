import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { goTool } from '#tools/go-tool.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { COMPILE_CACHE } from '../support/compile-cache.ts'
import { type GethNode, gethBinary, startGethNode } from '../support/geth.ts'
import { randomKey } from '../support/given.ts'
import { freePort } from '../support/http.ts'
import { transact } from '../support/transact.ts'
import { readPage, root } from './markdown.ts'
import { deploySafe, type Safe } from './safe.ts'

// Runs docs/go-live.md from its first command to its last, on a chain with real blocks and fees.

const PAGE = 'docs/go-live.md'
/** Of `geth --dev`. */
const CHAIN_ID = 1337
const FORGED: Hex = `0x${'f0'.repeat(32)}`
const TIMEOUT = 600_000

const geth = await gethBinary()
const caddy = await goTool({
  module: 'github.com/caddyserver/caddy/v2',
  version: 'v2.11.9',
  command: './cmd/caddy',
})
const hasCast = spawnSync('cast', ['--version']).status === 0
if (!hasCast && process.env.CI === 'true') throw new Error('cast is missing')
const runs = geth !== undefined && caddy !== undefined && hasCast
if (!runs) console.error(`skipped: ${PAGE} needs geth, Caddy and cast`)

const blocks = readPage(PAGE).blocks.filter(({ language }) => language === 'sh')
const [port, proxyPort, httpPort] = [await freePort(), await freePort(), await freePort()]
const local = `http://127.0.0.1:${port}`
const [payer, ...owners] = [randomKey(), randomKey(), randomKey(), randomKey()]

let folder: string
let env: Record<string, string>
let node: GethNode
let admin: Safe
let issuer: Safe
let stolenKey: Hex
/** Processes that run until the end, by their example. */
const running = new Map<string, ChildProcess>()

beforeAll(async () => {
  if (!runs) return
  folder = mkdtempSync(join(tmpdir(), 'document-registry-go-live-'))
  const checkout = join(folder, 'checkout')
  mkdirSync(checkout)
  for (const name of readdirSync(root))
    if (!['.git', 'data', 'venv'].includes(name))
      symlinkSync(join(root, name), join(checkout, name))
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'docreg'), `#!/bin/sh\nexec node "${root}apps/docreg/docreg.ts" "$@"\n`)
  chmodSync(join(bin, 'docreg'), 0o755)
  symlinkSync(caddy, join(bin, 'caddy'))

  forgetDeployment()
  // Public networks have the deployment proxy; here the deployment creates it.
  node = await startGethNode(geth, join(folder, 'geth'), ['--rpc.allow-unprotected-txs'])
  await node.fund(new Wallet(payer).address)
  const provider = createFetchProvider(node.url)
  admin = await deploySafe(provider, payer, owners)
  issuer = await deploySafe(provider, payer, owners)
  env = {
    ...COMPILE_CACHE,
    PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: process.env.HOME ?? '',
    PORT: `${port}`,
    LOG_LEVEL: 'error',
    rpc: node.url,
    domain: `localhost:${proxyPort}`,
    otherDisk: folder,
    // An address may have these characters.
    rpcs: `${node.url}/?key=1&more=2`,
    adminWallet: admin.address,
    issuerWallet: issuer.address,
    // Of this test only: Caddy's own authority signs for localhost.
    XDG_DATA_HOME: join(folder, 'caddy'),
    CURL_CA_BUNDLE: join(folder, 'caddy/caddy/pki/authorities/local/root.crt'),
    Caddyfile: join(folder, 'Caddyfile'),
    GATEWAY: `127.0.0.1:${port}`,
  }
  const options = `{\n\thttp_port ${httpPort}\n\tskip_install_trust\n\tadmin off\n}\n`
  const caddyfile = readFileSync(join(root, 'deployments/caddy/Caddyfile'), 'utf8')
  writeFileSync(env.Caddyfile ?? '', options + caddyfile)
}, TIMEOUT)

afterAll(async () => {
  if (!runs) return
  for (const name of running.keys()) await stop(name)
  await node?.kill()
  forgetDeployment()
  rmSync(folder, { recursive: true, force: true })
})

/** The commands of a checkout write there by their own path, not by the links to it. */
function forgetDeployment(): void {
  rmSync(join(root, `deployments/${CHAIN_ID}`), { recursive: true, force: true })
}

function shell(code: string): ChildProcess {
  const own = code
    .replace('deployments/caddy/Caddyfile', '"$Caddyfile"')
    .replace('http://127.0.0.1:3000', local)
    .replace(/ @(\w+\.txt)/, ` @${join(folder, 'checkout')}/$1`)
  // Hardhat would build again in a checkout made of links.
  const cwd = code.includes('docreg registry') ? root : join(folder, 'checkout')
  return spawn('sh', ['-euc', own], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
}

function codeOf(has: string): string {
  const found = blocks.filter(({ code }) => code.includes(has))
  expect(found, has).toHaveLength(1)
  return found[0]?.code ?? ''
}

const done: string[] = []

/** Runs the one example with this text. @returns What it printed. */
async function run(has: string): Promise<string> {
  done.push(has)
  const child = shell(codeOf(has))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk
    })
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect(code, `${has}:\n${output}`).toBe(0)
  return output
}

/** Starts an example that runs until it is stopped. @returns Its output so far, at each call. */
function launch(has: string): () => string {
  done.push(has)
  const child = shell(codeOf(has))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk
    })
  running.set(has, child)
  return () => output
}

async function stop(has: string): Promise<void> {
  const child = running.get(has)
  running.delete(has)
  if (!child || child.exitCode !== null) return
  const closed = new Promise((resolve) => child.on('close', resolve))
  process.kill(-(child.pid ?? Number.NaN), 'SIGTERM')
  await closed
}

async function startService(): Promise<void> {
  const output = launch('npm start')
  await expect
    .poll(() => fetch(`${local}/readyz`).then(({ status }) => status, output), { interval: 200 })
    .toBe(200)
  env.API_KEY ??= readFileSync(join(folder, 'checkout/data/first-api-key'), 'utf8').trim()
}

/** Lets a wallet send the call that a command has printed. */
async function sendBy(wallet: Safe, printed: string): Promise<void> {
  const field = (name: string) => new RegExp(`^${name} +(\\S+)`, 'm').exec(printed)?.[1] ?? ''
  expect(field('from')).toBe(wallet.address)
  await wallet.execute({ to: field('to') as Hex, data: field('data') })
}

const addressIn = (printed: string) => /^Address: +(0x\w{40})$/m.exec(printed)?.[1] ?? ''
const openKey = async (name: string) => {
  const file = readFileSync(join(folder, 'checkout/keys', name), 'utf8')
  const password = readFileSync(join(folder, 'checkout/keys/password'), 'utf8').trim()
  return (await Wallet.fromEncryptedJson(file, password)).privateKey as Hex
}

async function lookUp(publicId: string): Promise<{ status: string; documentHash: Hex }> {
  const response = await fetch(`${local}/v1/documents/${publicId}`, {
    headers: { authorization: `Bearer ${env.API_KEY}` },
  })
  return ((await response.json()) as { data: { status: string; documentHash: Hex } }).data
}

const statusOf = async (publicId: string) => (await lookUp(publicId)).status

/** Issues another document. @returns Its publicId, once it is anchored. */
async function issueOther(): Promise<string> {
  const response = await fetch(`${local}/v1/documents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${env.API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      subjectName: 'Zoë Müller',
      subjectId: '2',
      category: 'diploma',
      issuedAt: '2026-02-01',
    }),
  })
  const { publicId } = ((await response.json()) as { data: { publicId: string } }).data
  await expect.poll(() => statusOf(publicId), { interval: 500 }).toBe('valid')
  return publicId
}

/** What the thief released is released, and what it revoked over a suspension is held again. */
async function repair(released: Hex, held: Hex): Promise<void> {
  const printed = await run('--out theft')
  for (const finding of [released, `${held}: revoked`]) expect(printed).toContain(finding)
  const fileOf = (name: string) => join(folder, 'checkout', name)
  const listed = readFileSync(fileOf('repair.txt'), 'utf8').trim().split('\n')
  expect(listed.sort()).toEqual([released, held].sort())
  writeFileSync(fileOf('repair.txt'), `${released}\n`)
  writeFileSync(fileOf('holds.txt'), `${held}\n`)
  await sendBy(issuer, await run('set-permissions 1'))
  await sendBy(issuer, await run('@repair.txt'))
  await sendBy(issuer, await run('@holds.txt'))
}

describe.skipIf(!runs)('go-live.md, from the first command to the last', () => {
  let publicId: string

  test(
    'deploys, registers an issuer, and issues a document behind a TLS proxy',
    async () => {
      env.gateway = addressIn(await run('cast wallet new keys gateway'))
      await node.fund(env.gateway)
      env.DEPLOYER_KEY = payer
      expect(await run('docreg registry deploy')).toContain('registry')
      delete env.DEPLOYER_KEY
      env.CUSTOM_RPC_URL = node.url
      expect(await run('docreg registry check')).toContain(admin.address)
      await sendBy(admin, await run('register-issuer'))
      await sendBy(issuer, await run('add-account 1 "$gateway"'))
      await run('gateway.env.example > gateway.env')
      await startService()
      const proxy = launch('caddy run')
      await expect.poll(proxy).toContain('serving initial configuration')
      await expect.poll(() => existsSync(env.CURL_CA_BUNDLE ?? '')).toBe(true)
      env.API_KEY =
        /drk_\S+/.exec(
          await run('docreg-gateway keys create --scope documents:issue --scope'),
        )?.[0] ?? ''
      const { success, data } = JSON.parse((await run('curl -sS "https://$domain')).trim())
      expect(success).toBe(true)
      expect(data.verifyUrl).toContain(`https://localhost:${proxyPort}/verify#`)
      publicId = data.publicId
      env.registry = data.registry
      const outside = spawnSync(
        'curl',
        ['-sS', `https://${env.domain}/metrics`, '-w', '%{http_code}'],
        {
          env,
          encoding: 'utf8',
        },
      )
      expect(outside.stdout).toBe('404')
      await stop('caddy run')
      await run('docreg identity')
      expect(readFileSync(join(folder, 'checkout/did.json'), 'utf8')).toContain(
        'did:web:example.edu',
      )
      expect(await run('backups/first')).toMatch(/restored/)
      expect(await run('docreg-gateway fsck')).not.toContain(publicId)
    },
    TIMEOUT,
  )

  test(
    'keeps the document over an upgrade and a new secret',
    async () => {
      const key = env.API_KEY
      await run('backups/before-upgrade')
      await stop('npm start')
      await run('sed -i "s|^ISSUER_SECRET=|')
      await startService()
      env.API_KEY = key ?? ''
      expect(await statusOf(publicId)).toBe('valid')
    },
    TIMEOUT,
  )

  test(
    'repairs the theft of the key, but not what the thief issued',
    async () => {
      const key = env.API_KEY ?? ''
      const watch = launch('--follow')
      await expect.poll(watch, { interval: 500 }).toContain('following from')
      // Before the gateway's document, so that this reads Distrusted too.
      env.block = '1'
      stolenKey = await openKey('gateway')
      const provider = createFetchProvider(node.url)
      const heldId = await issueOther()
      const { documentHash: released } = await lookUp(publicId)
      const { documentHash: held } = await lookUp(heldId)
      for (const [name, ...args] of [
        ['issue', FORGED, 0],
        ['revoke', released, 6],
        ['release', released],
        ['revoke', held, 6],
        ['revoke', held, 1],
      ] as const)
        await transact(provider, env.registry ?? '', stolenKey, name, [1, ...args])
      const { stdout } = spawnSync('sh', ['-euc', codeOf('docreg-gateway fsck')], {
        cwd: join(folder, 'checkout'),
        env,
        encoding: 'utf8',
      })
      expect(stdout).toContain(FORGED)
      await sendBy(issuer, await run('distrust-account 1'))
      expect(await statusOf(publicId)).toBe('distrusted')
      env.nextGateway = addressIn(await run('cast wallet new keys next'))
      await node.fund(env.nextGateway)
      await sendBy(issuer, await run('add-account 1 "$nextGateway"'))
      await stop('npm start')
      await run('sed -i -e "s|^ISSUER_KEYSTORE=')
      await startService()
      await stop('npm start')
      expect(await run('> own-documents.txt')).toContain('distrusted  2 documents, 0 batches')
      expect(await run('--only own-documents.txt --send')).toContain('issued      2 documents in')
      await startService()
      env.API_KEY = key
      expect(await statusOf(publicId)).toBe('suspended')
      expect(await statusOf(heldId)).toBe('revoked')
      await repair(released, held)
      expect(await statusOf(publicId)).toBe('valid')
      expect(await statusOf(heldId)).toBe('suspended')
      const alerts = () =>
        readFileSync(join(folder, 'checkout/alerts.ndjson'), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).alert)
      // Of what happened before, as much as was not final when the watch began.
      const last = () => alerts().slice(-3)
      const steps = ['account_distrusted', 'account_added', 'permissions_changed']
      await expect.poll(last).toEqual(steps)
      await stop('--follow')
    },
    TIMEOUT,
  )

  test('has run every command of the page', () => {
    const ran = new Set(done.map(codeOf))
    expect(blocks.filter(({ code }) => !ran.has(code)).map(({ at }) => at)).toEqual([])
  })
})

test('the table of costs is what the command prints', () => {
  const text = readFileSync(join(root, PAGE), 'utf8')
  const tables = [...text.matchAll(/<!-- costs ?(.*?) ?-->\n((?:\|.*\n)+)/g)]
  expect(tables).toHaveLength(1)
  for (const [, args = '', table] of tables) {
    const command = [
      join(root, 'apps/docreg/docreg.ts'),
      'registry',
      'costs',
      ...args.split(' ').filter(Boolean),
    ]
    expect(spawnSync(process.execPath, command, { encoding: 'utf8' }).stdout).toBe(table)
  }
})

test.for(['', '-watch'])('systemd accepts the unit document-registry%s', (name, context) => {
  const unit = join(root, `deployments/systemd/document-registry${name}.service`)
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) {
    if (process.env.CI === 'true') throw new Error('systemd-analyze is missing')
    return context.skip('systemd-analyze is missing')
  }
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  // Findings in the file begin with its path; that the program is not installed does not.
  const findings = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(unit))
  expect(findings).toEqual([])
})
