import type { RequestListener } from 'node:http'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FormatError } from '#document/errors.ts'
import { encodePublicId } from '#document/public-id.ts'
import { formatRegistryId } from '#document/registry-id.ts'
import { readIdentity } from '#verifier/checks/identity.ts'
import { ChainError } from '#verifier/errors.ts'
import {
  createDidDocument,
  identityAddressOf,
  parseDomain,
  readDidDocument,
} from '#verifier/identity.ts'
import type { ChainReader, IdentityRead } from '#verifier/ports.ts'
import { createIdentitySource } from '#verifier/readers/identity-source.ts'
import { emptyIssuer, NO_ACCOUNT } from '#verifier/status.ts'
import { type Check, statusOf } from '#verifier/verdict.ts'
import { verify } from '#verifier/verify.ts'
import { testKey } from '../../support/credentials.ts'
import { serveInTest } from '../../support/serve-in-test.ts'

const LOCAL = 31337
const account = `0x${'ab'.repeat(20)}` as const
const other = `0x${'cd'.repeat(20)}` as const
const registry = formatRegistryId(1, `0x${'12'.repeat(20)}`)
const did = 'did:web:example.edu'
const uri = 'https://example.edu'

describe('identityAddressOf', () => {
  const at = (domain: string, did: string, url: string) => ({
    domain,
    did: `did:web:${did}`,
    url,
  })
  const root = at('example.edu', 'example.edu', 'https://example.edu/.well-known/did.json')
  const deep = at(
    'example.edu/staff/registrar',
    'example.edu:staff:registrar',
    'https://example.edu/staff/registrar/did.json',
  )
  const port = at(
    'example.edu:8443',
    'example.edu%3A8443',
    'https://example.edu:8443/.well-known/did.json',
  )

  test.each([
    ['https://example.edu', root],
    ['https://example.edu/', root],
    ['HTTPS://Example.EDU', root],
    ['https://example.edu:443', root],
    ['did:web:example.edu', root],
    ['did:web:Example.edu%3A443', root],
    ['https://example.edu/staff/registrar', deep],
    ['https://example.edu/staff/registrar/', deep],
    ['did:web:example.edu:staff:registrar', deep],
    ['https://example.edu:8443/', port],
    ['did:web:example.edu%3A8443', port],
    ['did:web:example.edu%3a8443', port],
    [
      'https://xn--mller-kva.example/A_b-c.d',
      at(
        'xn--mller-kva.example/A_b-c.d',
        'xn--mller-kva.example:A_b-c.d',
        'https://xn--mller-kva.example/A_b-c.d/did.json',
      ),
    ],
  ])('%s', (uri, address) => {
    expect(identityAddressOf(uri, 1)).toEqual(address)
    // The DID is itself a uri, and leads to the same place.
    expect(identityAddressOf(address.did, 1)).toEqual(address)
  })

  test.each([
    '',
    ' https://example.edu',
    'https://example.edu\n',
    'example.edu',
    'ftp://example.edu',
    'http://example.edu',
    'javascript://example.edu',
    'https:/example.edu',
    'https:\\\\example.edu',
    '//example.edu',
    'https://user@example.edu',
    'https://user:secret@example.edu',
    'https://example.edu?a',
    'https://example.edu/?a',
    'https://a.edu#b',
    'https://example.edu//a',
    'https://example.edu/a//b',
    'https://a.b//',
    'https://example.edu/../a',
    'https://example.edu/a/.',
    'https://example.edu/a%2Fb',
    'https://example.edu/%2e%2e/a',
    'https://example.edu:0',
    'https://example.edu:65536',
    'https://a.b:',
    'https://example.edu:080',
    'https://example.edu:8a',
    'https://localhost',
    'https://a.localhost',
    'https://intranet',
    'https://127.0.0.1',
    'https://10.0.0.1',
    'https://192.168.1.1:8443',
    'https://2130706433',
    'https://0x7f.1',
    'https://1.2.3.0x4',
    'https://[::1]',
    'https://[fd00::1]:443',
    'https://169.254.169.254',
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'https://.edu',
    'https://a..edu',
    'https://-a.edu',
    'https://a-.edu',
    'https://example.edu.',
    `https://${'a'.repeat(64)}.edu`,
    `https://${'a.'.repeat(126)}edu`,
    `https://example.edu/${'a'.repeat(400)}`,
    'https://müller.example',
    'https://exаmple.edu',
    'https://ex%61mple.edu',
    'did:web:',
    'did:web:example.edu:',
    'did:web:example.edu::a',
    'did:web:example.edu/a',
    'did:web:example.edu#a',
    'did:web:a.b:..:c',
    'did:web:example.edu:8443:a b',
    'did:web:10.0.0.1',
    'DID:WEB:a.edu',
    'did:web:localhost%3A3000',
    'did:key:z6Mk',
    'did:web:a.edu%3A8443%3A1',
  ])('finds no domain in %j', (uri) => {
    expect(identityAddressOf(uri, 1)).toBeUndefined()
  })

  test('a local chain also accepts http on loopback with a port', () => {
    const local = at('localhost:3000/a', 'localhost%3A3000:a', 'http://localhost:3000/a/did.json')
    for (const uri of ['http://localhost:3000/a', 'did:web:localhost%3A3000:a'])
      expect(identityAddressOf(uri, LOCAL)).toEqual(local)
    expect(identityAddressOf('http://127.0.0.1:80', LOCAL)?.url).toBe(
      'http://127.0.0.1/.well-known/did.json',
    )
    expect(identityAddressOf(uri, LOCAL)).toEqual(root)
    for (const uri of [
      'http://localhost',
      'https://localhost:3000',
      'http://10.0.0.1:80',
      'http://example.edu:80',
      'http://[::1]:3000',
      'http://127.1:3000',
    ])
      expect(identityAddressOf(uri, LOCAL)).toBeUndefined()
  })

  test('accepts text only in the form that URL normalises it to', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'aZ0-._:/%@?#\\[] é\t'),
      maxLength: 24,
    })
    fc.assert(
      fc.property(text, fc.constantFrom(1, LOCAL), (rest, chainId) => {
        const uri = `https://${rest}`
        const address = identityAddressOf(uri, chainId)
        if (!address) return
        const url = new URL(address.url)
        expect(url.href).toBe(address.url)
        expect(url.host).toBe(new URL(uri).host)
        expect([url.username, url.password, url.search, url.hash]).toEqual(Array(4).fill(''))
        expect(identityAddressOf(address.did, chainId)).toEqual(address)
      }),
      { numRuns: 2_000 },
    )
  })
})

