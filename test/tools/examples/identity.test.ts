import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RegistryId } from '#document/registry-id.ts'
import { readIdentity } from '#verifier/checks/identity.ts'
import { identityAddressOf } from '#verifier/identity.ts'
import { createIdentitySource } from '#verifier/readers/identity-source.ts'
import { required } from '../../faults/support/machine.ts'
import { serveHttp, type TestServer } from '../../support/http.ts'
import { EXAMPLES, pythonOfExamples } from './python.ts'

// Compares the library and the Python example on the issuer's domain.

const python = required(await pythonOfExamples())
const SCRIPT = new URL('identity.py', import.meta.url).pathname
const REGISTRY: RegistryId = 'eip155:31337:0x5fbdb2315678afecb367f032d93f642f64180aa3'
const ACCOUNT = `0x${'1a'.repeat(20)}`
const OTHER = `0x${'2b'.repeat(20)}`

const LABEL_63 = 'a'.repeat(63)
const HOST_253 = `${`${LABEL_63}.`.repeat(3)}${'a'.repeat(61)}`
const URIS = [
  '',
  'example.edu',
  'https://example.edu',
  'https://example.edu/',
  'HTTPS://Example.EDU/Law',
  'https://example.edu//',
  'ftp://example.edu',
  'https://example.edu/law/notaries/',
  'https://example.edu/law/../x',
  'https://example.edu/.',
  'https://example.edu/...',
  'https://a.b/%41',
  'https://example.edu?x',
  'https://example.edu#x',
  'https://u@a.example',
  'https://example.edu:443',
  'https://example.edu:0443',
  'https://a.b:80',
  'https://example.edu:65535/x',
  'https://example.edu:65536',
  'https://127.0.0.1',
  'https://[::1]',
  'https://localhost',
  'https://a',
  'https://a.localhost',
  'https://a.1b',
  'https://a.b1',
  'https://-a.example',
  'https://a-.example',
  'https://a..example',
  'https://a.example.',
  'https://.a.b',
  ' https://a.example',
  'https://a.example\n',
  'https://exаmple.edu',
  'https://xn--exmple-4nf.edu',
  'https://a_b.example',
  'https://İ.example',
  `https://${LABEL_63}.example`,
  `https://a${LABEL_63}.example`,
  `https://${HOST_253}`,
  `https://a${HOST_253}`,
  `https://a.example/${'b'.repeat(382)}`,
  `https://a.example/${'b'.repeat(383)}`,
  'did:web:example.edu',
  'did:web:Example.edu:Law',
  'DID:web:example.edu',
  'did:web:example.edu%3A443',
  'did:web:example.edu%3a8443:x:y',
  'did:web:example.edu:',
  'did:web:example.edu/x',
  'did:web:a.b:..',
  'did:web:example.edu%3A08',
  'did:web:a.b%3A70000',
  'did:web:a.b%2Fx',
  'http://localhost',
  'http://localhost:3000',
  'http://LOCALHOST:3000/x/',
  'http://127.0.0.1:80',
  'http://127.0.0.1:443',
  'http://127.0.0.2:3000',
  'https://localhost:3000',
  'did:web:localhost',
  'did:web:localhost%3A3000',
  'did:web:127.0.0.1%3A80:x',
  'http://example.edu',
  'http://example.edu:80',
]

type Served = {
  name: string
  status?: number
  body?: (did: string) => unknown
  text?: (did: string) => string
  required?: 'same' | 'other'
}
const vouching = (more: object = {}) => ({
  type: 'DocumentRegistry',
  serviceEndpoint: [{ registry: REGISTRY, issuerId: 7 }],
  ...more,
})
const linked = (did: string, more: object = {}) => ({
  id: did,
  service: [vouching()],
  ...more,
})
const accounts = (...listed: unknown[]) => ({
  verificationMethod: listed.map((one) => ({ blockchainAccountId: one })),
})
const of = (account: string, chain = 31337) => `eip155:${chain}:${account}`
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const text = (did: string, more: string) => JSON.stringify(linked(did)).replace(/}$/, `,${more}}`)

