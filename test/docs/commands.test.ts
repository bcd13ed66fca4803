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
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBundle } from '../../verifier/index.ts'
import { pythonOfExamples } from '../examples/python.ts'
import { freePort } from '../support/http.ts'
import { ADA } from '../support/stack.ts'
import { type Block, pages, root } from './markdown.ts'

// Every command of README and manuals runs against a real service in the order of the first list,
// or is in the second list with a reason. Values that an example needs ($publicId, $registry …)
// come from earlier examples.

/** An example: its page, and a text that only this block of the page contains. */
type Example = {
  page: string
  has: string
  prints?: RegExp
  /** Names of the files that it writes. */
  writes?: string[]
  /** Values for later examples, read from its output, by name. */
  gives?: Record<string, RegExp>
  /** Runs until it is stopped; ready once its output matches this. */
  serves?: true
  /** Whether this machine has the tools that it needs besides Node. */
  needs?: 'cast' | 'python'
}

const RUN: Example[] = [
  {
    page: 'docs/operate.md',
    has: 'issue-batch',
    prints: /^root +0x/m,
    writes: ['issued.jsonl'],
    gives: { root: /^root +(0x\w+)$/m, manifest: /^manifest +(0x\w+)$/m },
  },
  {
    page: 'README.md',
    has: '/v1/documents \\',
    prints: /"success":true.*"status":"valid"/,
    gives: {
      publicId: /"publicId":"([^"]+)"/,
      registry: /"registry":"([^"]+)"/,
      documentHash: /"documentHash":"([^"]+)"/,
    },
  },
  { page: 'docs/integrate.md', has: 'curl -sSi', prints: /201 Created[\s\S]*"status":"valid"/ },
  {
    page: 'docs/integrate.md',
    has: '/v1/documents?category=',
    prints: /"documents":\[\{"publicId".*"nextCursor":null/,
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/documents/search',
    prints: /"documents":\[\{"publicId".*"subjectId":"18151210"/,
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/batches -T',
    prints: /"line":1,"success":true,"data":\{"publicId".*"batchRoot":"0x/,
  },
  {
    page: 'docs/integrate.md',
    has: 'npm run keys',
    prints: /drk_[\s\S]*documents:read[\s\S]*drk_[\s\S]*revoked/,
  },
  { page: 'docs/integrate.md', has: '"label":"Front desk"', prints: /"success":true.*drk_/ },
  { page: 'docs/verify.md', has: 'docreg -- verify -', prints: /^VALID/m },
  { page: 'docs/verify.md', has: 'curl --compressed', writes: ['verify.html'] },
  {
    page: 'docs/verify.md',
    has: 'docreg present',
    prints: /subjectName[\s\S]*https:\/\/registry\.example\/verify#presentation=/,
    writes: ['shown.json', 'shown.svg'],
  },
  { page: 'docs/verify.md', has: 'docreg bundle', writes: ['bundle.json'] },
  { page: 'docs/verify.md', has: 'docreg verify bundle.json', prints: /^VALID/m },
  { page: 'docs/verify.md', has: 'examples/verify.py', prints: /"valid": ?true/, needs: 'python' },
  {
    page: 'docs/audit.md',
    has: 'list-documents.mjs',
    prints: /^complete: \d+ of \d+ documents/m,
  },
  {
    page: 'docs/audit.md',
    has: 'list-documents.sh',
    prints: /^complete: \d+ of \d+ documents/m,
    needs: 'cast',
  },
  { page: 'docs/audit.md', has: 'cast call', prints: /Local test issuer/, needs: 'cast' },
  {
    page: 'docs/audit.md',
    has: '--proof proof.json',
    prints: /^COMPLETE: 2 of 2 documents, 2 of 2 batches/m,
    writes: ['proof.json'],
    gives: { blockNumber: /as of block (\d+)/ },
  },
  { page: 'docs/audit.md', has: '--check proof.json', prints: /^COMPLETE: 2 of 2 documents/m },
  { page: 'docs/audit.md', has: 'docreg recount', prints: /^COMPLETE/m },
  {
    page: 'docs/audit.md',
    has: 'docreg audit --issuer',
    prints: /^COMPLETE, PROVEN: The list has 2 of 2 documents and 2 of 2 batches/m,
    writes: ['audit/report.html', 'audit/documents.csv'],
  },
  {
    page: 'docs/audit.md',
    has: '--out list.ndjson',
    prints: /^COMPLETE: 2 of 2 documents, 2 of 2 batches/m,
    writes: ['list.ndjson'],
    gives: { exportedBlock: /, (0x\w{64})$/m },
  },
  { page: 'docs/audit.md', has: '--check list.ndjson', prints: /^COMPLETE: 2 of 2 documents/m },
  { page: 'docs/operate.md', has: 'npm run doctor', prints: /^ok +service /m },
  { page: 'docs/operate.md', has: 'npm run fsck', prints: /^nothing differs/m },
  { page: 'docs/operate.md', has: 'revoke-in-batch', prints: /0x\w{64}/ },
  { page: 'docs/operate.md', has: '--domain example.edu', writes: ['did.json'] },
  { page: 'docs/operate.md', has: 'docreg identity check', prints: /pass/ },
  {
    page: 'docs/integrate.md',
    has: '/supersede" \\',
    prints: /"supersedes":"0x\w{64}".*"superseded":\{.*"status":"superseded"/,
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/revocations \\',
    prints: /"line":1,"success":true.*"status":"superseded"/,
  },
  {
    page: 'docs/docreg.md',
    has: 'docreg demo',
    prints: /VALID[\s\S]*NOT VALID: revoked[\s\S]*Usage: docreg/,
  },
  {
    page: 'docs/docreg.md',
    has: 'docreg template',
    prints: /1 row, all good[\s\S]*Issued 1 document,/,
    writes: ['issued/issued.csv', 'issued/qr'],
  },
  {
    page: 'docs/docreg.md',
    has: '--map "Full name=subjectName"',
    prints: /Issued 2 documents/,
    writes: ['diplomas/issued.csv'],
  },
  {
    page: 'docs/docreg.md',
    has: 'docreg documents',
    prints: /valid .*diploma[\s\S]*subjectName +Ada Lovelace/,
  },
  {
    page: 'docs/docreg.md',
    has: 'docreg suspend',
    prints: /Suspended[\s\S]*Released[\s\S]*Superseded[\s\S]*Revoked/,
    writes: ['corrected.csv'],
  },
  { page: 'docs/operate.md', has: 'npm run backup', writes: ['backups/monday', 'restored'] },
  { page: 'docs/operate.md', has: 'PORT=3001', prints: /is ready at/, serves: true },
  { page: 'docs/verify.md', has: 'HOST=0.0.0.0', prints: /is ready at/, serves: true },
]

const NOT_RUN: { page: string; has: string; because: string }[] = [
  {
    page: 'docs/certificates.md',
    has: '--from issued/issued.csv',
    because: 'it installs 75 MB; test/cli/commands/certificate.test.ts prints some',
  },
  {
    page: 'docs/certificates.md',
    has: '--new-template',
    because: 'test/certificates/print.test.ts copies a template',
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/webhooks',
    because: 'its receiver does not exist; test/gateway/http/routes/webhooks.test.ts creates some',
  },
  {
    page: 'README.md',
    has: 'git clone',
    because: 'it installs everything anew; test/scripts/start.test.ts runs npm start',
  },
  { page: 'CONTRIBUTING.md', has: 'npm test', because: 'this test is part of it' },
  { page: 'CONTRIBUTING.md', has: 'biome check', because: 'it formats the checkout' },
  {
    page: 'docs/contract.md',
    has: 'npm run deploy',
    because: 'it needs funds on Sepolia; test/contracts/deployment.test.ts deploys on Anvil',
  },
  {
    page: 'docs/contract.md',
    has: 'register-issuer',
    because: 'it needs that registry; test/contracts/roles.test.ts registers issuers on Anvil',
  },
  {
    page: 'docs/operate.md',
    has: 'npm run reindex',
    because: 'the service has to be stopped for it; test/scripts/reindex.test.ts runs it',
  },
  {
    page: 'docs/operate.md',
    has: 'npm run recover',
    because: 'it needs a chain that outlives its gateway; test/scripts/recover.test.ts runs it',
  },
  {
    page: 'docs/operate.md',
    has: 'ipfs init',
    because: 'it changes the Kubo of this user; test/gateway/adapters/kubo.test.ts runs on Kubo',
  },
  {
    page: 'docs/operate.md',
    has: 'geth --dev',
    because: 'it needs geth on the PATH; test/faults/geth.test.ts starts one with these options',
  },
  {
    page: 'docs/verify.md',
    has: 'npm run page',
    because: 'it writes dist/, which other tests read; test/web/elsewhere.test.ts builds pages',
  },
  {
    page: 'docs/verify.md',
    has: 'npm install --global',
    because: 'it installs for the whole machine; test/scripts/package.test.ts runs the package',
  },
  {
    page: 'docs/verify.md',
    has: '<checkout>/dist/library',
    because: 'it needs npm; test/scripts/package.test.ts uses the package',
  },
  {
    page: 'test/corpus/README.md',
    has: 'serve.py',
    because: 'it serves until it is stopped; test/corpus/served.test.ts runs both',
  },
  { page: 'test/faults/README.md', has: 'vitest run', because: 'npm test runs these' },
  { page: 'test/faults/README.md', has: 'npm run faults', because: 'it takes an hour' },
  { page: 'test/faults/README.md', has: 'slow-blocks.ts', because: 'it takes three minutes' },
  {
    page: 'test/faults/README.md',
    has: 'fast-blocks.ts',
    because: 'it measures throughput, and takes every core for a while',
  },
]

// test/docs/go-live.test.ts runs docs/go-live.md.
const manuals = pages().filter(({ path }) => path !== 'docs/go-live.md')
const blocks = manuals.flatMap(({ path, blocks }) =>
  blocks.filter(({ language }) => language === 'sh').map((block) => ({ path, ...block })),
)
const blocksOf = ({ page, has }: { page: string; has: string }) =>
  blocks.filter(({ path, code }) => path === page && code.includes(has))

test('default: every example is run, or listed with the reason why not', () => {
  const listed = [...RUN, ...NOT_RUN]
  for (const example of listed) expect(blocksOf(example), example.has).toHaveLength(1)
  const found = new Set(listed.flatMap(blocksOf))
  expect(blocks.filter((block) => !found.has(block)).map(({ at }) => at)).toEqual([])
  expect(found.size).toBe(listed.length)
})

/** A separate checkout made of links, so that no example writes into this one. */
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
    if (!['.git', 'data', 'venv'].includes(name))
      symlinkSync(join(root, name), join(checkout, name))
  const bin = join(checkout, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'docreg'), `#!/bin/sh\nexec node "${root}cli/docreg.ts" "$@"\n`)
  chmodSync(join(bin, 'docreg'), 0o755)
  if ('value' in python) symlinkSync(dirname(dirname(python.value)), join(checkout, 'venv'))
  env = {
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
  await expect.poll(() => answers(url), { timeout: 60_000, interval: 200 }).toBe(200)
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
  if (has === 'issue-batch') return
  await ensureService()
  if (env.registry) env.address = env.registry.split(':')[2] ?? ''
  if (env.publicId) writeFileSync(join(checkout, 'document.txt'), `${env.publicId}\n`)
  if (has === 'npm run keys') {
    const { output } = await outputOf(shell('npm run keys -- create --scope verify'))
    env.id = /^id (\w+)/m.exec(output)?.[1] ?? ''
  }
  if (has.startsWith('--map'))
    writeFileSync(
      join(checkout, 'graduates.csv'),
      'Full name;Student no;Degree;Notes\nAda Lovelace;1;BSc;\nZoë Müller;2;MSc;x\n',
    )
  if (has === 'docreg documents' || has === 'docreg suspend') {
    const issued = readFileSync(join(checkout, 'diplomas/issued.csv'), 'utf8')
    env.documentHash = /0x\w{64}/.exec(issued)?.[0] ?? ''
  }
  if (has === 'docreg verify bundle.json')
    env.blockNumber = `${readBundle(readFileSync(join(checkout, 'bundle.json'))).block.blockNumber}`
  if (env.blockNumber) env.blockHash = await hashOfBlock(env.blockNumber)
  if (has === 'revoke-in-batch') {
    const [issued = ''] = readFileSync(join(checkout, 'issued.jsonl'), 'utf8').split('\n')
    env.documentHash = JSON.parse(issued).documentHash
  }
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
    test.skipIf(lacking)(
      lacking ? `${name} (skipped: needs ${example.needs})` : name,
      async () => {
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
      },
      120_000,
    )
  }
})
