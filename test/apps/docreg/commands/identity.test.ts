import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { docreg } from '../../../support/docreg.ts'
import { serveInTest } from '../../../support/serve-in-test.ts'

const registry = `eip155:1:0x${'12'.repeat(20)}`
const local = registry.replace(':1:', ':31337:')
const account = `0x${'ab'.repeat(20)}`
const other = `0x${'CD'.repeat(20)}`

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-identity-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const make = (...more: string[]) =>
  docreg(['identity', '--registry', registry, '--issuer', '7', ...more])

describe('docreg identity', () => {
  test('writes the file for a domain', async () => {
    const { code, stdout } = await make('--domain', 'Example.edu')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      '@context': expect.any(Array),
      id: 'did:web:example.edu',
      service: [
        {
          id: 'did:web:example.edu#document-registry',
          type: 'DocumentRegistry',
          serviceEndpoint: [{ registry, issuerId: 7 }],
        },
      ],
    })
  })

  test('accepts a URI with a path and accounts, writes a file, and says where to serve it', async () => {
    const out = join(dir, 'did.json')
    const { code, stdout, stderr } = await make(
      '--uri',
      'https://example.edu:8443/law/',
      '--out',
      out,
      '--account',
      account,
      '--account',
      other,
    )
    expect([code, stderr]).toEqual([0, ''])
    const document = JSON.parse(readFileSync(out, 'utf8'))
    expect(document.id).toBe('did:web:example.edu%3A8443:law')
    expect(
      document.verificationMethod.map(
        (one: { blockchainAccountId: string }) => one.blockchainAccountId,
      ),
    ).toEqual([`eip155:1:${account}`, `eip155:1:${other.toLowerCase()}`])
    expect(stdout).toContain('https://example.edu:8443/law/did.json')
    expect(stdout).toContain('must be https://example.edu:8443/law')
    expect(stdout).toContain('location = /law/did.json {')
  })

  test('writes the keys that sign credentials', async () => {
    const [x, y] = ['A'.repeat(43), `${'B'.repeat(42)}A`]
    const key = { kty: 'EC', crv: 'P-256', x, y, kid: 'one' }
    const file = join(dir, 'jwt-vc-issuer.json')
    const write = (keys: object[]) =>
      writeFileSync(file, JSON.stringify({ issuer: 'https://a.edu', jwks: { keys } }))
    write([{ ...key, alg: 'ES256' }])
    const { code, stdout } = await make('--domain', 'a.edu', '--keys', file)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      verificationMethod: [{ id: 'did:web:a.edu#one', publicKeyJwk: key }],
      assertionMethod: ['did:web:a.edu#one'],
    })
    write([{ kty: 'RSA' }])
    expect((await make('--domain', 'a.edu', '--keys', file)).code).toBe(2)
  })

  const issuer = ['--issuer', '7']
  const domain = ['--domain', 'a.edu']
  test.each<[string, string[]]>([
    ['no issuer', domain],
    ['no domain', issuer],
    ['a domain and a uri', [...issuer, ...domain, '--uri', 'https://a.edu']],
    ['an IP address as the domain', [...issuer, '--domain', '10.0.0.1']],
    ['letters beyond ASCII', [...issuer, '--domain', 'müller.example']],
    ['a query', [...issuer, '--uri', 'https://a.edu?b']],
    ['another action', ['publish', ...issuer, ...domain]],
    ['a short account', [...issuer, ...domain, '--account', '0x12']],
    ['issuer 0', [...domain, '--issuer', '0']],
    ['check into a file', ['check', ...issuer, ...domain, '--out', 'x']],
  ])('explains wrong usage: %s', async (_, args) => {
    const { code, stdout } = await docreg(['identity', '--registry', registry, ...args])
    expect([code, stdout]).toEqual([64, ''])
  })

  test('reports a file that cannot be written', async () => {
    const { code, stderr } = await make('--domain', 'a.edu', '--out', join(dir, 'no', 'folder'))
    expect(code).toBe(2)
    expect(stderr).toContain('cannot be written')
  })
})

