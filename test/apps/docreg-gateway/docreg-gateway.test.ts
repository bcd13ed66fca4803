import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { VERSION } from '#base/version.ts'
import { GATEWAY } from '#operate/program.ts'
import { DOCREG_GATEWAY, docregGateway, run } from '../../support/docreg.ts'
import { freePort } from '../../support/http.ts'

const folder = mkdtempSync(join(tmpdir(), 'docreg-gateway-'))
afterAll(() => rmSync(folder, { recursive: true }))

const NOBODY = 'http://127.0.0.1:1'
const gateway = (args: readonly string[], env: Record<string, string> = {}) =>
  docregGateway(args, {
    cwd: folder,
    env: { DATA_DIR: join(folder, 'data'), NO_COLOR: '1', ...env },
  })

describe('help', () => {
  test('lists every command with its summary', async () => {
    const { code, stdout } = await gateway(['--help'])
    expect(code).toBe(0)
    for (const { name } of GATEWAY.commands)
      expect(stdout).toMatch(new RegExp(`^  ${name.replace(/ .*/, '')} `, 'm'))
  })

  test.each(GATEWAY.commands)('$name teaches with examples', async ({ name }) => {
    const { code, stdout } = await gateway(name.replace(/\S+$/, 'help $&').split(' '))
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: docreg-gateway ${name}`)
    expect(stdout).toMatch(new RegExp(`^  \\$ .*docreg-gateway ${name}`, 'm'))
    expect(stdout).toContain('--json')
    expect(stdout).toMatch(/Exit code: 0 .*64/)
  })
})

describe('wrong usage', () => {
  test.each(GATEWAY.commands)('$name refuses an unknown option', async ({ name }) => {
    const { code, stdout, stderr } = await gateway([...name.split(' '), '--bogus'])
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
    expect(stderr).toContain("unknown option '--bogus'")
    expect(stderr).toContain(`Usage: docreg-gateway ${name}`)
  })

  test.each([
    ['no command', [], /docreg-gateway help <command>/],
    ['half a command', ['move'], /to-postgres/],
    ['another command', ['backpu'], /Did you mean backup\?/],
    ['no folder of a backup', ['restore'], /<backup> is required/],
    ['no folder for a backup', ['backup'], /<folder> is required/],
    ['a block that is none', ['fsck', '--from', 'x'], /--from must be a whole number/],
  ])('names what is wrong: %s', async (_, args, message) => {
    const { code, stderr } = await gateway(args)
    expect(code).toBe(64)
    expect(stderr).toMatch(message)
  })
})

type Case = [args: string[], env: Record<string, string>, code: number, says: string]

// An operator can mend each: a sentence, never a stack.
describe.each<Case>([
  [['start'], { RPC_URL: NOBODY }, 1, 'cannot start:\n  ISSUER_ID is required'],
  [['recover'], { RPC_URL: NOBODY }, 2, 'ISSUER_ID is required when RPC_URL is set'],
  [['recover'], {}, 2, 'RPC_URL is required: a local chain'],
  [['keys', 'list'], {}, 2, 'set DATA_DIR'],
  [['backup', 'copy'], {}, 2, 'set DATA_DIR to that of the gateway'],
  [['restore', '/no/backup'], {}, 2, 'is not a backup'],
  [['move', 'to-sqlite'], {}, 2, 'DATABASE_URL is required'],
  [['issue-again', '--only', '/no/list'], {}, 2, 'no such file'],
])('docreg-gateway %j', (args, env, code, says) => {
  test(`${says}`, async () => {
    const ended = await gateway(args, env)
    expect(ended).toEqual({ code, stdout: '', stderr: expect.stringContaining(says) })
    expect(ended.stderr).not.toMatch(/^\s+at /m)
  })

  test('--json prints one JSON object', async () => {
    const ended = await gateway([...args, '--json'], env)
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code, stderr: '' })
    expect(JSON.parse(ended.stdout)).toEqual({
      error: {
        code: expect.stringMatching(/^[a-z_]+$/),
        message: expect.stringContaining(says),
        fields: [],
      },
    })
  })
})

test('start and the command that it ends with print one object each with --json', async () => {
  const [port, chainPort] = [await freePort(), await freePort()]
  const env = { PORT: `${port}`, CHAIN_PORT: `${chainPort}`, LOG_LEVEL: 'error' }
  const dataDir = join(folder, 'data')
  const child = spawn(process.execPath, [DOCREG_GATEWAY, 'start', '--json'], {
    cwd: folder,
    env: { ...env, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  await expect.poll(() => printed).toMatch(/^}$/m)
  expect(JSON.parse(printed)).toMatchObject({
    url: `http://127.0.0.1:${port}`,
    network: 'test',
    issuer: 1,
    data: dataDir,
    apiKeyFile: join(dataDir, 'first-api-key'),
    deskLinkFile: join(dataDir, 'first-desk-link'),
  })
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])

  const backup = join(folder, 'backup')
  const json = async (args: string[], more: Record<string, string> = {}) => {
    const { code, stdout } = await gateway([...args, '--json'], { ...env, ...more })
    return { code, ...JSON.parse(stdout) }
  }
  const made = { code: 0, made: true, folder: backup, wasRunning: false, secrets: 'all' }
  expect(await json(['backup', backup])).toMatchObject(made)
  const DATA_DIR = join(folder, 'restored')
  const restored = { code: 0, restored: DATA_DIR, anchored: 0, lost: [] }
  expect(await json(['restore', backup], { DATA_DIR })).toMatchObject(restored)
  expect(await json(['reindex'])).toMatchObject({ code: 0, anchored: 0, pending: 0 })
  expect(await json(['issue-again'])).toEqual({ code: 0, state: 'listed', distrusted: [] })
  expect(await json(['fsck'])).toMatchObject({ code: 2, error: { code: 'rpc_unreachable' } })
})

describe('completion', () => {
  test('completes commands, their second words and options', async () => {
    const complete = async (...words: string[]) =>
      (await gateway(['complete', '--', ...words])).stdout
    expect(await complete('re')).toMatch(/^restore\t.*\nrecover\t.*\nreindex\t/m)
    expect(await complete('keys', 'ro')).toMatch(/^rotate\t/m)
    expect(await complete('keys', 'create', '--sc')).toMatch(/^--scope\t/m)
  })

  test('bash can parse its completion script', async () => {
    const { code, stdout } = await gateway(['completion', 'bash'])
    expect(code).toBe(0)
    expect(await run('/bin/bash', ['-n'], { stdin: stdout })).toMatchObject({ code: 0, stderr: '' })
  })
})

test('npx runs it from a folder of the checkout; start passes its flags on', async () => {
  const bin = fileURLToPath(new URL('../../../scripts/docreg-gateway.mjs', import.meta.url))
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder }
  const told = await run(process.execPath, [bin, '--version'], { cwd: folder, env })
  expect(told).toMatchObject({ code: 0, stdout: `${VERSION}\n` })
  const flags = `data:text/javascript,console.log(process.execArgv.slice(0, 2).join(' '))`
  const started = await run(process.execPath, [bin, 'start', '--bogus'], {
    cwd: folder,
    env: { ...env, NODE_OPTIONS: `--import "${flags}"` },
  })
  expect(started).toMatchObject({
    code: 64,
    stdout: expect.stringContaining('--max-semi-space-size=24 --heap-growing-percent=100'),
  })
})
