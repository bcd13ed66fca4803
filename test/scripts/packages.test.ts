import { execFile } from 'node:child_process'
import {
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
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import vectors from '#corpus/vectors/documents.json' with { type: 'json' }
import proofs from '#corpus/vectors/state-proofs.json' with { type: 'json' }
import { makePackages, type Package } from '#scripts/packages.ts'
import manifest from '../../package.json' with { type: 'json' }
import { npmTools } from './npm-tools.ts'

// The packages as somebody else has them: packed, in a folder of their own, with the dependencies
// that they name and no others.

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const consumer = mkdtempSync(join(tmpdir(), 'packages-'))
const modules = join(consumer, 'node_modules')
const installed = (name: string) => join(modules, name)
const tarballs = new Map<string, string>()
let made: Package[]

beforeAll(async () => {
  made = await makePackages(join(consumer, 'made'))
  for (const { name, folder } of made) {
    mkdirSync(installed(name), { recursive: true })
    const { stdout } = await run('npm', ['pack', folder, '--json'], { cwd: consumer })
    const [{ filename }] = JSON.parse(stdout)
    tarballs.set(name, join(consumer, filename))
    const unpacked = ['-C', installed(name), '--strip-components=1']
    await run('tar', ['-xzf', join(consumer, filename), ...unpacked])
    for (const dependency of dependenciesOf(name)) {
      const place = join(modules, dependency)
      mkdirSync(dirname(place), { recursive: true })
      if (!existsSync(place)) symlinkSync(join(root, 'node_modules', dependency), place)
    }
  }
  writeFileSync(join(consumer, 'use.mjs'), USE)
  writeFileSync(join(consumer, 'use.cjs'), REQUIRE)
  writeFileSync(join(consumer, 'use.mts'), TYPED)
  DOCUMENTED.forEach((code, i) => {
    writeFileSync(join(consumer, `documented${i}.mts`), code)
  })
})
afterAll(() => rmSync(consumer, { recursive: true, force: true }))

/** Two linters of packages. */
const linters = await npmTools({ '@arethetypeswrong/cli': '0.18.5', publint: '0.3.25' })

const manifestOf = (name: string) =>
  JSON.parse(readFileSync(join(installed(name), 'package.json'), 'utf8'))
const dependenciesOf = (name: string) => Object.keys(manifestOf(name).dependencies)

const [document] = vectors.documents
const [proof] = proofs.cases
const USE = `
import { cidOf, decodePublicId, openDocument } from 'document-registry/document'
import { ChainError, readStateProof, verify, verifyBundle } from 'document-registry/verifier'

import { createClient } from 'document-registry/client'

const { publicId, sealed, cid } = ${JSON.stringify(document)}
const { stateProof, registry, issuerId, documentHash } = ${JSON.stringify(proof)}
const { hash, documentKey } = decodePublicId(publicId)
const down = { request: async () => { throw new Error('down') } }
const { subjectName } = await openDocument(new TextEncoder().encode(sealed), documentKey)
const { createChainReader } = await import('document-registry')
export const told = {
  subjectName,
  cid: cidOf(hash) === cid,
  status: readStateProof(stateProof, registry, { issuerId, documentHash }).status,
  verdict: (await verify(publicId, { chain: createChainReader(down, registry), blocks: [] })).status,
  refused: await verifyBundle('{}', { registry, trustedBlocks: [] }).catch(({ code }) => code),
  class: new ChainError('rpc_error', '').name,
  client: await createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k', maxAttempts: 1 })
    .checkHealth()
    .catch(({ code }) => code),
}
if (globalThis.process) console.log(JSON.stringify(told))
`
const TOLD = {
  subjectName: document?.document.subjectName,
  cid: true,
  status: 'valid',
  verdict: 'unverifiable',
  refused: 'bundle_malformed',
  class: 'ChainError',
  client: 'no_answer',
}
const REQUIRE = `
const { openDocument, decodePublicId } = require('document-registry/document')
const { verify } = require('document-registry')
const isSame = verify === require('document-registry/verifier').verify
const { publicId, sealed } = ${JSON.stringify(document)}
openDocument(new TextEncoder().encode(sealed), decodePublicId(publicId).documentKey)
  .then(({ subjectName }) => console.log(JSON.stringify({ subjectName, isSame })))
`
const TYPED = `
import { type Hex, decodePublicId } from 'document-registry/document'
import { type Check, createChainReader, createFetchProvider, createQuorumReader, type Verdict, verify, type VerifyOptions } from 'document-registry'

import { type CallError, createClient } from 'document-registry/client'

const client = createClient({ baseUrl: 'http://127.0.0.1', apiKey: 'k' })
const body = { subjectName: 'Ada', subjectId: '1', category: 'x', issuedAt: '2026-01-31' }
export const issued: Promise<{ publicId: string }> = client.issueDocument({ body })
export const code: (error: CallError) => string = ({ code }) => code
// @ts-expect-error
client.issueDocument({ body: { subjectName: 7 } })

const reader = createChainReader(createFetchProvider('http://127.0.0.1'), 'eip155:1:0x')
const options: VerifyOptions = { chain: createQuorumReader([reader], 1), blocks: [], onCheck: (check: Check) => void check.code }
export const verdict: Promise<Verdict> = verify('x', options)
export const hash: Uint8Array = decodePublicId('x').hash
export const hex: Hex = '0x'
// @ts-expect-error
export const wrong: number = verdict
`

/** The examples on the library's page, with declarations of what they leave out. */
const DOCUMENTED = [
  ...readFileSync(join(root, 'docs/npm/document-registry.md'), 'utf8').matchAll(
    /```ts\n(.*?)```/gs,
  ),
].map(([, code = '']) => {
  const given = {
    apiKey: 'string',
    publicId: 'string',
    registry: "import('document-registry/document').RegistryId",
    text: 'string',
    sealed: 'Uint8Array',
    issuerId: 'number',
    deployedIn: 'number',
    codeHash: "import('document-registry/verifier').SlotProof['key']",
    provider: "import('document-registry/verifier').Eip1193Provider",
    blocks: "import('document-registry/verifier').BlockSource[]",
    credential: 'string',
    nonce: 'string',
  }
  const missing = Object.entries(given).filter(([name]) => !code.includes(`const ${name} =`))
  return missing
    .map(([name, type]) => `declare const ${name}: ${type}\n`)
    .join('')
    .concat(code)
})

/** Node as the machine has it, beside the pinned one: an older one, on most. */
function nodes(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const outside = folders.filter((folder) => !folder.includes('node_modules'))
  const found = outside.map((folder) => join(folder, 'node')).find((path) => existsSync(path))
  return found ? [process.execPath, found] : [process.execPath]
}

test('makes the same bytes in another folder', async () => {
  const again = await makePackages(join(consumer, 'again'))
  const filesOf = (all: Package[]) =>
    all.flatMap(({ folder }) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length))
        .sort()
        .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') })),
    )
  expect(filesOf(again)).toEqual(filesOf(made))
  for (const { path, text } of filesOf(made)) {
    expect(text.includes(root) || text.includes(consumer), path).toBe(false)
    // Node resolves these only inside this repository.
    expect(text, path).not.toMatch(/from ['"]#/)
  }
})

describe.skipIf(linters === undefined)('linted', () => {
  test.each(['document-registry', 'docreg'])('publint finds nothing in %s', async (name) => {
    const args = [join(linters ?? '', 'publint/src/cli.js'), 'run', installed(name), '--strict']
    const { stdout } = await run(process.execPath, args)
    expect(stdout).toContain('All good!')
  })

  test('attw finds nothing in the library', async () => {
    const program = join(linters ?? '', '@arethetypeswrong/cli/dist/index.js')
    const tarball = tarballs.get('document-registry') ?? ''
    const args = [program, tarball, '--profile', 'esm-only', '--no-color', '--no-emoji']
    const { stdout } = await run(process.execPath, args)
    const parts = stdout.match(/^node16 \(from ESM\): OK \(ESM\)\nbundler: OK /gm)
    expect(parts, stdout).toHaveLength(4)
  })
})

test('the library has three dependencies, and the command adds no second copy of one', () => {
  expect(dependenciesOf('document-registry')).toHaveLength(3)
  expect(dependenciesOf('docreg')).toContain('document-registry')
  expect(manifestOf('docreg').dependencies['document-registry']).toBe(manifest.version)
  const command = readFileSync(join(installed('docreg'), 'apps/docreg/docreg.js'), 'utf8')
  expect(command).not.toMatch(/^\/\/ packages\/(document|verifier|client)\//m)
})

test.each(['document-registry', 'docreg'])(
  '%s reads every address from the manifest of the repository',
  (name) => {
    const page = manifest.repository.url.replace(/^git\+|\.git$/g, '')
    const { homepage, bugs, repository, version } = manifestOf(name)
    expect({ homepage, bugs, repository, version }).toEqual({
      homepage: `${page}#readme`,
      bugs: `${page}/issues`,
      repository: manifest.repository,
      version: manifest.version,
    })
    const readme = readFileSync(join(installed(name), 'README.md'), 'utf8')
    const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
    expect(links.length).toBeGreaterThan(3)
    const blob = `${page}/blob/v${manifest.version}/`
    for (const link of links) {
      expect(link.startsWith(blob), link).toBe(true)
      const [path = ''] = link.slice(blob.length).split('#')
      expect(existsSync(join(root, path)), link).toBe(true)
    }
  },
)

test.each(nodes())('can be imported by %s', async (node) => {
  const { stdout: version } = await run(node, ['--version'])
  expect(Number(/^v(\d+)/.exec(version)?.[1])).toBeGreaterThanOrEqual(20)
  const { stdout } = await run(node, ['use.mjs'], { cwd: consumer })
  expect(JSON.parse(stdout)).toEqual(TOLD)
  const required = await run(node, ['use.cjs'], { cwd: consumer })
  expect(JSON.parse(required.stdout)).toEqual({ subjectName: TOLD.subjectName, isSame: true })
})

test.each(nodes())('the command runs with %s', async (node) => {
  const command = join(installed('docreg'), manifestOf('docreg').bin.docreg)
  const photo = join(root, 'test/apps/docreg/images/photo.jpg')
  const sources = ['--rpc', 'http://127.0.0.1:1', '--registry', proof?.registry ?? '']
  const { code, stdout } = await run(node, [command, 'verify', photo, '--json', ...sources], {
    cwd: consumer,
  }).catch((error) => error)
  expect(code).toBe(2)
  expect(JSON.parse(stdout).status).toBe('unverifiable')
  const version = await run(node, [command, '--version'], { cwd: consumer })
  expect(version.stdout).toBe(`${manifest.version}\n`)
  const template = await run(node, [command, 'template'], { cwd: consumer })
  expect(template.stdout).toContain('subjectName,subjectId')
  const help = await run(node, [command, 'help', 'issue'], { cwd: consumer })
  expect(help.stdout).toContain('$ docreg issue people.csv')
  const copying = ['certificate', '--template', 'diploma', '--new-template']
  const copy = mkdtempSync(join(consumer, 'copy-'))
  await run(node, [command, ...copying, join(copy, 'ours')], { cwd: consumer })
  expect(readdirSync(join(copy, 'ours'))).toContain('template.typ')
  const costs = await run(node, [command, 'registry', 'costs'], { cwd: consumer }).catch((e) => e)
  expect(costs).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('works only in a checkout'),
  })
})

