import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import type { Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { bodyOf, freePort } from '#test/support/http.ts'
import { ADA, API_KEY, requestsTo, type Stack, startStack } from '#test/support/stack.ts'
import { goProgram } from '#tools/go-tool.ts'
import { verifyCredential } from '#verifier/credential.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { CERTIFIED_KEY } from './certified-key.ts'
import { serveTls } from './serve-tls.ts'

// The wallet of Yivi and its verifier, which reach the service and a verifier over https alone.

const binary = await goProgram(join(import.meta.dirname, 'wallets-go'))
const { certificate } = CERTIFIED_KEY
const { issuer: ISSUER, verifier: VERIFIER } = CERTIFIED_KEY.names

/** What the wallet says of a credential that it holds. */
type Held = {
  credential_id: string
  name: string
  revoked: boolean
  attributes: { claim_path: string[]; value?: { string?: string } }[]
}

describe.skipIf(binary === undefined).each([
  {
    keys: 'has a known certificate',
    certificate,
    authority: CERTIFIED_KEY.authority,
    iss: 'https',
  },
  { keys: 'has an unknown certificate', certificate, authority: '', iss: 'did:web' },
  { keys: 'has no certificate', certificate: '', authority: '', iss: 'did:web' },
])('irmago, and an issuer of $iss whose key $keys', ({ certificate, authority, iss }) => {
  const folder = mkdtempSync(join(tmpdir(), 'document-registry-irmago-'))
  const key = makeCredentialKey()
  let stack: Stack
  let url: string
  let ask: Stack['request']
  let server: Server
  let port: number
  let verifier: Awaited<ReturnType<typeof createVerifier>>
  beforeAll(async () => {
    writeFileSync(key.path, CERTIFIED_KEY.key + certificate)
    const inner = await freePort()
    port = await freePort()
    verifier = await createVerifier()
    server = serveTls(inner, { [VERIFIER]: verifier.listener }).listen(port, '127.0.0.1')
    url = `http://127.0.0.1:${inner}`
    ask = requestsTo(url)
    stack = await startStack({
      PORT: String(inner),
      BASE_URL: `https://${ISSUER}`,
      CREDENTIAL_KEY_FILE: key.path,
      ADDRESS_RATE_LIMIT: 'off',
    })
  })
  afterAll(async () => {
    await stack?.stop()
    server?.close()
    key.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Runs the program, which keeps what a party knows in a folder of its own. */
  const run = (command: string, party: string, args: string[], input = '') =>
    // biome-ignore lint/suspicious/noExplicitAny: each command prints another shape.
    new Promise<any>((resolve, reject) => {
      const env = {
        WALLET_SERVER: `127.0.0.1:${port}`,
        WALLET_HTTPS_AUTHORITY: CERTIFIED_KEY.authority,
        WALLET_ISSUER_AUTHORITY: authority,
      }
      const all = [command, join(folder, party), ...args]
      const child = execFile(binary ?? '', all, { env }, (error, stdout) =>
        error ? reject(error) : resolve(JSON.parse(stdout)),
      )
      child.stdin?.end(input)
    })
  const send = async (method: string, path: string, body: object = {}) => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    return (await ask(path, { method, headers, body: JSON.stringify(body) })).body.data
  }
  const offer = async (category: string, terms: object = {}) => {
    const { publicId } = await send('POST', '/v1/documents', { ...ADA, category })
    const { link, txCode } = await send('POST', `/v1/documents/${publicId}/offer`, {
      iss,
      ...terms,
    })
    return { publicId, link, txCode }
  }
  const present = async (party: string, vct: string) => {
    const { link, ...bound } = verifier.request(vct)
    expect(await run('present', party, [link])).toBeNull()
    return { presentation: verifier.received(), ...bound }
  }
  type Shown = Awaited<ReturnType<typeof present>>
  const judgeByIrmago = ({ presentation, audience, nonce }: Shown) =>
    run('verify', 'verifier', [audience, nonce], presentation)
  const judge = ({ presentation, audience, nonce }: Shown) =>
    verifyCredential(presentation, {
      audience,
      nonce,
      chain: createChainReader(stack.provider, stack.registry),
      blocks: [createIpfsGatewaySource(url)],
      identity: {
        read: async () => ({
          status: 'found',
          bytes: Buffer.from(JSON.stringify((await ask('/.well-known/did.json')).body)),
        }),
      },
    })

  test('imports, holds and presents, and both verifiers refuse after a revocation', async () => {
    const { publicId, link } = await offer(ADA.category)
    const [held] = (await run('import', 'wallet', [link])) as Held[]
    const vct = `urn:document-registry:${stack.registry}:1:${ADA.category}`
    expect(held).toMatchObject({ credential_id: vct, revoked: false })
    const shown = await present('wallet', vct)
    expect(await judgeByIrmago(shown)).toMatchObject({ subjectName: ADA.subjectName, vct })
    expect(await judge(shown)).toMatchObject({
      status: 'valid',
      disclosed: { subjectName: ADA.subjectName },
    })
    expect((await judge({ ...shown, nonce: 'another' })).status).not.toBe('valid')

    await send('POST', `/v1/documents/${publicId}/revoke`)
    expect((await judge(shown)).status).toBe('revoked')
    await expect
      .poll(() => judgeByIrmago(shown), { timeout: 20_000, interval: 1_000 })
      .toEqual({ error: 'credential status is invalid, not valid' })
    const [now] = (await run('list', 'wallet', [])) as Held[]
    expect(now?.revoked).toBe(true)
  }, 120_000)

  test('imports a document of a kind with a code, and checks the hash of its type', async () => {
    await send('PUT', '/v1/kinds/diploma', {
      display: [{ locale: 'en', name: 'Diploma' }],
      claims: [{ path: ['subjectName'], display: [{ locale: 'en', label: 'Name' }] }],
    })
    const { link, txCode } = await offer('diploma', { txCode: true })
    const [held] = (await run('import', 'other', [link, txCode])) as Held[]
    expect(held).toMatchObject({
      name: 'Diploma',
      credential_id: `https://${ISSUER}/v1/types/1/diploma/1`,
    })
  }, 60_000)

  test.runIf(certificate === '')('refuses an issuer over https', async () => {
    const { link } = await offer(ADA.category, { iss: 'https' })
    expect(await run('import', 'third', [link])).toEqual({
      error: expect.stringContaining('unsupported DID method for kid resolution'),
    })
  })
})

/** A verifier of OpenID4VP 1.0 whose client id is a did:jwk, without encryption. */
async function createVerifier() {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = Buffer.from(JSON.stringify(await exportJWK(publicKey))).toString('base64url')
  const audience = `decentralized_identifier:did:jwk:${jwk}`
  let vct = ''
  let nonce = ''
  let presentation = ''
  const request = () =>
    new SignJWT({
      client_id: audience,
      response_type: 'vp_token',
      response_mode: 'direct_post',
      response_uri: `https://${VERIFIER}/response`,
      nonce,
      state: 'a-state',
      dcql_query: {
        credentials: [
          {
            id: 'one',
            format: 'dc+sd-jwt',
            meta: { vct_values: [vct] },
            claims: [{ path: ['subjectName'] }],
          },
        ],
      },
      client_metadata: {
        vp_formats_supported: {
          'dc+sd-jwt': { 'sd-jwt_alg_values': ['ES256'], 'kb-jwt_alg_values': ['ES256'] },
        },
      },
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'oauth-authz-req+jwt', kid: `did:jwk:${jwk}#0` })
      .setAudience('https://self-issued.me/v2')
      .setIssuedAt()
      .sign(privateKey)
  const listener: RequestListener = async (incoming, outgoing) => {
    if (incoming.method === 'POST') {
      const form = new URLSearchParams(await bodyOf(incoming))
      presentation = JSON.parse(form.get('vp_token') ?? '{}').one?.[0] ?? ''
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    } else {
      const type = { 'content-type': 'application/oauth-authz-req+jwt' }
      outgoing.writeHead(200, type).end(await request())
    }
  }
  return {
    listener,
    /** Asks for the name on a credential of a type. */
    request(asked: string) {
      ;[vct, nonce, presentation] = [asked, crypto.randomUUID(), '']
      const query = new URLSearchParams({
        client_id: audience,
        request_uri: `https://${VERIFIER}/request`,
      })
      return { link: `openid4vp://?${query}`, audience, nonce }
    },
    received: () => presentation,
  }
}
