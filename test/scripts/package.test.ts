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
import { afterAll, beforeAll, expect, test } from 'vitest'
import vectors from '#corpus/vectors/documents.json' with { type: 'json' }
import proofs from '#corpus/vectors/state-proofs.json' with { type: 'json' }

// The package as somebody else has it: packed, in a folder of its own, with the dependencies that
// it names and no others.

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const consumer = mkdtempSync(join(tmpdir(), 'library-'))

beforeAll(async () => {
  await run('node', ['scripts/library.ts'], { cwd: root })
  await run('npm', ['pack', join(root, 'dist/library'), '--pack-destination', consumer], {
    cwd: consumer,
  })
  const [tarball = ''] = readdirSync(consumer)
  const modules = join(consumer, 'node_modules')
  const installed = join(modules, 'document-registry')
  mkdirSync(installed, { recursive: true })
  await run('tar', [
    ...['-xzf', join(consumer, tarball)],
    ...['-C', installed, '--strip-components=1'],
  ])
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  writeFileSync(join(consumer, 'use.mjs'), USE)
  writeFileSync(join(consumer, 'use.mts'), TYPED)
  DOCUMENTED.forEach((code, i) => {
    writeFileSync(join(consumer, `documented${i}.mts`), code)
  })
})
afterAll(() => rmSync(consumer, { recursive: true, force: true }))

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
const { createChainReader } = await import('document-registry/verifier')
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
const TYPED = `
import { type Hex, decodePublicId } from 'document-registry/document'
import { type Check, createChainReader, createFetchProvider, createQuorumReader, type Verdict, verify, type VerifyOptions } from 'document-registry/verifier'

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

/** The manuals' examples of the library, with declarations of what they leave out. */
const DOCUMENTED = [
  ...['verify', 'audit', 'integrate']
    .map((name) => readFileSync(join(root, 'docs', `${name}.md`), 'utf8'))
    .join('')
    .matchAll(/```ts\n(.*?)```/gs),
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

test.each(nodes())('default: can be imported by %s', async (node) => {
  const { stdout: version } = await run(node, ['--version'])
  expect(Number(/^v(\d+)/.exec(version)?.[1])).toBeGreaterThanOrEqual(20)
  const { stdout } = await run(node, ['use.mjs'], { cwd: consumer })
  expect(JSON.parse(stdout)).toEqual(TOLD)
})

test.each(nodes())('default: the command runs with %s', async (node) => {
  const command = join(consumer, 'node_modules/document-registry/cli/docreg.js')
  const photo = join(root, 'test/cli/images/photo.jpg')
  const sources = [...['--rpc', 'http://127.0.0.1:1'], ...['--registry', proof?.registry ?? '']]
  const { code, stdout } = await run(node, [command, 'verify', photo, '--json', ...sources], {
    cwd: consumer,
  }).catch((error) => error)
  expect(code).toBe(2)
  expect(JSON.parse(stdout).status).toBe('unverifiable')
  const template = await run(node, [command, 'template'], { cwd: consumer })
  expect(template.stdout).toContain('subjectName,subjectId')
  const help = await run(node, [command, 'help', 'issue'], { cwd: consumer })
  expect(help.stdout).toContain('$ docreg issue people.csv')
  const costs = await run(node, [command, 'registry', 'costs'], { cwd: consumer }).catch((e) => e)
  expect(costs).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('works only in a checkout'),
  })
})

test.each(nodes())('default: an audit runs with %s, or says which Node it needs', async (node) => {
  const command = join(consumer, 'node_modules/document-registry/cli/docreg.js')
  const sources = ['--rpc', 'http://127.0.0.1:1', '--registry', proof?.registry ?? '']
  const { code, stderr } = await run(node, [command, 'audit', '--issuer', '1', ...sources], {
    cwd: consumer,
  }).catch((error) => error)
  const { stdout: has } = await run(node, ['-p', "!!process.getBuiltinModule?.('node:sqlite')"])
  expect(code).toBe(has.trim() === 'true' ? 2 : 64)
  if (code === 64) expect(stderr).toContain('requires Node 22.13 or newer')
})

test('default: fits its budget when it is bundled for browsers', async () => {
  const whole = await build({
    stdin: {
      contents: `export * from 'document-registry/verifier'`,
      resolveDir: consumer,
    },
    bundle: true,
    minify: true,
    // Fails for an import of any Node module.
    platform: 'browser',
    format: 'esm',
    target: ['es2022', 'chrome111', 'firefox114', 'safari16.4'],
    write: false,
  })
  const size = gzipSync(whole.outputFiles[0]?.contents ?? '').length
  expect(size).toBeGreaterThan(1_000)
  expect(size).toBeLessThan(40_000)
})

test.each(['nodenext', 'bundler'])(
  'default: its types resolve with moduleResolution %s',
  async (moduleResolution) => {
    const module = moduleResolution === 'bundler' ? 'esnext' : 'nodenext'
    const { stdout } = await run(
      'tsc',
      [
        'use.mts',
        ...DOCUMENTED.map((_, i) => `documented${i}.mts`),
        ...['--noEmit', '--strict', '--target', 'es2022'],
        ...['--module', module, '--moduleResolution', moduleResolution],
        ...['--lib', 'es2022,dom,dom.iterable', '--types', ''],
        // Once is enough for the types themselves.
        ...(moduleResolution === 'bundler' ? ['--skipLibCheck'] : []),
      ],
      { cwd: consumer },
    ).catch((error) => error)
    expect(DOCUMENTED).toHaveLength(5)
    expect(stdout).toBe('')
  },
)
