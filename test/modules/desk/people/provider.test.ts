import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProvider } from '#modules/desk/people/provider.ts'

// A provider whose ID tokens say what a test wants. ../page/provider.test.ts has a real one.

const CLIENT = 'desk'
const { privateKey, publicKey } = await generateKeyPair('RS256')
const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig' }] }
let server: Server
let issuer: string
let claims: Record<string, unknown>

async function idToken(): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({ iss: issuer, aud: CLIENT, sub: 'ada', iat: now, exp: now + 900, ...claims })
    .setProtectedHeader({ alg: 'RS256' })
    .sign(privateKey)
}

beforeAll(async () => {
  server = createServer(async ({ url }, response) => {
    const answers: Record<string, () => Promise<object> | object> = {
      '/.well-known/openid-configuration': () => ({
        issuer,
        jwks_uri: `${issuer}/jwks`,
        token_endpoint: `${issuer}/token`,
        authorization_endpoint: `${issuer}/auth`,
      }),
      '/jwks': () => jwks,
      '/token': async () => ({
        access_token: 'a',
        token_type: 'Bearer',
        id_token: await idToken(),
      }),
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(await answers[url ?? '']?.()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  issuer = `http://localhost:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** @returns Who is signed in by an ID token with these claims. */
async function signIn(said: Record<string, unknown>): Promise<{ name: string; role: string }> {
  let login: unknown
  const provider = createProvider(
    {
      issuer,
      clientId: CLIENT,
      scope: 'openid',
      groupsClaim: 'groups',
      tenant: 'office',
      roles: new Map([
        ['staff', 'clerk'],
        ['5', 'administrator'],
      ]),
    },
    'http://127.0.0.1:1/return',
    {
      useLogin: async (one) => {
        login = one
        return {} as never
      },
      endLogin: async () => {},
    },
  )
  const { url, attempt } = await provider.begin()
  const { searchParams } = new URL(url)
  claims = { nonce: searchParams.get('nonce'), groups: ['staff'], ...said }
  const query = new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '' })
  await provider.finish(attempt, query)
  return login as { name: string; role: string }
}

test.each([
  ['Ada Lovelace', { name: 'Ada Lovelace' }],
  ['Ada  Lovelace', { name: ' Ada\u0007\u2028Lovelace\n' }],
  ['Ada', { name: '\u202eAda\u2066\u200f' }],
  ['ada@testville.example', { name: '\u200b\u3164', email: 'ada@testville.example' }],
  ['ada', { name: '\u202e \u0000', preferred_username: 5 }],
  ['x'.repeat(100), { name: 'x'.repeat(200) }],
])('a person is called %j', async (name, said) => {
  expect(await signIn(said)).toMatchObject({ name, role: 'clerk' })
})

test('a person without a visible name is called by a digest', async () => {
  expect((await signIn({ sub: '\u200b' })).name).toMatch(/^[0-9a-f]{12}$/)
})

test.each([[[['staff']]], [[5]], [5], [{ staff: 'staff' }], [null]])(
  'groups that are not text give no role: %j',
  async (groups) => {
    await expect(signIn({ groups })).rejects.toMatchObject({ code: 'no_role' })
  },
)

test('refuses an ID token dated more than a few minutes ahead', async () => {
  const iat = Math.floor(Date.now() / 1000)
  expect(await signIn({ iat: iat + 200 })).toMatchObject({ role: 'clerk' })
  await expect(signIn({ iat: iat + 400 })).rejects.toMatchObject({ code: 'provider_refused' })
})
