import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { installedWith, type Lock, nameOf, readLock, root } from '#scripts/release/dependencies.ts'
import { formatLicences, packsOfCertificates, refusedLicences } from '#scripts/release/licences.ts'
import { formatSbom } from '#scripts/release/sbom.ts'
import { required } from '../faults/support/machine.ts'
import { IS_LONG } from '../support/long.ts'
import { pythonOfExamples } from '../tools/examples/python.ts'

const run = promisify(execFile)
const dir = mkdtempSync(join(tmpdir(), 'release-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const lock = readLock()
const installed = installedWith(manifest, lock)

describe('dependencies', () => {
  const names = Object.keys(installed).map(nameOf)

  test('are those that npm installs for a user', async () => {
    const { stdout } = await run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root })
    const paths = stdout.split('\n').filter((path) => path.includes('node_modules'))
    const listed = paths.map((path) => path.slice(path.indexOf('node_modules')))
    expect(listed).toContain('node_modules/ethers')
    // An optional peer of valibot, which is there for this checkout.
    const isTypeScript = (path: string) => /^node_modules\/@?typescript\b/.test(path)
    // npm also lists what the install script of `node` needed.
    const isOurs = (path: string) => lock[path]?.dev !== true && !isTypeScript(path)
    expect(listed.filter((path) => isOurs(path) && !installed[path])).toEqual([])
    for (const name of ['typescript', 'hardhat', 'vitest']) expect(names).not.toContain(name)
  })

  test('names what the lock file lacks', () => {
    expect(() => installedWith({ dependencies: { absent: '1.0.0' } }, lock)).toThrow(
      'package-lock.json has no absent',
    )
  })
})

describe('licences', () => {
  const licensed = (license?: string): Lock => ({
    'node_modules/a/node_modules/@b/c': { version: '1.2.3', ...(license && { license }) },
  })

  test('of all dependencies and fonts are permissive', () => {
    expect(refusedLicences({ ...installed, ...packsOfCertificates() })).toEqual([])
  })

  test.each(['MIT', '(MIT OR GPL-3.0-only)', 'GPL-3.0-only OR MIT AND ISC'])(
    'allows %s',
    (license) => expect(refusedLicences(licensed(license))).toEqual([]),
  )

  test.each([
    'GPL-3.0-only',
    'LGPL-2.1-or-later',
    'AGPL-3.0',
    'MPL-2.0',
    'SEE LICENSE IN x',
    'UNLICENSED',
    'MIT AND GPL-2.0',
    '(MIT AND (GPL-2.0 OR ISC))',
    '',
    undefined,
  ])('names the package with the licence %s', (license) => {
    expect(refusedLicences(licensed(license))).toEqual([
      expect.stringContaining(`@b/c 1.2.3 has the licence ${license || '(none)'},`),
    ])
  })

  test('the licence file lists every package, and the text of each that is installed', () => {
    const text = formatLicences('Packages', installed)
    for (const [path, { version, license }] of Object.entries(installed))
      expect(text).toContain(`${nameOf(path)} ${version}: ${license}\n`)
    expect(text).toContain('Copyright (c) 2016-2025 Richard Moore')
  })
})

test('an SBOM lists every package, and is the same on every path', () => {
  const made = () => formatSbom('application', { ...manifest, name: 'a-gateway' }, installed)
  const { serialNumber, metadata, components } = JSON.parse(made())
  expect({ serialNumber, timestamp: metadata.timestamp }).toEqual({})
  expect(metadata.component).toMatchObject({ name: 'a-gateway', version: manifest.version })
  const versions = Object.entries(installed).map(([path, one]) => `${nameOf(path)}@${one.version}`)
  expect(components.map((one: { 'bom-ref': string }) => one['bom-ref']).sort()).toEqual(
    [...new Set(versions)].sort(),
  )
  expect(made()).toBe(made())
})

/** A clone of this checkout with its uncommitted changes, as a commit. */
function cloneTo(folder: string): string {
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, encoding: 'utf8' })
  mkdirSync(dirname(folder), { recursive: true })
  git(root, 'clone', '--quiet', root, folder)
  const files = git(root, 'ls-files', '-z', '-c', '-o', '--exclude-standard').split('\0')
  for (const name of git(folder, 'ls-files', '-z').split('\0').filter(Boolean))
    rmSync(join(folder, name))
  for (const name of files.filter((name) => name !== '' && existsSync(join(root, name))))
    cpSync(join(root, name), join(folder, name))
  git(folder, 'add', '--all')
  const date = '2026-11-26T00:00:00Z'
  execFileSync(
    'git',
    [
      '-c',
      'user.name=test',
      '-c',
      'user.email=test@example.org',
      'commit',
      '--quiet',
      '--allow-empty',
      '-m',
      'Test a release',
    ],
    {
      cwd: folder,
      env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
    },
  )
  return folder
}

test('refuses a checkout with changes', async () => {
  const clone = cloneTo(join(dir, 'changed'))
  writeFileSync(join(clone, 'new.txt'), '')
  const ended = await run('node', ['scripts/release.mjs'], { cwd: clone }).catch((error) => error)
  expect(ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'release: commit the changes of this checkout first: a release is made from a commit\n',
  })
  expect(existsSync(join(clone, 'dist'))).toBe(false)
})

const python = required(await pythonOfExamples())

describe.runIf(IS_LONG)('two complete releases', () => {
  async function makeRelease(clone: string, umask: string): Promise<string> {
    await run('sh', ['-c', `umask ${umask} && npm run release`], { cwd: clone })
    return join(clone, 'dist', 'release')
  }

  test('are identical byte by byte, and complete', { timeout: 1_200_000 }, async () => {
    const first = cloneTo(join(dir, 'a'))
    const second = join(dir, 'somewhere', 'else, longer')
    await run('git', ['clone', '--quiet', first, second])
    const one = await makeRelease(first, '022')
    const other = await makeRelease(second, '077')
    const names = readdirSync(one)
    expect(readdirSync(other)).toEqual(names)
    const differing = names.filter(
      (name) => !readFileSync(join(one, name)).equals(readFileSync(join(other, name))),
    )
    expect(differing).toEqual([])
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: one })
    expect(names).toEqual([
      'DocumentRegistry.abi.json',
      'DocumentRegistry.input.json',
      'DocumentRegistry.json',
      'SHA256SUMS',
      'THIRD-PARTY-LICENSES.txt',
      `docreg-${manifest.version}.tgz`,
      'docreg.cdx.json',
      `document-registry-${manifest.version}.tgz`,
      expect.stringMatching(/^document-registry-corpus-\d+\.\d+\.\d+\.tar\.gz$/),
      'document-registry.cdx.json',
      'gateway.cdx.json',
      'openapi.json',
      'verify.html',
    ])
  })

  test.skipIf(python === undefined)(
    'the archive of the corpus has all that an implementation needs',
    async () => {
      const release = join(dir, 'a', 'dist', 'release')
      const [archive = ''] = readdirSync(release).filter((name) => name.includes('-corpus-'))
      const alone = join(dir, 'alone')
      mkdirSync(alone)
      await run('tar', ['-xzf', join(release, archive), '-C', alone, '--strip-components=1'])
      const cases = ['valid-minimal', 'revoked-unspecified']
      const judge = ['--', python ?? '', 'tools/examples/judge.py']
      const { stdout } = await run('python3', ['tools/corpus/run.py', ...cases, ...judge], {
        cwd: alone,
      })
      expect(stdout).toMatch(/: 2 as expected, 0 differ, 0 skipped\n$/)
    },
  )
})