const SERVED: Served[] = [
  { name: 'linked', body: linked },
  { name: 'linked, as required', body: linked, required: 'same' },
  { name: 'another domain is required', body: linked, required: 'other' },
  {
    name: 'denied and another domain is required',
    body: (id) => ({ id }),
    required: 'other',
  },
  { name: 'no service', body: (id) => ({ id }) },
  {
    name: 'another issuer',
    body: (id) =>
      linked(id, {
        service: [vouching({ serviceEndpoint: [{ registry: REGISTRY, issuerId: 8 }] })],
      }),
  },
  {
    name: 'registry in upper case',
    body: (id) =>
      linked(id, {
        service: [
          vouching({
            serviceEndpoint: [{ registry: REGISTRY.toUpperCase(), issuerId: 7 }],
          }),
        ],
      }),
  },
  {
    name: 'issuerId 7.0',
    text: (id) => JSON.stringify(linked(id)).replace(':7}', ':7.0}'),
  },
  {
    name: 'issuerId 7.5',
    text: (id) => JSON.stringify(linked(id)).replace(':7}', ':7.5}'),
  },
  {
    name: 'issuerId in text',
    text: (id) => JSON.stringify(linked(id)).replace(':7}', ':"7"}'),
  },
  {
    name: 'issuerId true',
    text: (id) => JSON.stringify(linked(id)).replace(':7}', ':true}'),
  },
  {
    name: 'two services, a list of types',
    body: (id) =>
      linked(id, {
        service: [
          { type: 'Other', serviceEndpoint: 'x' },
          vouching({ type: ['A', 'DocumentRegistry'] }),
        ],
      }),
  },
  {
    name: 'another type',
    body: (id) => linked(id, { service: [vouching({ type: 'documentregistry' })] }),
  },
  {
    name: 'a type in parts',
    body: (id) => linked(id, { service: [vouching({ type: [['DocumentRegistry']] })] }),
  },
  { name: 'no type', body: (id) => linked(id, { service: [{}] }) },
  {
    name: 'a type that is a number',
    body: (id) => linked(id, { service: [{ type: 1 }] }),
  },
  { name: 'service null', body: (id) => linked(id, { service: null }) },
  { name: 'service an object', body: (id) => linked(id, { service: {} }) },
  {
    name: 'endpoint in text',
    body: (id) => linked(id, { service: [vouching({ serviceEndpoint: 'https://x' })] }),
  },
  {
    name: 'endpoint an empty text',
    body: (id) => linked(id, { service: [vouching({ serviceEndpoint: '' })] }),
  },
  {
    name: 'endpoint an object',
    body: (id) => linked(id, { service: [vouching({ serviceEndpoint: {} })] }),
  },
  {
    name: 'no endpoint',
    body: (id) => linked(id, { service: [{ type: 'DocumentRegistry' }] }),
  },
  {
    name: 'endpoints with more members',
    body: (id) =>
      linked(id, {
        service: [
          vouching({
            serviceEndpoint: [{ registry: REGISTRY, issuerId: 7, x: null }],
          }),
        ],
      }),
  },
  {
    name: 'one good endpoint, one malformed',
    body: (id) => linked(id, { service: [vouching(), vouching({ serviceEndpoint: [1] })] }),
  },
  {
    name: 'the account, in upper case',
    body: (id) => linked(id, accounts(of(ACCOUNT.toUpperCase().replace('0X', '0x')))),
  },
  { name: 'another account', body: (id) => linked(id, accounts(of(OTHER))) },
  {
    name: 'another account and this',
    body: (id) => linked(id, accounts(of(OTHER), of(ACCOUNT))),
  },
  {
    name: 'an account of another chain',
    body: (id) => linked(id, accounts(of(OTHER, 1))),
  },
  { name: 'a malformed account', body: (id) => linked(id, accounts('x')) },
  { name: 'an account null', body: (id) => linked(id, accounts(null)) },
  {
    name: 'a method without an account',
    body: (id) => linked(id, { verificationMethod: [{ id: 'x' }] }),
  },
  {
    name: 'a method that is text',
    body: (id) => linked(id, { verificationMethod: ['x'] }),
  },
  {
    name: 'a method that is a list',
    body: (id) => linked(id, { verificationMethod: [[]] }),
  },
  {
    name: 'a service that is a list',
    body: (id) => linked(id, { service: [vouching(), []] }),
  },
  {
    name: 'an endpoint that is a list',
    body: (id) => linked(id, { service: [vouching({ serviceEndpoint: [[]] })] }),
  },
  {
    name: 'methods null',
    body: (id) => linked(id, { verificationMethod: null }),
  },
  { name: 'another id', body: () => linked('did:web:a.example') },
  { name: 'no id', body: () => ({ service: [vouching()] }) },
  { name: 'a list', body: () => [] },
  { name: 'null', body: () => null },
  { name: 'not JSON', text: () => '<html>' },
  { name: 'nothing', text: () => '' },
  {
    name: 'a byte order mark',
    text: (id) => `\ufeff${JSON.stringify(linked(id))}`,
  },
  { name: 'a key twice', text: (id) => text(id, '"x":{"a":1,"a":1}') },
  { name: '__proto__', text: (id) => text(id, '"x":{"__proto__":1}') },
  { name: 'half of a surrogate pair', text: (id) => text(id, '"x":"\\ud800"') },
  { name: 'NaN', text: (id) => text(id, '"x":NaN') },
  { name: '1e400', text: (id) => text(id, '"x":1e400') },
  { name: '32 deep', text: (id) => text(id, `"x":${nested(32)}`) },
  { name: '33 deep', text: (id) => text(id, `"x":${nested(33)}`) },
  {
    name: '65,536 bytes',
    text: (id) => JSON.stringify(linked(id)).padEnd(65_536),
  },
  {
    name: '65,537 bytes',
    text: (id) => JSON.stringify(linked(id)).padEnd(65_537),
  },
  { name: 'HTTP 404', status: 404, body: linked },
  { name: 'HTTP 201', status: 201, body: linked },
  { name: 'HTTP 302', status: 302, body: linked },
]

