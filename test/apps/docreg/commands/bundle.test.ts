import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import type { Hex } from '#document/hex.ts'
import { readBundle } from '#verifier/bundle.ts'
import { docreg } from '../../../support/docreg.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../../support/stack.ts'

let stack: Stack
let dir: string
let publicId: string
let file: string
let blockHash: Hex
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-'))
  stack = await startStack()
  publicId = (await stack.issue(ADA)).body.data.publicId
  file = join(dir, 'bundle.json')
  const { code, stderr } = await docreg(['bundle', publicId, ...asked(), '--out', file])
  if (code !== 0) throw new Error(stderr)
  blockHash = await trustedHashOf(file)
})
afterAll(async () => {
  await stack?.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** @returns The chain's hash of a bundle's block. */
async function trustedHashOf(path: string): Promise<Hex> {
  const { blockNumber } = readBundle(readFileSync(path, 'utf8')).block
  const block = await stack.provider.request({
    method: 'eth_getBlockByNumber',
    params: [`0x${blockNumber.toString(16)}`, false],
  })
  return (block as { hash: Hex }).hash
}

const asked = () => ['--rpc', stack.chainUrl, '--ipfs', stack.url, '--registry', stack.registry]

/** Any use of the network ends the process. */
const OFFLINE = `data:text/javascript,${encodeURIComponent(
  `import net from 'node:net'
   import dns from 'node:dns'
   const deny = () => { process.exit(99) }
   net.Socket.prototype.connect = deny
   dns.lookup = deny`,
)}`

const offline = (...args: string[]) =>
  docreg(['verify', '--registry', stack.registry, '--json', ...args], {
    env: { NODE_OPTIONS: `--import=${OFFLINE}` },
  })

test('verifies a bundle with the network denied', async () => {
  for (const given of [['--bundle', file], [file], ['--bundle', file, publicId]]) {
    const { code, stdout } = await offline(...given, '--block-hash', blockHash)
    const verdict = JSON.parse(stdout)
    expect(verdict).toMatchObject({
      status: 'valid',
      document: ADA,
      asOf: { blockHash },
    })
    expect(verdict.warnings).toHaveLength(1)
    expect(verdict.network).toBe('test')
    expect(code).toBe(0)
  }
})

test('making and reading a bundle of a test network shows the banner', async () => {
  const made = await docreg(['bundle', publicId, ...asked()])
  expect(made.stderr).toBe('Warning: Test network, or one not known to carry real documents\n')
  const { stdout } = await docreg([
    'verify',
    file,
    '--registry',
    stack.registry,
    '--block-hash',
    blockHash,
  ])
  expect(stdout.split('\n')[1]).toBe('Test network, or one not known to carry real documents')
})

test('the network is denied', async () => {
  const { code } = await offline(publicId, '--rpc', stack.chainUrl)
  expect(code).toBe(99)
})

test('writes a bundle that only its owner can read, because it holds the key', async () => {
  expect(statSync(file).mode & 0o077).toBe(0)
  const before = join(dir, 'before.json')
  writeFileSync(before, '', { mode: 0o644 })
  await docreg(['bundle', publicId, ...asked(), '--out', before])
  expect(statSync(before).mode & 0o077).toBe(0)
  expect(readFileSync(before, 'utf8')).toContain(publicId)
})

test('writes a bundle of a document that was never issued to standard output', async () => {
  const never = golden.documents[0]?.publicId ?? ''
  const { code, stdout, stderr } = await docreg(['bundle', never, ...asked()])
  expect(code).toBe(0)
  expect(stderr).toContain('Warning')
  const absent = join(dir, 'absent.json')
  writeFileSync(absent, stdout)
  const verdict = await offline(absent, '--block-hash', await trustedHashOf(absent))
  expect(JSON.parse(verdict.stdout).status).toBe('not_issued')
  expect(verdict.code).toBe(1)
})

test('reads an earlier block, before the document was revoked', async () => {
  const before = await stack.provider.request({ method: 'eth_blockNumber' })
  const { publicId: id } = (await stack.issue(ADA)).body.data
  const issued = await stack.provider.request({ method: 'eth_blockNumber' })
  expect(issued).not.toBe(before)
  await stack.request(`/v1/documents/${id}/revoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
    },
    body: '{}',
  })
  const statusAsOf = async (...options: string[]) => {
    const { stdout } = await docreg(['verify', id, '--json', ...asked(), ...options])
    return JSON.parse(stdout).status
  }
  expect(await statusAsOf()).toBe('revoked')
  expect(await statusAsOf('--as-of', String(Number(issued)))).toBe('valid')
  expect(await statusAsOf('--as-of', String(Number(before)))).toBe('not_issued')
})

test('refuses a block that the node does not have', async () => {
  const args = ['bundle', publicId, ...asked(), '--as-of', '70000']
  const { code, stdout, stderr } = await docreg(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('the state of block 70000')
})

test('reports an untrusted block', async () => {
  const { code, stdout } = await offline(file, '--block-hash', `0x${'1'.repeat(64)}`)
  expect(code).toBe(2)
  const { checks, warnings } = JSON.parse(stdout)
  expect(checks).toEqual([{ check: 'chain', outcome: 'unknown', code: 'block_untrusted' }])
  // So that the reader can ask somebody they trust.
  expect(warnings[0]).toContain(blockHash)
})

test('rejects a bundle of a registry other than the trusted one', async () => {
  const { code, stdout } = await docreg([
    'verify',
    file,
    '--json',
    '--block-hash',
    blockHash,
    '--registry',
    `eip155:1:0x${'a'.repeat(40)}`,
  ])
  expect(code).toBe(2)
  expect(JSON.parse(stdout).checks[0].code).toBe('other_registry')
})

test('rejects a bundle that was changed', async () => {
  const bundle = JSON.parse(readFileSync(file, 'utf8'))
  const [slot] = bundle.stateProof.storageProof
  slot.value = `${slot.value.slice(0, -1)}${slot.value.endsWith('0') ? '1' : '0'}`
  const changed = join(dir, 'changed.json')
  writeFileSync(changed, JSON.stringify(bundle))
  const { code, stdout } = await offline(changed, '--block-hash', blockHash)
  expect(code).toBe(2)
  expect(JSON.parse(stdout).checks[0].code).toBe('proof_invalid')
})

test.each<[string, (text: string) => Uint8Array]>([
  ['a byte order mark', (text) => Buffer.from(`\ufeff${text}`)],
  [
    'a byte that is not UTF-8',
    (text) =>
      Buffer.concat([
        Buffer.from(text.slice(0, -1)),
        Buffer.from(',"x":"'),
        Buffer.of(0xff),
        Buffer.from('"}'),
      ]),
  ],
  ['UTF-16 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16', (text) => Buffer.from(text, 'utf16le')],
  ['a no-break space before it', (text) => Buffer.from(`\u00a0${text}`)],
])('refuses a bundle in %s', async (_, encode) => {
  const encoded = join(dir, 'encoded.json')
  writeFileSync(encoded, encode(readFileSync(file, 'utf8').trim()))
  const { code, stdout } = await offline(encoded, '--block-hash', blockHash)
  expect(JSON.parse(stdout).error.code).toBe('json_syntax')
  expect(code).toBe(2)
})

test('rejects a bundle of another document', async () => {
  const other = (await stack.issue(ADA)).body.data.publicId
  const { code, stdout } = await offline('--bundle', file, other, '--block-hash', blockHash)
  expect(code).toBe(2)
  expect(JSON.parse(stdout).error.code).toBe('bundle_of_another')
})

test.each<[string, () => string[]]>([
  ['no trusted block', () => ['verify', file]],
  ['a node besides', () => ['verify', file, '--block-hash', blockHash, '--rpc', stack.chainUrl]],
  [
    '--bundle without a bundle',
    () => ['verify', '--bundle', join(dir, 'id'), '--block-hash', blockHash],
  ],
  [
    'a bundle from two nodes',
    () => ['bundle', publicId, '--rpc', stack.chainUrl, '--rpc', stack.chainUrl],
  ],
])('explains wrong usage: %s', async (_, args) => {
  writeFileSync(join(dir, 'id'), publicId)
  const { code } = await docreg([...args(), '--registry', stack.registry])
  expect(code).toBe(64)
})

test('reports a file that cannot be written and a node that is down', async () => {
  const out = join(dir, 'no', 'such', 'folder')
  const unwritable = await docreg(['bundle', publicId, ...asked(), '--out', out])
  expect(unwritable).toMatchObject({ code: 2, stdout: '' })
  const down = await docreg([
    'bundle',
    publicId,
    '--json',
    '--rpc',
    'http://127.0.0.1:1',
    '--registry',
    stack.registry,
  ])
  expect(down.code).toBe(2)
  expect(JSON.parse(down.stdout).error.code).toBe('rpc_unreachable')
})
