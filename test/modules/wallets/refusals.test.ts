import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PRE_AUTHORIZED } from '#modules/wallets/metadata.ts'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { signIn } from '#test/support/desk.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

const key = makeCredentialKey()
let stack: Stack
beforeAll(async () => {
  stack = await startStack({ CREDENTIAL_KEY_FILE: key.path, ADDRESS_RATE_LIMIT: 'off' })
})
afterAll(async () => {
  await stack.stop()
  key.remove()
})

const newPair = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { privateKey, jwk: publicKey.export({ format: 'jwk' }) }
}
const PAIR = newPair()

const post = (path: string, body: string | object, headers: Record<string, string> = {}) =>
  stack.request(path, {
    method: 'POST',
    headers: {
      'content-type':
        typeof body === 'string' ? 'application/x-www-form-urlencoded' : 'application/json',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const asKey = (secret = API_KEY) => ({ authorization: `Bearer ${secret}` })
const issue = async (fields: object = ADA) => (await stack.issue(fields)).body.data
const offer = (publicId: string, terms: object = {}, secret = API_KEY) =>
  post(`/v1/documents/${publicId}/offer`, terms, asKey(secret))
const newKey = async (more: object) =>
  (await post('/v1/keys', { scopes: ['documents:issue'], ...more }, asKey())).body.data
const changeKey = (id: string, changes: object) =>
  stack.request(`/v1/keys/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...asKey() },
    body: JSON.stringify(changes),
  })
const codeOf = async (publicId: string, terms: object = {}) => {
  const { data } = (await offer(publicId, terms)).body
  const code = data.offer.grants[PRE_AUTHORIZED]['pre-authorized_code'] as string
  return { code, txCode: data.txCode as string }
}
const token = (fields: Record<string, string>, headers = {}) =>
  post('/wallets/token', new URLSearchParams(fields).toString(), headers)
const exchange = (code: string, more: Record<string, string> = {}, headers = {}) =>
  token({ grant_type: PRE_AUTHORIZED, 'pre-authorized_code': code, ...more }, headers)
const nonce = async () => (await post('/wallets/nonce', {})).body.c_nonce as string
const now = () => Math.floor(Date.now() / 1000)

const sign = (header: object, payload: object, { privateKey } = PAIR) =>
  new SignJWT(payload as JWTPayload)
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(privateKey)
const AUDIENCE = () => `${stack.url}/wallets/${ADA.category}`
const proofOf = async (payload: object = {}, header: object = {}, pair = PAIR) =>
  sign(
    { typ: 'openid4vci-proof+jwt', jwk: pair.jwk, ...header },
    { aud: AUDIENCE(), iat: now(), nonce: await nonce(), ...payload },
    pair,
  )
const dpopOf = (path: string, payload: object = {}, header: object = {}, pair = PAIR) =>
  sign(
    { typ: 'dpop+jwt', jwk: pair.jwk, ...header },
    { htm: 'POST', htu: `${stack.url}${path}`, iat: now(), jti: randomUUID(), ...payload },
    pair,
  )
/** @returns A function that asks for a credential with a good access token. */
async function bearer() {
  const { publicId } = await issue()
  const { code } = await codeOf(publicId)
  const { access_token } = (await exchange(code)).body
  const ask = (body: object, headers = {}) =>
    post('/wallets/credential', body, { ...asKey(access_token), ...headers })
  return { publicId, access_token, ask }
}
const wanted = async (jwt?: string) => ({
  credential_configuration_id: 'plain',
  proofs: { jwt: [jwt ?? (await proofOf())] },
})
const outcomeOf = ({ status, body }: Awaited<ReturnType<typeof post>>) => [
  status,
  body.error?.code ?? body.error ?? 'ok',
]

describe('an offer', () => {
  test('is refused for a document that is not valid', async () => {
    const { publicId } = await issue()
    await post(`/v1/documents/${publicId}/suspend`, {}, asKey())
    expect(outcomeOf(await offer(publicId))).toEqual([409, 'not_valid'])
    await post(`/v1/documents/${publicId}/release`, {}, asKey())
    expect(outcomeOf(await offer(publicId))).toEqual([201, 'ok'])
    await post(`/v1/documents/${publicId}/revoke`, {}, asKey())
    expect(outcomeOf(await offer(publicId))).toEqual([409, 'not_valid'])
    expect(outcomeOf(await post('/wallets/offers', { publicId }))).toEqual([409, 'not_valid'])
  })

  test("is refused for another tenant's document, and without the scope", async () => {
    const { publicId } = await issue()
    const other = stack.key(['documents:issue'], 'other')
    expect(outcomeOf(await offer(publicId, {}, other))).toEqual([404, 'not_found'])
    const reader = stack.key(['documents:read', 'verify'])
    expect(outcomeOf(await offer(publicId, {}, reader))).toEqual([403, 'forbidden'])
    const { secret } = await newKey({ categories: ['diploma'] })
    expect(outcomeOf(await offer(publicId, {}, secret))).toEqual([403, 'category_not_allowed'])
  })

  test.each<[string, (id: string) => ReturnType<typeof post>]>([
    ['is revoked', (id) => stack.request(`/v1/keys/${id}`, { method: 'DELETE', headers: asKey() })],
    ['may not issue its category any more', (id) => changeKey(id, { categories: ['diploma'] })],
    ['may not issue any more', (id) => changeKey(id, { scopes: ['documents:read'] })],
  ])('ends when the key that made it %s, with its access tokens', async (_, end) => {
    const { publicId } = await issue()
    const { id, secret } = await newKey({})
    const made = await offer(publicId, { uses: 2 }, secret)
    const code = made.body.data.offer.grants[PRE_AUTHORIZED]['pre-authorized_code']
    const { access_token } = (await exchange(code)).body
    expect((await end(id)).status).toBe(200)
    expect(outcomeOf(await exchange(code))).toEqual([400, 'invalid_grant'])
    const read = await stack.request(new URL(made.body.data.offerUrl).pathname)
    expect(outcomeOf(read)).toEqual([404, 'no_offers'])
    const late = await post('/wallets/credential', await wanted(), asKey(access_token))
    expect(outcomeOf(late)).toEqual([401, 'invalid_token'])
  })

  test.each<[string, object]>([
    ['is blocked', { isBlocked: true }],
    ['moves to another tenant', { tenant: 'other' }],
    ['is no administrator any more', { role: 'clerk', tenant: 'other' }],
  ])('ends when the person who made it %s', async (_, change) => {
    const { publicId } = await issue()
    await signIn(stack, { role: 'administrator' })
    const desk = await signIn(stack, { role: 'role' in change ? 'administrator' : 'clerk' })
    const made = await desk.send('POST', `/v1/documents/${publicId}/offer`, { uses: 2 })
    const code = made.body.data.offer.grants[PRE_AUTHORIZED]['pre-authorized_code']
    expect(outcomeOf(await exchange(code))).toEqual([200, 'ok'])
    const { status } = await stack.request(`/v1/people/${desk.id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...asKey() },
      body: JSON.stringify(change),
    })
    expect(status).toBe(200)
    expect(outcomeOf(await exchange(code))).toEqual([400, 'invalid_grant'])
  })

  test('names every bad field', async () => {
    const { publicId } = await issue()
    const bad = { uses: 0, expiresIn: 1e10, txCode: 1, iss: 'did', more: 1 }
    const { body } = await offer(publicId, bad)
    const fields = body.error.details.map(({ field }: { field: string }) => field)
    expect(fields.sort()).toEqual(['expiresIn', 'iss', 'more', 'txCode', 'uses'])
    const answer = await post('/wallets/offers', { publicId: 'x' })
    expect(outcomeOf(answer)).toEqual([400, 'bad_public_id'])
  })

  test('ends after its last use', async () => {
    const { publicId } = await issue()
    const { code } = await codeOf(publicId, { uses: 2 })
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(outcomeOf(await exchange(code)))
    expect(answers).toEqual([
      [200, 'ok'],
      [200, 'ok'],
      [400, 'invalid_grant'],
      [400, 'invalid_grant'],
    ])
  })

  test('ends after five wrong tries, also for the right code', async () => {
    const { publicId } = await issue()
    const { code, txCode } = await codeOf(publicId, { txCode: true, uses: 9 })
    expect(txCode).toMatch(/^\d{6}$/)
    expect(outcomeOf(await exchange(code, { tx_code: txCode }))).toEqual([200, 'ok'])
    expect(outcomeOf(await exchange(code))).toEqual([400, 'invalid_request'])
    const wrong = String((Number(txCode) + 1) % 1e6).padStart(6, '0')
    const tries = await Promise.all(
      Array.from({ length: 5 }, () => exchange(code, { tx_code: wrong })),
    )
    expect(tries.map(outcomeOf)).toEqual(Array(5).fill([400, 'invalid_grant']))
    expect(outcomeOf(await exchange(code, { tx_code: txCode }))).toEqual([400, 'invalid_grant'])
  })

  test.each<[string, Record<string, string>, string]>([
    ['no grant', {}, 'invalid_request'],
    ['another grant', { grant_type: 'authorization_code' }, 'unsupported_grant_type'],
    ['no code', { grant_type: PRE_AUTHORIZED }, 'invalid_request'],
    [
      'an unknown code',
      { grant_type: PRE_AUTHORIZED, 'pre-authorized_code': 'A'.repeat(99) },
      'invalid_grant',
    ],
  ])('the token endpoint refuses %s', async (_, fields, code) => {
    expect(outcomeOf(await token(fields))).toEqual([400, code])
  })

  test('does not accept a changed code, a nonce or a token as a code', async () => {
    const { publicId } = await issue()
    const { code } = await codeOf(publicId)
    const { access_token } = (await exchange(code)).body
    const changed = `${code.slice(0, 40)}${code[40] === 'A' ? 'B' : 'A'}${code.slice(41)}`
    for (const bad of [changed, `${code}A`, await nonce(), access_token, 'a'.repeat(5_000)])
      expect(outcomeOf(await exchange(bad))).toEqual([400, 'invalid_grant'])
  })

  test('the token endpoint refuses a repeated parameter, and JSON', async () => {
    const twice = `grant_type=${PRE_AUTHORIZED}&grant_type=${PRE_AUTHORIZED}`
    expect(outcomeOf(await post('/wallets/token', twice))).toEqual([400, 'invalid_request'])
    expect(outcomeOf(await post('/wallets/token', {}))).toEqual([400, 'invalid_request'])
    const large = `grant_type=${'a'.repeat(70_000)}`
    expect(outcomeOf(await post('/wallets/token', large))).toEqual([413, 'too_large'])
  })

  test('ends when the document is revoked or erased', async () => {
    for (const [end, method] of [
      ['revoke', 'POST'],
      ['payload', 'DELETE'],
    ] as const) {
      const { publicId } = await issue()
      const { code } = await codeOf(publicId, { uses: 3 })
      const { access_token } = (await exchange(code)).body
      await stack.request(`/v1/documents/${publicId}/${end}`, { method, headers: asKey() })
      expect(outcomeOf(await exchange(code))).toEqual([400, 'invalid_grant'])
      const late = await post('/wallets/credential', await wanted(), asKey(access_token))
      expect(outcomeOf(late)).toEqual([400, 'credential_request_denied'])
    }
  })
})

