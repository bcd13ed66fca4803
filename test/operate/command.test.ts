import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { randomKey } from '../support/stack.ts'

const root = new URL('../../', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ADDRESS = `0x${'a'.repeat(40)}`
const NOBODY = 'http://127.0.0.1:1'
const ON = ['--network', 'custom', '--registry', ADDRESS]

const payerOf = (DEPLOYER_KEY: string) => ({ CUSTOM_RPC_URL: NOBODY, DEPLOYER_KEY })

type Ended = { code: number; output: string }

function run(script: string, args: readonly string[], more: Record<string, string> = {}) {
  const env = {
    ...{ PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1' },
    ...{ DATA_DIR: join(folder, 'data'), ...more },
  }
  return new Promise<Ended>((resolve) => {
    execFile(
      process.execPath,
      [`operate/${script}.ts`, ...args],
      { cwd: root, env },
      (...ended) => {
        const [error, stdout, stderr] = ended
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
      },
    )
  })
}

type Case = [
  script: string,
  args: string[],
  env: Record<string, string>,
  code: number,
  says: string,
]

// Wrong input ends with a sentence, never with a stack.
describe.each<Case>([
  ['deploy', [], {}, 64, '--network <name> is missing'],
  ['deploy', ['--bogus'], {}, 64, "Unknown option '--bogus'"],
  ['deploy', ['--network', 'custom'], { CUSTOM_RPC_URL: NOBODY }, 1, '"DEPLOYER_KEY" not found'],
  ['deploy', ['--network', 'custom'], payerOf('0x12'), 1, 'DEPLOYER_KEY must be'],
  ['deploy', ['--network', 'custom'], payerOf(randomKey()), 1, 'Cannot connect'],
  ['deploy', ['--network', 'custom', '--admin', '0x12'], {}, 64, '--admin must be an address'],
  ['check-deployment', ['--network', 'nowhere'], {}, 64, 'has no network nowhere'],
  ['check-deployment', ['--network', 'custom'], {}, 1, '"CUSTOM_RPC_URL" not found'],
  ['check-deployment', ON, { CUSTOM_RPC_URL: NOBODY }, 1, 'does not answer'],
  ['roles', ['no-such-action', ...ON], {}, 64, 'where <action> is one of'],
  ['roles', ['close-issuer', 'one', ...ON], {}, 64, '<issuerId> must be a whole number'],
  ['roles', ['retire-account', '1', 'a.eth', ...ON], {}, 64, '<account> must be an address'],
  ['roles', ['release', '1', '@/no/such/file', ...ON], {}, 1, 'no such file'],
  ['roles', ['close-issuer', '1', ...ON], { CUSTOM_RPC_URL: NOBODY }, 1, 'does not answer'],
  ['recover', ['--bogus'], {}, 64, "Unknown option '--bogus'"],
  ['recover', ['--from', 'x'], { RPC_URL: NOBODY }, 2, 'ISSUER_ID is required when RPC_URL is set'],
  ['keys', ['create', '--scope', 'none'], { DATA_DIR: folder }, 64, '--scope'],
  ['doctor', ['--bogus'], {}, 64, "Unknown option '--bogus'"],
])('npm run %s -- %j', (script, args, env, code, says) => {
  test(`error: ${says}`, async () => {
    const ended = await run(script, args, env)
    expect(ended).toEqual({ code, output: expect.stringContaining(says) })
    expect(ended.output).not.toMatch(/^\s+at /m)
  })
})
