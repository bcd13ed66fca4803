import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DOCREG } from '#cli/commands.ts'
import { findConfigFile } from '#cli/config-file.ts'
import vectors from '#corpus/vectors/documents.json' with { type: 'json' }
import manifest from '../../../package.json' with { type: 'json' }
import { docregProcess as docreg, run } from '../../support/docreg.ts'
import { serveHttp } from '../../support/http.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-command-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const ID = vectors.documents[0]?.publicId ?? ''

describe('help', () => {
  test('lists every command with its summary', async () => {
    const { code, stdout } = await docreg(['--help'])
    expect(code).toBe(0)
    for (const { name } of DOCREG.commands)
      expect(stdout).toMatch(new RegExp(`^  ${name.replace(/ .*/, '')} `, 'm'))
  })

  test.each(DOCREG.commands.map(({ name }) => name))('%s teaches with examples', async (name) => {
    const { code, stdout } = await docreg(name.replace(/\S+$/, 'help $&').split(' '))
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: docreg ${name}`)
    expect(stdout).toContain(`$ docreg ${name}`)
    expect(stdout).toMatch(/Exit code: .*64/)
  })

  test('--version prints the version of the package', async () => {
    expect(await docreg(['--version'])).toMatchObject({ code: 0, stdout: `${manifest.version}\n` })
  })
})

describe('wrong usage', () => {
  test('shows help without a command', async () => {
    const { code, stdout, stderr } = await docreg([])
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
    expect(stderr).toContain('docreg help <command>')
  })

  test('suggests the command that was meant', async () => {
    const { code, stderr } = await docreg(['verfy'])
    expect(code).toBe(64)
    expect(stderr).toContain('Did you mean verify?')
  })

  test('does not repeat a publicId that is given as a command', async () => {
    const { code, stdout, stderr } = await docreg([ID, '--json'])
    expect(code).toBe(64)
    expect(stdout + stderr).not.toContain(ID.slice(0, 10))
    const second = await docreg(['registry', ID])
    expect(second).toMatchObject({ code: 64, stdout: '' })
    expect(second.stderr).not.toContain(ID.slice(0, 10))
  })

  test('prints JSON with --json', async () => {
    const { stdout } = await docreg(['verify', 'a', '--json', '--timeout', 'soon'])
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'usage' })
  })
})

describe('completion', () => {
  test('completes commands and options from their declarations', async () => {
    const { stdout: commands } = await docreg(['complete', '--', 'ver'])
    expect(commands).toMatch(/^verify\t/m)
    // A shell reads one completion a line.
    expect(commands.trim().split('\n')).toEqual([expect.stringMatching(/^verify\t/), ':4'])
    const { stdout: groups } = await docreg(['complete', '--', 'regi'])
    expect(groups).toMatch(/^registry\tDeploy/m)
    const { stdout: options } = await docreg(['complete', '--', 'verify', '--issuer-d'])
    expect(options).toMatch(/^--issuer-domain\t/m)
  })

  test('bash can parse its completion script', async () => {
    const { code, stdout } = await docreg(['completion', 'bash'])
    expect(code).toBe(0)
    expect(await run('/bin/bash', ['-n'], { stdin: stdout })).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('configuration', () => {
  const UNREACHABLE = 'http://127.0.0.1:1'
  const registryOf = (digit: string) => `eip155:31337:0x${digit.repeat(40)}`
  const config = (settings: object, name = 'docreg/docreg.config.json') => {
    const file = join(dir, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify(settings))
    return file
  }
  /** As a user who keeps settings in `docreg/` of `dir`. */
  const unnamed = () => ({ DOCREG_CONFIG: '', XDG_CONFIG_HOME: dir })
  /** An address that names another registry: the command warns, and says which one it trusts. */
  const LINK = `https://a.example/verify#publicId=${ID}&registry=${registryOf('f')}`
  const asked = async (args: string[], env: Record<string, string> = unnamed()) => {
    const { code, stdout } = await docreg(['verify', '-', '--json', '--no-identity', ...args], {
      stdin: LINK,
      cwd: dir,
      env,
    })
    const [warning = ''] = JSON.parse(stdout).warnings
    return { code, registry: /trust, (\S+)$/.exec(warning)?.[1] }
  }

  test("reads docreg.config.json of the user's folder, and names it", async () => {
    config({ rpc: [UNREACHABLE], registry: registryOf('1') })
    expect(await asked([])).toMatchObject({ code: 2, registry: registryOf('1') })
    const { stderr } = await docreg(['verify', '-'], { stdin: ID, cwd: dir, env: unnamed() })
    expect(stderr).toContain('Settings: docreg/docreg.config.json')
    expect(stderr).not.toContain('ignored')
  })

  test('a flag wins over the environment, which wins over the file', async () => {
    config({ rpc: UNREACHABLE, registry: registryOf('1') })
    const env = { ...unnamed(), DOCREG_REGISTRY: registryOf('2') }
    expect((await asked([], env)).registry).toBe(registryOf('2'))
    const flag = ['--registry', registryOf('3')]
    expect((await asked(flag, env)).registry).toBe(registryOf('3'))
  })

  test('--config names another file', async () => {
    const other = config({ rpc: UNREACHABLE, registry: registryOf('4') }, 'other.json')
    // As an editor on Windows saves it.
    writeFileSync(other, `\ufeff${readFileSync(other, 'utf8')}`)
    expect((await asked(['--config', other])).registry).toBe(registryOf('4'))
  })

  test.each(['docreg.config.json', 'data/docreg.config.json'])(
    'a folder of another user gets no key and sets no registry: %s',
    async (name) => {
      const seen: unknown[] = []
      const server = await serveHttp((request, response) => {
        seen.push(request.headers)
        response.end()
      })
      const { url } = server
      const cwd = join(dir, 'filled')
      const settings = { gateway: url, rpc: [url], ipfs: [url], apiKeyFile: 'key' }
      config({ ...settings, registry: registryOf('1') }, `filled/${name}`)
      const env = {
        DOCREG_CONFIG: '',
        XDG_CONFIG_HOME: join(cwd, 'none'),
        DOCREG_API_KEY: 'a-secret',
      }
      for (const [args, missing] of [
        [['documents'], '--gateway'],
        [['verify', '-'], '--registry'],
        [['verify', '-', '--registry', registryOf('2')], '--rpc'],
      ] as const) {
        const { code, stderr } = await docreg(args, { cwd, env, stdin: ID })
        expect(code).toBe(64)
        expect(stderr).toContain(`Warning: ${name} is ignored`)
        expect(stderr).toContain(`give --config ${name}`)
        expect(stderr).toMatch(new RegExp(`^${missing} `, 'm'))
      }
      expect(seen).toEqual([])
      // Once its user names it, it counts.
      await docreg(['documents', '--config', name], { cwd, env })
      expect(seen[0]).toMatchObject({ authorization: 'Bearer a-secret' })
      await server.close()
      rmSync(cwd, { recursive: true })
    },
  )

  test('reads in a checkout what npm start wrote to its data folder', () => {
    const checkout = join(dir, 'checkout')
    const left = config({}, 'checkout/data/docreg.config.json')
    const at = (cwd: string) => findConfigFile(undefined, { env: {}, home: dir, cwd, checkout })
    expect(at(checkout)).toEqual({ path: left, ignored: undefined })
    const own = config({}, '.config/docreg/docreg.config.json')
    expect(at(checkout).path).toBe(left)
    const other = config({}, 'another/data/docreg.config.json')
    expect(at(join(dir, 'another'))).toEqual({ path: own, ignored: other })
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
    ['what is not an object', '[]', /must contain a JSON object/],
    ['a value of another type', '{"rpc":{"url":"x"}}', /rpc must be/],
  ])('refuses %s', async (_, content, message) => {
    expect(await bad(content)).toMatch(message)
  })

  test('refuses a file that everybody can change', async () => {
    expect(await bad('{}', 0o666)).toContain('others can write to')
  })
})

test('npx runs it from a folder of the checkout', async () => {
  const bin = fileURLToPath(new URL('../../../scripts/docreg.mjs', import.meta.url))
  const { code, stdout } = await run(process.execPath, [bin, '--version'], {
    cwd: dir,
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: dir },
  })
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${manifest.version}\n` })
})