test('a required domain is compared as it is shown, in any case', () => {
  expect(parseDomain('Example.EDU', 1)).toBe('example.edu')
  expect(parseDomain('example.edu:8443/A', 1)).toBe('example.edu:8443/A')
  expect(parseDomain('example.edu:443/A', 1)).toBe('example.edu/A')
  expect(parseDomain('localhost:3000', LOCAL)).toBe('localhost:3000')
  for (const text of ['', 'https://a.edu', 'a.edu/', 'a', 'é.edu', 'a.edu?b'])
    expect(parseDomain(text, 1)).toBeUndefined()
})

const encode = (text: string) => new TextEncoder().encode(text)
const bytesOf = (value: unknown) => encode(JSON.stringify(value))
const service = (endpoint: unknown, type: unknown = 'DocumentRegistry') => ({
  id: `${did}#a`,
  type,
  serviceEndpoint: endpoint,
})
const named = service([{ registry, issuerId: 7 }])
const method = (blockchainAccountId: unknown) => ({
  id: `${did}#b`,
  type: 'x',
  controller: did,
  blockchainAccountId,
})

describe('readDidDocument', () => {
  const read = (value: unknown) => readDidDocument(bytesOf(value), did)

  test('reads what createDidDocument makes', () => {
    const made = { did, registry, issuerId: 7 }
    expect(read(createDidDocument(made))).toEqual({
      registries: [{ registry, issuerId: 7 }],
      accounts: [],
      keys: [],
    })
    expect(read(createDidDocument({ ...made, accounts: [account, other] })).accounts).toEqual([
      `eip155:1:${account}`,
      `eip155:1:${other}`,
    ])
  })

  test('createDidDocument lists the keys that sign credentials', () => {
    const { jwk } = testKey('issuer')
    const key = { ...jwk, kid: 'thumb' }
    const made = createDidDocument({ did, registry, issuerId: 7, accounts: [account], keys: [key] })
    expect(made).toMatchObject({
      verificationMethod: [
        { id: `${did}#account-1` },
        { id: `${did}#thumb`, type: 'JsonWebKey', controller: did, publicKeyJwk: key },
      ],
      assertionMethod: [`${did}#thumb`],
    })
    expect(read(made)).toMatchObject({
      accounts: [`eip155:1:${account}`],
      keys: [{ id: `${did}#thumb`, jwk }],
    })
  })

  test('ignores other members, services and keys', () => {
    const document = {
      '@context': 'https://www.w3.org/ns/did/v1',
      id: did,
      alsoKnownAs: [{}],
      verificationMethod: [{ id: 1, publicKeyJwk: { kty: 'EC' } }],
      service: [
        service('https://example.edu/mail', 'Mail'),
        service([{ registry, issuerId: 7, note: 'ours' }], ['A', 'DocumentRegistry']),
        service([{ registry, issuerId: 8 }]),
      ],
    }
    expect(read(document).registries.map((one) => one.issuerId)).toEqual([7, 8])
    expect(read({ id: did })).toEqual({ registries: [], accounts: [], keys: [] })
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a list', [{ id: did }]],
    ['no id', { service: [named] }],
    ['another id', { id: 'did:web:example.org', service: [named] }],
    ['an id with a path', { id: `${did}:a`, service: [named] }],
    ['a service that is not in a list', { id: did, service: named }],
    ['a service without a type', { id: did, service: [{ id: 'a' }] }],
    ['a type that is a number', { id: did, service: [service([], 1)] }],
    ['an endpoint that is not a list', { id: did, service: [service({})] }],
    ['an endpoint that is text', { id: did, service: [service([registry])] }],
    ['an issuerId that is text', { id: did, service: [service([{ registry, issuerId: '7' }])] }],
    ['methods not in a list', { id: did, verificationMethod: {} }],
    ['a method that is text', { id: did, verificationMethod: [`${did}#b`] }],
    ['a method that is a list', { id: did, verificationMethod: [[]] }],
    ['an account that is a number', { id: did, verificationMethod: [method(1)] }],
    ['an account not of CAIP-10', { id: did, verificationMethod: [method(account)] }],
  ])('rejects %s', (_, value) => {
    expect(() => read(value)).toThrow(expect.objectContaining({ code: 'did_document_malformed' }))
  })

  test.each([
    ['not JSON', '<!doctype html>'],
    ['nothing', ''],
    ['a byte order mark', `\ufeff{"id":"${did}"}`],
    ['a key twice', `{"id":"${did}","id":"${did}"}`],
    ['a key twice inside', `{"id":"${did}","a":{"b":1,"b":1}}`],
    ['a key __proto__', `{"id":"${did}","__proto__":{}}`],
    ['too deep', `{"id":"${did}","a":${'['.repeat(40)}${']'.repeat(40)}}`],
    ['half a surrogate pair', `{"id":"${did}","a":"\\ud800"}`],
  ])('rejects %s', (_, text) => {
    expect(() => readDidDocument(encode(text), did)).toThrow(
      expect.objectContaining({ code: 'did_document_malformed' }),
    )
  })

  test('rejects bytes that are not UTF-8', () => {
    expect(() => readDidDocument(Uint8Array.of(0x22, 0xff, 0x22), did)).toThrow(FormatError)
  })

  test('reads any input or refuses it as malformed', () => {
    const members = fc.constantFrom(
      'id',
      'service',
      'verificationMethod',
      'type',
      'serviceEndpoint',
      'registry',
      'issuerId',
      'blockchainAccountId',
      'constructor',
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.constantFrom(did, 'DocumentRegistry', registry, 7, null, true, ''),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(members, tie('value'), { maxKeys: 4 }),
      ),
    }))
    const nearly = fc.record({
      id: fc.constant(did),
      service: value,
      verificationMethod: value,
    })
    fc.assert(
      fc.property(fc.oneof(value, nearly), (document) => {
        try {
          const { registries, accounts } = read(document)
          for (const one of registries)
            expect([typeof one.registry, typeof one.issuerId]).toEqual(['string', 'number'])
          expect(accounts.every((one) => one.includes(':'))).toBe(true)
        } catch (error) {
          expect(error).toMatchObject({ code: 'did_document_malformed' })
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('readIdentity', () => {
  const reading = {
    account: { ...NO_ACCOUNT, account },
    issuer: { ...emptyIssuer(7), name: 'Example University', uri },
  }
  const serving = (read: IdentityRead | Error) => ({
    read: async () => {
      if (read instanceof Error) throw read
      return read
    },
  })
  const check = async (document: unknown, more = {}) =>
    readIdentity(registry, reading, {
      identity: serving({ status: 'found', bytes: bytesOf(document) }),
      ...more,
    })
  const ended = (outcome: string, code: string, domain: string | null = null) => ({
    check: { check: 'identity', outcome, code },
    domain,
    keys: [],
  })
  const linked = ended('pass', 'linked', 'example.edu')

  test('a domain that names the registry and the issuer links it', async () => {
    expect(await check({ id: did, service: [named] })).toEqual(linked)
    const mixed = service([
      {
        registry: registry.toUpperCase().replace('EIP155', 'eip155'),
        issuerId: 7,
      },
    ])
    expect(await check({ id: did, service: [mixed] })).toEqual(linked)
  })

  test.each<[string, unknown]>([
    ['no service', []],
    ['another type', [service([{ registry, issuerId: 7 }], 'documentRegistry')]],
    ['an empty list', [service([])]],
    ['another issuer', [service([{ registry, issuerId: 8 }])]],
    ['another chain', [service([{ registry: registry.replace(':1:', ':10:'), issuerId: 7 }])]],
  ])('a domain denies it: %s', async (_, service) => {
    expect(await check({ id: did, service })).toEqual(ended('fail', 'denied'))
  })

  test('a list of accounts for the chain must contain the issuing account', async () => {
    const listing = (...accounts: string[]) =>
      check({
        id: did,
        service: [named],
        verificationMethod: accounts.map(method),
      })
    const notListed = ended('fail', 'account_not_listed')
    const onThis = (address: string) => `eip155:1:${address}`
    expect(await listing(onThis(account))).toEqual(linked)
    expect(await listing(onThis(account.toUpperCase()))).toEqual(linked)
    expect(await listing(onThis(other), onThis(account))).toEqual(linked)
    expect(await listing(onThis(other))).toEqual(notListed)
    expect(await listing(`eip155:10:${other}`, 'solana:5eykt:7S3P4')).toEqual(linked)
    expect(await listing(`eip155:10:${account}`, onThis(other))).toEqual(notListed)
  })

  test('a domain that was not asked, reached or understood is unknown', async () => {
    const unknown = async (code: string, options: object, uri?: string) => {
      const issuer = { ...reading.issuer, uri: uri ?? reading.issuer.uri }
      expect(await readIdentity(registry, { ...reading, issuer }, options)).toEqual(
        ended('unknown', code),
      )
    }
    const down = { identity: serving(new Error('down')) }
    await unknown('not_asked', {})
    await unknown('not_asked', { identity: serving({ status: 'not_asked' }) })
    await unknown('no_domain', down, 'ftp://example.edu')
    await unknown('unreachable', down)
    await unknown('malformed', { identity: serving({ status: 'too_large' }) })
    expect(await check({ id: 'did:web:example.org' })).toEqual(ended('unknown', 'malformed'))
  })

  test('a domain other than the required one fails and is named', async () => {
    const document = { id: did, service: [named] }
    const requiring = (issuerDomain: string) => check(document, { issuerDomain })
    expect(await requiring('example.edu')).toEqual(linked)
    for (const domain of ['example.org', 'example.edu/a', 'www.example.edu'])
      expect(await requiring(domain)).toEqual(ended('fail', 'other_domain', 'example.edu'))
  })
})

describe('createIdentitySource', () => {
  const serve = async (listener: RequestListener) => {
    const address = identityAddressOf(`http://${await serveInTest(listener)}`, LOCAL)
    if (!address) throw new Error('no address')
    return address
  }
  const get = async (listener: RequestListener, timeout = 5_000) =>
    createIdentitySource({ timeout }).read(await serve(listener))

  test('fetches the bytes and reveals nothing about the verifier', async () => {
    const asked: object[] = []
    const read = await get(({ url, method, headers }, response) => {
      const { cookie, referer, authorization, origin } = headers
      asked.push({ url, method, cookie, referer, authorization, origin })
      response.end('{}')
    })
    expect(read).toEqual({ status: 'found', bytes: encode('{}') })
    expect(asked).toEqual([
      {
        url: '/.well-known/did.json',
        method: 'GET',
        cookie: undefined,
        referer: undefined,
        authorization: undefined,
        origin: undefined,
      },
    ])
  })

  test('follows no redirect', async () => {
    let followed = 0
    const elsewhere = await serve((_, response) => {
      followed++
      response.end('{}')
    })
    for (const status of [301, 302, 303, 307, 308])
      await expect(
        get((_, response) => {
          response.writeHead(status, { location: elsewhere.url }).end('{}')
        }),
      ).rejects.toThrow()
    expect(followed).toBe(0)
  })

  test('refuses every status but 200', async () => {
    for (const status of [204, 206, 304, 404, 500])
      await expect(get((_, response) => void response.writeHead(status).end())).rejects.toThrow()
  })

  test('refuses more than 64 KiB, whatever the announced length', async () => {
    const limit = 64 * 1024
    const whole = await get((_, response) => void response.end('a'.repeat(limit)))
    expect(whole.status).toBe('found')
    const endless = await get((_, response) => {
      const send = () => {
        while (!response.destroyed && response.write('a'.repeat(limit))) {}
      }
      response.on('drain', send)
      send()
    })
    expect(endless).toEqual({ status: 'too_large' })
    const zipped = await get((_, response) => {
      response.setHeader('content-length', limit + 1)
      response.end('a'.repeat(limit + 1))
    })
    expect(zipped).toEqual({ status: 'too_large' })
  })

  test('gives up on a server that is silent or never ends', async () => {
    for (const listener of [
      () => {},
      (_, response) => void response.write('{'),
    ] satisfies RequestListener[])
      await expect(get(listener, 200)).rejects.toMatchObject({
        name: 'TimeoutError',
      })
  })

  test('gives up on a fetch that ignores its signal', async () => {
    const source = createIdentitySource({
      fetch: () => new Promise(() => {}),
      timeout: 50,
    })
    const address = identityAddressOf(uri, 1)
    if (!address) throw new Error('no address')
    await expect(source.read(address)).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  })
})

describe('verify', () => {
  const publicId = encodePublicId({
    kind: 'single',
    issuerId: 7,
    hash: new Uint8Array(32),
    documentKey: new Uint8Array(16),
  })
  const unproven = async () => {
    throw new ChainError('unproven', 'no event')
  }
  const chain: ChainReader = {
    registry,
    read: async () => ({
      blockNumber: 9,
      blockTime: 100,
      status: 'valid',
      revoker: null,
      record: {
        accountIndex: 1,
        anchoredBlock: 7,
        anchoredAt: 70,
        validUntil: 0,
        revokerIndex: 0,
        revokedBlock: 0,
        revokedAt: 0,
        reason: 0,
        setAside: false,
      },
      account: { ...NO_ACCOUNT, account, accountIndex: 1, addedBlock: 3 },
      issuer: { ...emptyIssuer(7), name: 'Example University', uri },
    }),
    issuedEvent: unproven,
    finalityOf: unproven,
    blockTime: unproven,
  }
  const linking = {
    read: async () => ({
      status: 'found' as const,
      bytes: bytesOf({ id: did, service: [named] }),
    }),
  }
  const names = [
    'chain',
    'record',
    'issuer',
    'identity',
    'supersession',
    'revocation',
    'suspension',
    'payload',
    'expiry',
    'event',
  ]

  test('the identity check follows the issuer, and names the domain', async () => {
    const verdict = await verify(publicId, {
      chain,
      blocks: [],
      identity: linking,
    })
    expect(verdict.checks.map(({ check }) => check)).toEqual(names)
    expect(verdict.checks[3]?.code).toBe('linked')
    expect(verdict.blockchainProof?.issuer.domain).toBe('example.edu')
    const alone = await verify(publicId, { chain, blocks: [] })
    expect(alone.checks[3]).toEqual({
      check: 'identity',
      outcome: 'unknown',
      code: 'not_asked',
    })
    expect(alone.blockchainProof?.issuer.domain).toBeNull()
  })

  test('a slow domain delays no other check', async () => {
    let answer = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    const told: string[] = []
    const verdict = verify(publicId, {
      chain,
      blocks: [],
      identity: { read: () => answered.then(linking.read) },
      onCheck: ({ check }) => told.push(check),
    })
    const others = names.filter((name) => name !== 'identity')
    await expect.poll(() => told.toSorted()).toEqual(others.toSorted())
    answer()
    expect((await verdict).checks[3]?.code).toBe('linked')
    expect(told.at(-1)).toBe('identity')
  })

  test('a required domain decides, in its displayed form', async () => {
    const requiring = (issuerDomain: string, more = {}) =>
      verify(publicId, {
        chain,
        blocks: [],
        identity: linking,
        issuerDomain,
        ...more,
      })
    expect((await requiring('example.org')).status).toBe('distrusted')
    expect((await requiring('EXAMPLE.edu')).checks[3]?.code).toBe('linked')
    // The payload is missing: no better than it was.
    expect((await requiring('example.edu')).status).toBe('unverifiable')
    for (const bad of ['', 'https://example.edu', 'localhost', 'é.edu'])
      await expect(requiring(bad)).rejects.toThrow(TypeError)
  })
})

describe('statusOf', () => {
  const names = [
    'chain',
    'record',
    'issuer',
    'identity',
    'supersession',
    'revocation',
    'suspension',
    'payload',
    'key',
    'content',
    'expiry',
  ] as Check['check'][]
  const checks = (outcomes: Partial<Record<Check['check'], Check['outcome']>>): Check[] =>
    names.map((check) => ({ check, code: 'x', outcome: outcomes[check] ?? 'pass' }))

  test('identity does not change the status', () => {
    for (const identity of ['pass', 'fail', 'unknown'] as const) {
      expect(statusOf(checks({ identity }))).toBe('valid')
      expect(statusOf(checks({ identity, revocation: 'fail' }))).toBe('revoked')
    }
    expect(statusOf(checks({}).filter(({ check }) => check !== 'identity'))).toBe('valid')
  })

  test('a required domain must be linked', () => {
    const required = (outcomes: Parameters<typeof checks>[0]) =>
      statusOf(checks(outcomes), 'example.edu')
    expect(required({})).toBe('valid')
    expect(required({ identity: 'fail' })).toBe('distrusted')
    expect(required({ identity: 'fail', revocation: 'fail' })).toBe('distrusted')
    expect(required({ identity: 'unknown' })).toBe('unverifiable')
    expect(
      statusOf(
        checks({}).filter(({ check }) => check !== 'identity'),
        'example.edu',
      ),
    ).toBe('unverifiable')
  })

  test('a domain that cannot be reached hides no bad verdict', () => {
    for (const [check, status] of [
      ['revocation', 'revoked'],
      ['suspension', 'suspended'],
      ['payload', 'erased'],
      ['content', 'tampered'],
      ['expiry', 'expired'],
    ] as const)
      expect(statusOf(checks({ identity: 'unknown', [check]: 'fail' }), 'a.edu')).toBe(status)
  })
})