let server: TestServer
let output: {
  addresses: object[]
  codes: { code: string; domain: string | null }[]
}
const uriOf = (index: number) => `did:web:localhost%3A${new URL(server.url).port}:${index}`
const domainOf = (index: number) => `localhost:${new URL(server.url).port}/${index}`
const requiredOf = ({ required }: Served, index: number) =>
  required === undefined ? null : required === 'same' ? domainOf(index) : 'other.example'

beforeAll(async () => {
  server = await serveHttp((request, response) => {
    const index = Number(request.url?.split('/')[1])
    const one = SERVED[index]
    const did = uriOf(index)
    response.writeHead(one?.status ?? 200, {
      location: `${server.url}/0/did.json`,
    })
    response.end(one?.text?.(did) ?? JSON.stringify(one?.body?.(did)))
  })
  if (python === undefined) return
  const given = {
    registry: REGISTRY,
    issuer: 7,
    account: ACCOUNT,
    uris: URIS,
    served: SERVED.map((one, i) => ({
      uri: uriOf(i),
      issuerDomain: requiredOf(one, i),
    })),
  }
  const { stdout } = await promisify(execFile)(python, [SCRIPT, EXAMPLES, JSON.stringify(given)])
  output = JSON.parse(stdout)
})
afterAll(() => server.close())

test.skipIf(python === undefined)('the example finds the same address of every uri', () => {
  const expected = [1, 31337].flatMap((chain) =>
    URIS.map((uri) => identityAddressOf(uri, chain) ?? null),
  )
  expect(output.addresses).toEqual(expected)
  expect(expected.filter(Boolean).length).toBeGreaterThan(30)
  expect(expected.filter((one) => !one).length).toBeGreaterThan(60)
})

test.skipIf(python === undefined).each(SERVED.map((one, i) => ({ ...one, i })))(
  'the example judges what a domain serves as the library does: $name',
  async (one) => {
    const account = { account: ACCOUNT } as Parameters<typeof readIdentity>[1]['account']
    const issuer = { id: 7, uri: uriOf(one.i) } as Parameters<typeof readIdentity>[1]['issuer']
    const { check, domain } = await readIdentity(
      REGISTRY,
      { account, issuer },
      {
        identity: createIdentitySource({ timeout: 5_000 }),
        issuerDomain: requiredOf(one, one.i) ?? undefined,
      },
    )
    expect(output.codes[one.i]).toEqual({ code: check.code, domain })
  },
)
