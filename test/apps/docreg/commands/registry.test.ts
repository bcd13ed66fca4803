import { describe, expect, test } from 'vitest'
import { docreg } from '../../../support/docreg.ts'
import { randomKey } from '../../../support/given.ts'

// What goes wrong before anything is sent. test/contracts/ deploys, checks and changes roles.

const cwd = new URL('../../../../', import.meta.url).pathname
const ADDRESS = `0x${'a'.repeat(40)}`
const NOBODY = 'http://127.0.0.1:1'
const ON = ['--network', 'custom', '--registry', ADDRESS]
const payerOf = (DEPLOYER_KEY: string) => ({ CUSTOM_RPC_URL: NOBODY, DEPLOYER_KEY })

const registry = (args: readonly string[], env: Record<string, string> = {}) =>
  docreg(['registry', ...args], {
    cwd,
    // biome-ignore lint/style/noProcessEnv: as an operator's shell hands it on
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NO_COLOR: '1', ...env },
  })

type Case = [args: string[], env: Record<string, string>, code: number, says: string]

// Wrong input ends with a sentence, never with a stack.
describe.each<Case>([
  [['deploy'], {}, 64, '--network <name> is required'],
  [['deploy', '--bogus'], {}, 64, "unknown option '--bogus'"],
  [['deploy', '--network', 'custom'], { CUSTOM_RPC_URL: NOBODY }, 2, '"DEPLOYER_KEY" not found'],
  [['deploy', '--network', 'custom'], payerOf('0x12'), 2, 'DEPLOYER_KEY must be'],
  [['deploy', '--network', 'custom'], payerOf(randomKey()), 2, 'Cannot connect'],
  [['deploy', '--network', 'custom', '--admin', '0x12'], {}, 64, '--admin must be an address'],
  [['check', '--network', 'nowhere'], {}, 64, 'has no network nowhere'],
  [['check', '--network', 'custom'], {}, 2, '"CUSTOM_RPC_URL" not found'],
  [['check', ...ON], { CUSTOM_RPC_URL: NOBODY }, 2, 'does not answer'],
  [['roles', 'no-such-action', ...ON], {}, 64, '<action> must be one of register-issuer, '],
  [['roles', 'close-issuer', ...ON], {}, 64, 'close-issuer takes <issuerId>, but 0 were given'],
  [['roles', 'close-issuer', 'one', ...ON], {}, 64, '<issuerId> must be a whole number'],
  [['roles', 'retire-account', '1', 'a.eth', ...ON], {}, 64, '<account> must be an address'],
  [['roles', 'release', '1', '@/no/such/file', ...ON], {}, 2, 'no such file'],
  [['roles', 'close-issuer', '1', ...ON], { CUSTOM_RPC_URL: NOBODY }, 2, 'does not answer'],
  [['costs', '--gwei', 'many'], {}, 64, '--gwei must be a number greater than 0'],
])('docreg registry %j', (args, env, code, says) => {
  test(`${says}`, async () => {
    const ended = await registry(args, env)
    expect(ended).toEqual({ code, stdout: '', stderr: expect.stringContaining(says) })
    expect(ended.stderr).not.toMatch(/^\s+at /m)
  })
})

test('help of roles lists every action with its arguments', async () => {
  const { stdout } = await registry(['help', 'roles'])
  expect(stdout).toContain('  revoke-in-batch <issuerId> <root> <documentHashes> <reason>\n')
})

test('prints costs as numbers with --json', async () => {
  const { stdout } = await registry(['costs', '--documents', '1000', '--json'])
  expect(JSON.parse(stdout)).toEqual(
    ['osaka', 'amsterdam'].map((fork) => ({
      fork,
      documents: 1_000,
      oneByOne: expect.any(Number),
      grouped: expect.any(Number),
      inBatches: expect.any(Number),
    })),
  )
})

test('prints errors of Hardhat and of chains as JSON with --json', async () => {
  const { code, stdout } = await registry(['check', '--network', 'custom', '--json'])
  expect(code).toBe(2)
  expect(JSON.parse(stdout).error).toMatchObject({ code: 'hardhat' })
})
