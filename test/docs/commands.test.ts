import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
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
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DOCREG } from '#cli/commands.ts'
import { createParser } from '#cli/program.ts'
import { GATEWAY } from '#operate/program.ts'
import { readBundle } from '#verifier/index.ts'
import { ADA } from '../support/given.ts'
import { freePort } from '../support/http.ts'
import { sheetsOf } from '../support/workbook.ts'
import { pythonOfExamples } from '../tools/examples/python.ts'
import { type Example, NOT_RUN, RUN } from './examples.ts'
import { type Block, pages, root } from './markdown.ts'

// Every command of README and manuals runs against a real service in the order of `RUN`, or is in
// `NOT_RUN` with a reason. Values that an example needs ($publicId, $registry …) come from earlier
// examples.

// test/docs/go-live.test.ts runs docs/go-live.md, test/packages those of the packages.
const manuals = pages().filter(({ path }) => !/go-live\.md|^docs\/npm\//.test(path))
const blocks = manuals.flatMap(({ path, blocks }) =>
  blocks.filter(({ language }) => language === 'sh').map((block) => ({ path, ...block })),
)
const blocksOf = ({ page, has }: { page: string; has: string }) =>
  blocks.filter(({ path, code }) => path === page && code.includes(has))

test('every example is run, or listed with the reason why not', () => {
  const listed = [...RUN, ...NOT_RUN]
  for (const example of listed) expect(blocksOf(example), example.has).toHaveLength(1)
  const found = new Set(listed.flatMap(blocksOf))
  expect(blocks.filter((block) => !found.has(block)).map(({ at }) => at)).toEqual([])
  expect(found.size).toBe(listed.length)
})

test('npx docreg is ours only in a checkout', () => {
  const [first] = blocksOf({ page: 'docs/registrar.md', has: 'docreg demo' })
  const used = blocks.filter(({ code }) => /npx docreg (?!registry)/.test(code))
  expect(used).toEqual([first])
})

test('the manuals use only commands of docreg and docreg-gateway', () => {
  const all = pages().flatMap(({ path, blocks }) =>
    blocks.flatMap(({ code }) => {
      const lines = code.replaceAll('\\\n', ' ').replace(/ #.*/g, '')
      const found = [...lines.matchAll(/npx (docreg|docreg-gateway) ([^>|&\n]+)/g)]
      return found.map(([text, name, line = '']) => ({ at: `${path}: ${text}`, name, line }))
    }),
  )
  expect(all.length).toBeGreaterThan(20)
  for (const { at, name, line } of all) {
    if (line.startsWith('--help')) continue
    const parse = createParser(name === 'docreg' ? DOCREG : GATEWAY, '')
    expect(parse(line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []), at).toBeDefined()
  }
})

/**
 * A separate checkout made of links, so that no example writes into this one; with a command of its
 * own, which reads settings from the data folder of its own checkout.
 */
let checkout: string
let env: Record<string, string>
let service: ChildProcess | undefined
const [port, chainPort] = [await freePort(), await freePort()]
const python = await pythonOfExamples()
const has = {
  cast: spawnSync('cast', ['--version']).status === 0 || process.env.CI === 'true',
  python: 'value' in python || process.env.CI === 'true',
}

beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'document-registry-docs-'))
  for (const name of readdirSync(root))
    if (['apps', 'scripts'].includes(name))
      cpSync(join(root, name), join(checkout, name), { recursive: true })
    else if (!['.git', 'data', 'venv'].includes(name))
      symlinkSync(join(root, name), join(checkout, name))
  const bin = join(checkout, 'bin')
  mkdirSync(bin)
  const program = join(checkout, 'apps/docreg/docreg.ts')
  writeFileSync(join(bin, 'docreg'), `#!/bin/sh\nexec node "${program}" "$@"\n`)
  chmodSync(join(bin, 'docreg'), 0o755)
  if ('value' in python) symlinkSync(dirname(dirname(python.value)), join(checkout, 'venv'))
  env = {
    // Of this test only, because the command has another path at each run.
    NODE_COMPILE_CACHE: join(checkout, 'compiled'),
    PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: process.env.HOME ?? '',
    API_KEY: 'a-key-that-only-the-docs-have',
    PORT: `${port}`,
    CHAIN_PORT: `${chainPort}`,
    BASE_URL: `http://127.0.0.1:${port}`,
    uri: `http://127.0.0.1:${port}`,
    LOG_LEVEL: 'error',
  }
  writeFileSync(join(checkout, 'documents.jsonl'), `${JSON.stringify(ADA)}\n`)
})
afterAll(async () => {
  service?.kill('SIGTERM')
  if (service) await new Promise((resolve) => service?.on('close', resolve))
  rmSync(checkout, { recursive: true, force: true })
})

type Ran = { code: number | null; output: string }