test.each(nodes())('an audit runs with %s, or says which Node it needs', async (node) => {
  const command = join(installed('docreg'), manifestOf('docreg').bin.docreg)
  const sources = ['--rpc', 'http://127.0.0.1:1', '--registry', proof?.registry ?? '']
  const { code, stderr } = await run(node, [command, 'audit', '--issuer', '1', ...sources], {
    cwd: consumer,
  }).catch((error) => error)
  const { stdout: has } = await run(node, ['-p', "!!process.getBuiltinModule?.('node:sqlite')"])
  expect(code).toBe(has.trim() === 'true' ? 2 : 64)
  if (code === 64) expect(stderr).toContain('requires Node 22.13 or newer')
})

const DIRECT = `import { createChainReader, createFetchProvider, createIpfsGatewaySource, verify } from 'document-registry'
export const check = (publicId, rpc, registry, ipfs) =>
  verify(publicId, { chain: createChainReader(createFetchProvider(rpc), registry), blocks: [createIpfsGatewaySource(ipfs)] })`

test.each([
  ['verify one document', DIRECT, 25_000],
  ['everything of the verifier', `export * from 'document-registry/verifier'`, 40_000],
])('%s fits its budget in a bundle for browsers', async (_what, contents, budget) => {
  const bundle = await build({
    stdin: { contents, resolveDir: consumer },
    bundle: true,
    minify: true,
    // Fails for an import of any Node module, and there is no loader of WebAssembly.
    platform: 'browser',
    format: 'esm',
    target: ['es2022', 'chrome111', 'firefox114', 'safari16.4'],
    write: false,
  })
  const size = gzipSync(bundle.outputFiles[0]?.contents ?? '').length
  expect(size).toBeGreaterThan(1_000)
  expect(size).toBeLessThan(budget)
})

test.each(['nodenext', 'node16', 'bundler'])(
  'its types resolve with moduleResolution %s',
  async (moduleResolution) => {
    const module = moduleResolution === 'bundler' ? 'esnext' : moduleResolution
    const { stdout } = await run(
      'tsc',
      [
        'use.mts',
        ...DOCUMENTED.map((_, i) => `documented${i}.mts`),
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--module',
        module,
        '--moduleResolution',
        moduleResolution,
        '--lib',
        'es2022,dom,dom.iterable',
        '--types',
        '',
        // Once is enough for the types themselves.
        ...(moduleResolution === 'nodenext' ? [] : ['--skipLibCheck']),
      ],
      { cwd: consumer },
    ).catch((error) => error)
    expect(DOCUMENTED).toHaveLength(7)
    expect(stdout).toBe('')
  },
)