describe('docreg identity check', () => {
  const options = (host: string) => [
    '--registry',
    local,
    '--issuer',
    '7',
    '--uri',
    `http://${host}`,
  ]
  const ask = (host: string, ...more: string[]) =>
    docreg(['identity', 'check', ...options(host), ...more])

  /** A server with the file that the command itself makes. */
  const serveOwn = async (headers: Record<string, string>, ...accounts: string[]) => {
    let file = ''
    const host = await serveInTest((_, response) => {
      response.writeHead(200, headers).end(file)
    })
    const listed = accounts.flatMap((one) => ['--account', one])
    file = (await docreg(['identity', ...options(host), ...listed])).stdout
    return host
  }
  const JSON_TYPE = { 'content-type': 'application/json' }
  const OPEN = { 'access-control-allow-origin': '*' }

  test('confirms a file that is served correctly', async () => {
    const host = await serveOwn({ ...JSON_TYPE, ...OPEN }, account)
    const { code, stdout } = await ask(host, '--account', account)
    expect(code).toBe(0)
    expect(stdout).not.toMatch(/fail|warning|Apache/)
    const answer = JSON.parse((await ask(host, '--json')).stdout)
    expect(answer).toMatchObject({
      url: `http://${host}/.well-known/did.json`,
      isLinked: true,
      did: `did:web:${host.replace(':', '%3A')}`,
    })
  })

  test('reports a missing header, with the lines to add', async () => {
    const host = await serveOwn({ 'content-type': 'text/html' })
    const { code, stdout } = await ask(host)
    expect(code).toBe(1)
    expect(stdout).toMatch(/fail +cors +Access-Control-Allow-Origin is missing/)
    expect(stdout).toMatch(/warning +type +Content-Type is text\/html/)
    for (const line of [
      'Header set Access-Control-Allow-Origin "*"',
      'add_header Access-Control-Allow-Origin "*" always;',
      '  /.well-known/did.json\n    Access-Control-Allow-Origin: *',
      '.nojekyll',
    ])
      expect(stdout).toContain(line)
  })

  const codesOf = async (host: string, ...more: string[]) => {
    const { code, stdout } = await ask(host, '--json', ...more)
    const { findings } = JSON.parse(stdout)
    return [
      code,
      ...findings
        .filter((one: { outcome: string }) => one.outcome === 'fail')
        .map((one: { code: string }) => one.code),
    ]
  }

  test('accepts a header that allows only the asking origin', async () => {
    const only = { 'access-control-allow-origin': 'https://example.edu' }
    expect(await codesOf(await serveOwn({ ...JSON_TYPE, ...only }))).toEqual([1, 'no_cors'])
    let file = ''
    const host = await serveInTest(({ headers }, response) => {
      response.setHeader('access-control-allow-origin', headers.origin ?? '').end(file)
    })
    file = (await docreg(['identity', ...options(host)])).stdout
    expect(await codesOf(host)).toEqual([0])
  })

  test('reports everything that stops a verifier from reading it', async () => {
    const code = async (listener: RequestListener) => codesOf(await serveInTest(listener))
    expect(
      await code((_, response) => {
        response.writeHead(301, { location: 'https://www.example.edu/' }).end()
      }),
    ).toEqual([1, 'redirect'])
    expect(await code((_, response) => void response.writeHead(404).end())).toEqual([1, 'status'])
    expect(await code((_, response) => void response.writeHead(429).end())).toEqual([
      2,
      'unreachable',
    ])
    expect(
      await code((_, response) => {
        response.writeHead(200, OPEN).end('a'.repeat(70_000))
      }),
    ).toEqual([1, 'body'])
    expect(
      await code((_, response) => {
        response.writeHead(200, OPEN).end('<!doctype html>')
      }),
    ).toEqual([1, 'malformed'])
    expect(await codesOf('127.0.0.1:1')).toEqual([2, 'unreachable'])
  })

  test('reports another issuer, and an account that is not listed', async () => {
    const host = await serveOwn({ ...JSON_TYPE, ...OPEN }, account)
    expect(await codesOf(host, '--account', other)).toEqual([1, 'account_not_listed'])
    expect(await codesOf(host, '--issuer', '8')).toEqual([1, 'denied'])
  })
})