/** Replaces the manual's ports by free ones. */
function runnable(code: string): string {
  return code
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:8545', `127.0.0.1:${chainPort}`)
}

function shell(code: string, more: Record<string, string> = {}): ChildProcess {
  return spawn('sh', ['-euc', runnable(code)], {
    cwd: checkout,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
}

function outputOf(child: ChildProcess): Promise<Ran> {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk
    })
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, output }))
  })
}

const answers = (url: string) =>
  fetch(`${url}/readyz`).then(
    ({ status }) => status,
    () => 0,
  )

async function untilReady(url: string): Promise<void> {
  await expect.poll(() => answers(url), { interval: 200 }).toBe(200)
}

/** The service for all examples, started by the first one that needs it. */
async function ensureService(): Promise<void> {
  if (service) return
  service = shell('exec npm start')
  service.stdout?.resume()
  service.stderr?.resume()
  await untilReady(env.BASE_URL ?? '')
}

/** Values that a reader supplies, besides those from earlier examples. */
async function prepare({ has }: Example): Promise<void> {
  await ensureService()
  if (env.registry) env.address = env.registry.split(':')[2] ?? ''
  if (env.publicId) writeFileSync(join(checkout, 'document.txt'), `${env.publicId}\n`)
  if (has === 'docreg-gateway keys') {
    const { output } = await outputOf(shell('npm run --silent keys -- create --scope verify'))
    env.id = /^id (\w+)/m.exec(output)?.[1] ?? ''
  }
  if (has.startsWith('--map'))
    writeFileSync(
      join(checkout, 'graduates.xlsx'),
      sheetsOf({
        Graduates: [
          ['Full name', 'Student no', 'Degree', 'Notes'],
          ['Ada Lovelace', '1', 'BSc', ''],
          ['Zoë Müller', '2', 'MSc', 'x'],
        ],
      }),
    )
  if (has === 'wrong/issued.csv')
    await outputOf(shell('docreg template > mended.csv && docreg issue mended.csv --out wrong'))
  if (has === 'docreg documents' || has === 'docreg suspend') {
    const issued = readFileSync(join(checkout, 'diplomas/issued.csv'), 'utf8')
    env.documentHash = /0x\w{64}/.exec(issued)?.[0] ?? ''
  }
  if (has === 'docreg verify bundle.json')
    env.blockNumber = `${readBundle(readFileSync(join(checkout, 'bundle.json'))).block.blockNumber}`
  if (env.blockNumber) env.blockHash = await hashOfBlock(env.blockNumber)
  if (has === 'docreg recount') env.manifest = await manifestOf(env.root ?? '')
  if (has.startsWith('/revoke"')) env.publicId = env.toRevoke ?? ''
  if (has === 'revoke-in-batch') env.documentHash = env.inBatch ?? ''
}

async function manifestOf(root: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/batches/${root}`, {
    headers: { authorization: `Bearer ${env.API_KEY}` },
  })
  return ((await response.json()) as { data: { manifest: string } }).data.manifest
}

/** @returns The node's hash of a block. */
async function hashOfBlock(blockNumber: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${chainPort}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getBlockByNumber',
      params: [`0x${Number(blockNumber).toString(16)}`, false],
    }),
  })
  return ((await response.json()) as { result: { hash: string } }).result.hash
}

/** Stops it as soon as it is ready. */
async function serve({ code }: Block): Promise<ChildProcess> {
  const [own, ownChain] = [await freePort(), await freePort()]
  const elsewhere = code.replace('3001', `${own}`).replace('8546', `${ownChain}`)
  const child = shell(elsewhere, {
    PORT: `${own}`,
    CHAIN_PORT: `${ownChain}`,
    DATA_DIR: join(checkout, 'served'),
  })
  const stopWhenReady = async () => {
    await untilReady(`http://127.0.0.1:${own}`)
    process.kill(-(child.pid ?? Number.NaN), 'SIGTERM')
  }
  stopWhenReady().catch(() => child.kill('SIGKILL'))
  return child
}

describe('the examples, one after the other', () => {
  for (const example of RUN) {
    const [block] = blocksOf(example)
    if (!block) continue
    const lacking = example.needs !== undefined && !has[example.needs]
    const name = `${block.at.replace(/:.*/, '')}: ${example.has}`
    test.skipIf(lacking)(lacking ? `${name} (skipped: needs ${example.needs})` : name, async () => {
      await prepare(example)
      const { code, output } = await outputOf(
        example.serves ? await serve(block) : shell(block.code),
      )
      // A signal to the group ends the shell too.
      expect(code, output).toBe(example.serves ? null : 0)
      if (example.prints) expect(output).toMatch(example.prints)
      for (const file of example.writes ?? [])
        expect(existsSync(join(checkout, file)), file).toBe(true)
      for (const [key, pattern] of Object.entries(example.gives ?? {}))
        env[key] = pattern.exec(output)?.[1] ?? ''
    })
  }
})
