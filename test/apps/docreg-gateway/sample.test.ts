import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { drawPng } from '#certificates/png.ts'
import { readQrCodes } from '#cli/qr-image.ts'
import { parseRegistryId } from '#document/registry-id.ts'
import { collectIssued } from '#verifier/readers/issued-logs.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { COMPILE_CACHE } from '../../support/compile-cache.ts'
import { freePort } from '../../support/http.ts'

const KEY = 'a-first-key-given-from-outside'
const TERMINAL = new URL('../../support/terminal.py', import.meta.url).pathname

/** Skipped, and said so, where there is no Python; with CI=true that is a failure. */
const lacksPython = process.env.CI !== 'true' && spawnSync('python3', ['--version']).status !== 0

type Started = { child: ChildProcess; printed: string; log: string; ended: Promise<number> }

let folder: string
let env: Record<string, string>
let url: string
const running: Started[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const chainPort = await freePort()
  env = {
    ...COMPILE_CACHE,
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    PORT: `${port}`,
    CHAIN_PORT: `${chainPort}`,
    DATA_DIR: join(folder, 'data'),
    API_KEY: KEY,
    LOG_LEVEL: 'debug',
  }
})
afterEach(async () => {
  for (const started of running.splice(0)) await stop(started)
  rmSync(folder, { recursive: true, force: true })
})

/** `npm start` until it has printed everything; the log goes to a file. */
async function start(on: 'terminal' | 'pipe', more: Record<string, string> = {}): Promise<Started> {
  const logFile = join(folder, 'log')
  const command = `exec npm start 2>>"${logFile}"`
  const [program, ...args] =
    on === 'terminal' ? ['python3', TERMINAL, 'sh', '-c', command] : ['sh', '-c', command]
  const child = spawn(program as string, args, {
    env: { ...env, ...more },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const started: Started = {
    child,
    printed: '',
    get log() {
      return readFileSync(logFile, 'utf8')
    },
    ended: new Promise((resolve) => {
      child.on('close', (code) => resolve(code ?? -1))
    }),
  }
  running.push(started)
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    started.printed += chunk
  })
  await expect.poll(() => started.printed).toMatch(/v1\/verify\?publicId=.*\r?\n.*Bearer/)
  return started
}

async function stop({ child, ended }: Started): Promise<number> {
  child.stdin?.end()
  if (child.spawnfile === 'sh') child.kill('SIGTERM')
  return ended
}

const linkIn = (printed: string) => /^ {2}(http\S+#publicId=\S+)/m.exec(printed)?.[1]

/** @returns How many documents the registry of the local chain has. */
async function countIssued({ printed }: Started): Promise<number> {
  const [, registry = ''] = /registry {2}(\S+)/.exec(printed) ?? []
  const provider = createFetchProvider(`http://127.0.0.1:${env.CHAIN_PORT}`)
  const keys = await collectIssued(provider, parseRegistryId(registry).registry, 1, { from: 0 })
  return keys.documentHashes.length
}

/** @returns The text of the QR code that half blocks draw, dark on light. */
async function decodeTerminal(printed: string): Promise<string | undefined> {
  const lines = printed
    .split(/\r?\n/)
    .filter((line) => line.includes('48;5;231m'))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal
    .map((line) => [...line.replace(/\x1b\[[\d;]*m/g, '')])
  // An odd number of rows leaves half of the last line empty.
  const rows = lines.flatMap((line) =>
    ['▀', '▄'].map((half) => line.map((block) => block === '█' || block === half)),
  )
  const [text] = await readQrCodes(drawPng(rows.slice(0, rows[0]?.length)))
  return text
}

describe.skipIf(lacksPython)(
  lacksPython ? 'in a terminal: skipped, there is no Python' : 'in a terminal',
  () => {
    test('the first start issues a document and shows its link and QR code', async () => {
      const started = await start('terminal')
      const link = linkIn(started.printed)
      expect(link).toMatch(`${url}/verify#publicId=`)
      expect(await decodeTerminal(started.printed)).toBe(link)
      const publicId = new URLSearchParams(new URL(link ?? '').hash.slice(1)).get('publicId') ?? ''
      const verdict = await fetch(`${url}/v1/verify?publicId=${publicId}`, {
        headers: { authorization: `Bearer ${KEY}` },
      })
      expect(await verdict.json()).toMatchObject({ data: { status: 'valid' } })
      expect(await stop(started)).toBe(0)
      expect(started.log).toContain('"route":"/v1/documents"')
      expect(started.log).not.toContain(publicId)
    })

    test('uses an existing key for the sample', async () => {
      const { API_KEY, ...others } = env
      env = others
      const { printed } = await start('terminal')
      expect(printed).toContain('export API_KEY=drk_')
      expect(printed).toMatch(/^ {2}http:\/\/localhost:\d+\/desk#invitation=dri_\S{43}\r?$/m)
      for (const file of ['first-api-key', 'first-desk-link'])
        expect(existsSync(join(env.DATA_DIR ?? '', file))).toBe(false)
      expect(linkIn(printed)).toBeDefined()
    })

    test('a later start issues nothing', async () => {
      await stop(await start('pipe'))
      const again = await start('terminal')
      expect(linkIn(again.printed)).toBeUndefined()
      expect(await countIssued(again)).toBe(0)
    })

    test('a start on another chain than the local one issues nothing', async () => {
      const first = await start('pipe')
      const secret = (name: string) =>
        readFileSync(join(env.DATA_DIR ?? '', 'secrets', name), 'utf8').trim()
      const remote = await start('terminal', {
        DATA_DIR: join(folder, 'other'),
        PORT: `${await freePort()}`,
        RPC_URL: `http://127.0.0.1:${env.CHAIN_PORT}`,
        REGISTRY_ADDRESS: /registry {2}eip155:31337:(\S+)/.exec(first.printed)?.[1] ?? '',
        ISSUER_ID: '1',
        ISSUER_KEY: secret('issuer.key'),
        ISSUER_SECRET: secret('issuer.secret'),
      })
      expect(linkIn(remote.printed)).toBeUndefined()
      expect(remote.printed).toContain('docreg-gateway desk invite')
      expect(remote.printed).not.toContain('#invitation=')
      expect(await countIssued(first)).toBe(0)
    })
  },
)

test('the first start without a terminal issues nothing', async () => {
  const started = await start('pipe')
  expect(linkIn(started.printed)).toBeUndefined()
  expect(await countIssued(started)).toBe(0)
})