describe('a credential', () => {
  test('is issued for a valid request, and again with another proof', async () => {
    const { ask } = await bearer()
    const first = await ask(await wanted())
    expect(outcomeOf(first)).toEqual([200, 'ok'])
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(outcomeOf(await ask(await wanted()))).toEqual([200, 'ok'])
  })

  test('an access token gives credentials for only one key of a holder', async () => {
    const { ask } = await bearer()
    const pairs = [PAIR, ...Array.from({ length: 4 }, newPair)]
    const asks = pairs.map(async (pair) => ask(await wanted(await proofOf({}, {}, pair))))
    const outcomes = (await Promise.all(asks)).map(outcomeOf)
    expect(outcomes.filter(([status]) => status === 200)).toHaveLength(1)
    expect(outcomes.filter(([, code]) => code === 'credential_request_denied')).toHaveLength(4)
  })

  test('a proof counts once, and so does its nonce', async () => {
    const { ask } = await bearer()
    const jwt = await proofOf()
    expect(outcomeOf(await ask(await wanted(jwt)))).toEqual([200, 'ok'])
    expect(outcomeOf(await ask(await wanted(jwt)))).toEqual([400, 'invalid_nonce'])
    const used = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()).nonce
    const again = await wanted(await proofOf({ nonce: used }))
    expect(outcomeOf(await ask(again))).toEqual([400, 'invalid_nonce'])
  })

  test.each<[string, () => Promise<string>, string]>([
    ['for another issuer', () => proofOf({ aud: 'https://other.example' }), 'invalid_proof'],
    ['from yesterday', () => proofOf({ iat: now() - 86_400 }), 'invalid_proof'],
    ['from tomorrow', () => proofOf({ iat: now() + 86_400 }), 'invalid_proof'],
    ['without a time', () => proofOf({ iat: undefined }), 'invalid_proof'],
    ['of another type', () => proofOf({}, { typ: 'JWT' }), 'invalid_proof'],
    ['without a key', () => proofOf({}, { jwk: undefined }), 'invalid_proof'],
    ['of another key', () => proofOf({}, { jwk: newPair().jwk }), 'invalid_proof'],
    ['with two names of keys', () => proofOf({}, { kid: 'did:jwk:x' }), 'invalid_proof'],
    [
      'with its private key',
      () => proofOf({}, { jwk: PAIR.privateKey.export({ format: 'jwk' }) }),
      'invalid_proof',
    ],
    ['without a nonce', () => proofOf({ nonce: undefined }), 'invalid_nonce'],
    ['with a nonce of its own', () => proofOf({ nonce: 'mine' }), 'invalid_nonce'],
    [
      'without a signature',
      async () => {
        const [, payload] = (await proofOf()).split('.')
        const header = { alg: 'none', typ: 'openid4vci-proof+jwt', jwk: PAIR.jwk }
        return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.`
      },
      'invalid_proof',
    ],
    [
      'signed with the public key as a secret',
      async () =>
        new SignJWT({ aud: AUDIENCE(), iat: now(), nonce: await nonce() })
          .setProtectedHeader({ alg: 'HS256', typ: 'openid4vci-proof+jwt', jwk: PAIR.jwk })
          .sign(Buffer.from(JSON.stringify(PAIR.jwk))),
      'invalid_proof',
    ],
    ['that is no JWT', async () => 'x', 'invalid_proof'],
  ])('is refused with a proof %s', async (_, make, code) => {
    const { ask } = await bearer()
    expect(outcomeOf(await ask(await wanted(await make())))).toEqual([400, code])
  })

  test.each<[string, object, string]>([
    ['no proof', { proofs: undefined }, 'invalid_proof'],
    ['two proofs', { proofs: { jwt: ['a', 'b'] } }, 'invalid_proof'],
    ['another kind of proof', { proofs: { di_vp: [] } }, 'invalid_credential_request'],
    ['a foreign form', { credential_configuration_id: 'x' }, 'unknown_credential_configuration'],
    [
      'a form of documents with a kind',
      { credential_configuration_id: 'document' },
      'unknown_credential_configuration',
    ],
    [
      'a name of Object',
      { credential_configuration_id: 'constructor' },
      'unknown_credential_configuration',
    ],
    ['no form', { credential_configuration_id: undefined }, 'invalid_credential_request'],
    ['an identifier', { credential_identifier: 'x' }, 'unknown_credential_identifier'],
    [
      'encryption',
      { credential_response_encryption: { enc: 'A128GCM' } },
      'invalid_encryption_parameters',
    ],
  ])('is refused with %s', async (_, changed, code) => {
    const { ask } = await bearer()
    expect(outcomeOf(await ask({ ...(await wanted()), ...changed }))).toEqual([400, code])
  })

  test('is refused without the access token, and with another one', async () => {
    const { publicId, access_token } = await bearer()
    const { code } = await codeOf(publicId)
    for (const authorization of [
      '',
      'Bearer x',
      `Bearer ${code}`,
      `Basic ${access_token}`,
      `DPoP ${access_token}`,
      `Bearer ${API_KEY}`,
    ]) {
      const answer = await post('/wallets/credential', await wanted(), { authorization })
      expect(outcomeOf(answer)).toEqual([401, 'invalid_token'])
      expect(answer.headers.get('www-authenticate')).toContain('invalid_token')
    }
  })
})

describe('DPoP', () => {
  const bind = async () => {
    const { publicId } = await issue()
    const { code } = await codeOf(publicId)
    const { body } = await exchange(code, {}, { dpop: await dpopOf('/wallets/token') })
    expect(body.token_type).toBe('DPoP')
    return body.access_token as string
  }
  const ath = (access: string) => createHash('sha256').update(access).digest('base64url')
  const use = async (access: string, dpop?: string) =>
    outcomeOf(
      await post('/wallets/credential', await wanted(), {
        authorization: `DPoP ${access}`,
        ...(dpop !== undefined && { dpop }),
      }),
    )

  test('binds the access token to a key', async () => {
    const access = await bind()
    const proof = await dpopOf('/wallets/credential', { ath: ath(access) })
    expect(await use(access, proof)).toEqual([200, 'ok'])
    expect(await use(access, proof)).toEqual([400, 'invalid_dpop_proof'])
    expect(await use(access)).toEqual([401, 'invalid_token'])
    const other = newPair()
    expect(await calculateJwkThumbprint(other.jwk)).not.toBe(await calculateJwkThumbprint(PAIR.jwk))
    const foreign = await dpopOf('/wallets/credential', { ath: ath(access) }, {}, other)
    expect(await use(access, foreign)).toEqual([401, 'invalid_token'])
    const asBearer = await post('/wallets/credential', await wanted(), asKey(access))
    expect(outcomeOf(asBearer)).toEqual([401, 'invalid_token'])
  })

  test.each<[string, object, object]>([
    ['for another method', { htm: 'GET' }, {}],
    ['for another address', { htu: 'https://other.example/wallets/credential' }, {}],
    ['for another token', { ath: ath('x') }, {}],
    ['without an id', { jti: undefined }, {}],
    ['from yesterday', { iat: now() - 86_400 }, {}],
    ['of another type', {}, { typ: 'JWT' }],
  ])('refuses a proof %s', async (_, payload, header) => {
    const access = await bind()
    const good = { ath: ath(access), ...payload }
    const proof = await dpopOf('/wallets/credential', good, header)
    expect(await use(access, proof)).toEqual([400, 'invalid_dpop_proof'])
  })
})

test('a notification requires the token and its own id', async () => {
  const { access_token, ask } = await bearer()
  const { notification_id } = (await ask(await wanted())).body
  const event = 'credential_accepted'
  const notify = async (body: object, headers = asKey(access_token)) => {
    const { status, body: answered } = await post('/wallets/notification', body, headers)
    return status === 204 ? 204 : [status, answered.error]
  }
  expect(await notify({ notification_id, event })).toBe(204)
  expect(await notify({ notification_id, event }, asKey('x'))).toEqual([401, 'invalid_token'])
  const unknown = { notification_id: await nonce(), event }
  expect(await notify(unknown)).toEqual([400, 'invalid_notification_id'])
  const bad = { notification_id, event: 'lost' }
  expect(await notify(bad)).toEqual([400, 'invalid_notification_request'])
})

test('the metadata names no document, and every category', async () => {
  const { body } = await stack.request('/.well-known/openid-credential-issuer/wallets/diploma')
  expect(body.credential_issuer).toBe(`${stack.url}/wallets/diploma`)
  const vct = `urn:document-registry:${stack.registry}:1:diploma`
  const forms = Object.entries<{ vct: string; scope: string }>(
    body.credential_configurations_supported,
  )
  expect(forms.map(([id, form]) => [id, form.vct, form.scope])).toEqual(
    ['plain', 'plain-did-web'].map((id) => [id, vct, id]),
  )
  const server = await stack.request('/.well-known/oauth-authorization-server/wallets/diploma')
  expect(server.body.issuer).toBe(body.credential_issuer)
  const bad = await stack.request('/.well-known/openid-credential-issuer/wallets/No!')
  expect(bad.status).toBe(404)
})
