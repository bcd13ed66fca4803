import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../cli/commands.ts'
import { docreg, run } from '../support/docreg.ts'
import vectors from '../vectors/documents.json' with { type: 'json' }

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-command-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const ID = vectors.documents[0]?.publicId ?? ''

describe('help', () => {
  test('default: lists every command with its summary', async () => {
    const { code, stdout } = await docreg(['--help'])
    expect(code).toBe(0)
    for (const { name } of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
  })

  test.each(COMMANDS.map(({ name }) => name))(
    'behavior: %s teaches with examples',
    async (name) => {
      const { code, stdout } = await docreg(['help', name])
      expect(code).toBe(0)
      expect(stdout).toContain(`Usage: docreg ${name}`)
      expect(stdout).toContain(`$ docreg ${name}`)
      expect(stdout).toMatch(/Exit code: .*64/)
    },
  )

  test('behavior: --version prints the version of the package', async () => {
    expect(await docreg(['--version'])).toMatchObject({ code: 0, stdout: '0.1.0\n' })
  })
})

describe('wrong usage', () => {
  test('error: shows help without a command', async () => {
    const { code, stdout, stderr } = await docreg([])
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
    expect(stderr).toContain('docreg help <command>')
  })

  test('error: proposes the command that was meant', async () => {
    const { code, stderr } = await docreg(['verfy'])
    expect(code).toBe(64)
    expect(stderr).toContain('Did you mean verify?')
  })

  test('error: never repeats a publicId in the place of a command', async () => {
    const { code, stdout, stderr } = await docreg([ID, '--json'])
    expect(code).toBe(64)
    expect(stdout + stderr).not.toContain(ID.slice(0, 10))
  })

  test('error: is JSON with --json', async () => {
    const { stdout } = await docreg(['verify', 'a', '--json', '--timeout', 'soon'])
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'usage' })
  })
})

describe('completion', () => {
  test('default: completes commands and options from their declarations', async () => {
    const { stdout: commands } = await docreg(['complete', '--', 'ver'])
    expect(commands).toMatch(/^verify\t/m)
    const { stdout: options } = await docreg(['complete', '--', 'verify', '--issuer-d'])
    expect(options).toMatch(/^--issuer-domain\t/m)
  })

  test('behavior: the script for bash is one that bash can read', async () => {
    const { code, stdout } = await docreg(['completion', 'bash'])
    expect(code).toBe(0)
    expect(await run('/bin/bash', ['-n'], { stdin: stdout })).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('configuration', () => {
  const UNREACHABLE = 'http://127.0.0.1:1'
  const registryOf = (digit: string) => `eip155:31337:0x${digit.repeat(40)}`
  const config = (settings: object, name = 'docreg.config.json') => {
    writeFileSync(join(dir, name), JSON.stringify(settings))
    return join(dir, name)
  }
  /** An address that names another registry: the command warns, and says which one it trusts. */
  const LINK = `https://a.example/verify#publicId=${ID}&registry=${registryOf('f')}`
  const asked = async (args: string[], env: Record<string, string> = { DOCREG_CONFIG: '' }) => {
    const { code, stdout } = await docreg(['verify', '-', '--json', '--no-identity', ...args], {
      ...{ stdin: LINK, cwd: dir, env },
    })
    const [warning = ''] = JSON.parse(stdout).warnings
    return { code, registry: /trust, (\S+)$/.exec(warning)?.[1] }
  }

  test('default: reads docreg.config.json of the working directory, and names it', async () => {
    config({ rpc: [UNREACHABLE], registry: registryOf('1') })
    expect(await asked([])).toMatchObject({ code: 2, registry: registryOf('1') })
    const { stderr } = await docreg(['verify', '-'], {
      stdin: ID,
      cwd: dir,
      env: { DOCREG_CONFIG: '' },
    })
    expect(stderr).toContain('Settings: docreg.config.json')
  })

  test('behavior: a flag wins over the environment, which wins over the file', async () => {
    config({ rpc: UNREACHABLE, registry: registryOf('1') })
    const env = { DOCREG_CONFIG: '', DOCREG_REGISTRY: registryOf('2') }
    expect((await asked([], env)).registry).toBe(registryOf('2'))
    const flag = ['--registry', registryOf('3')]
    expect((await asked(flag, env)).registry).toBe(registryOf('3'))
  })

  test('behavior: --config names another file', async () => {
    const other = config({ rpc: UNREACHABLE, registry: registryOf('4') }, 'other.json')
    expect((await asked(['--config', other])).registry).toBe(registryOf('4'))
  })

  const bad = async (content: string, mode = 0o600) => {
    const file = join(dir, 'bad.json')
    writeFileSync(file, content)
    await run('/bin/chmod', [mode.toString(8), file])
    const { code, stderr } = await docreg(['verify', '-', '--config', file], { stdin: ID })
    expect(code).toBe(64)
    return stderr
  }

  test.each([
    ['an unknown setting', '{"rcp":"x"}', /rcp is not a setting.*rpc/],
    ['what is not an object', '[]', /must hold a JSON object/],
    ['a value of another type', '{"rpc":{"url":"x"}}', /rpc must be/],
  ])('error: refuses %s', async (_, content, message) => {
    expect(await bad(content)).toMatch(message)
  })

  test('error: refuses a file that everybody can change', async () => {
    expect(await bad('{}', 0o666)).toContain('can be written by others')
  })
})

test('default: npx runs it from a folder of the checkout', async () => {
  const bin = fileURLToPath(new URL('../../scripts/docreg.mjs', import.meta.url))
  const { code, stdout } = await run(process.execPath, [bin, '--version'], {
    cwd: dir,
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: dir },
  })
  expect({ code, stdout }).toEqual({ code: 0, stdout: '0.1.0\n' })
})
