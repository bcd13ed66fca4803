import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { ConfigError, readConfig } from '#settings/config.ts'
import { gatewayProcess } from '../../support/gateway-process.ts'
import { ADA } from '../../support/given.ts'
import { freePort } from '../../support/http.ts'

// `npm start` shows a linked issuer: the gateway is the domain of the local chain's issuer.

const KEY = 'a-key-that-only-the-tests-have'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A running gateway on ports of its own, in the one data folder. */
async function startGateway(env: Record<string, string> = {}) {
  const [port, chainPort] = [await freePort(), await freePort()]
  const gateway = gatewayProcess({
    PORT: `${port}`,
    CHAIN_PORT: `${chainPort}`,
    API_KEY: KEY,
    DATA_DIR: folder,
    ...env,
  })
  onTestFinished(async () => void (await gateway.stop()))
  await gateway.start()
  const request = async (path: string, init: RequestInit = {}) => {
    const headers = {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
    }
    const response = await fetch(`${gateway.url}${path}`, { headers, ...init })
    return { response, body: await response.json() }
  }
  const issuerOf = async (publicId: string) => {
    const { body } = await request(`/v1/verify?publicId=${publicId}`)
    const { checks, blockchainProof } = body.data
    const { code } = checks.find(({ check }: { check: string }) => check === 'identity')
    const { name, uri, domain } = blockchainProof.issuer
    return { code, name, uri, domain }
  }
  return { ...gateway, host: `127.0.0.1:${port}`, request, issuerOf }
}

test('the issuer of the local chain is linked to the gateway, also on a new port', async () => {
  const first = await startGateway()
  const { body } = await first.request('/v1/documents', {
    method: 'POST',
    body: JSON.stringify(ADA),
  })
  const { publicId, registry } = body.data
  const linked = ({ url, host }: typeof first, name: string) => ({
    code: 'linked',
    name,
    uri: url,
    domain: host,
  })
  await expect.poll(() => first.issuerOf(publicId)).toEqual(linked(first, 'Local test issuer'))

  const { response, body: did } = await first.request('/.well-known/did.json')
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(did).toMatchObject({
    id: `did:web:${first.host.replace(':', '%3A')}`,
    service: [{ serviceEndpoint: [{ registry, issuerId: 1 }] }],
  })
  await first.stop()

  const second = await startGateway({ ISSUER_NAME: 'Testville' })
  await expect.poll(() => second.issuerOf(publicId)).toEqual(linked(second, 'Testville'))
})

test("a gateway with another ISSUER_URI is not the issuer's domain", async () => {
  const uri = 'https://10.0.0.1'
  const gateway = await startGateway({ ISSUER_URI: uri })
  const { body } = await gateway.request('/v1/documents', {
    method: 'POST',
    body: JSON.stringify(ADA),
  })
  expect(await gateway.issuerOf(body.data.publicId)).toEqual({
    code: 'no_domain',
    name: 'Local test issuer',
    uri,
    domain: null,
  })
  const { response } = await gateway.request('/.well-known/did.json')
  expect(response.status).toBe(404)
  expect(gateway.output()).toMatch(/issuer_not_linked.*no_domain/)
})

test('rejects a name or uri that the registry would reject', () => {
  const problemsOf = (env: Record<string, string>) => {
    try {
      readConfig(env)
    } catch (error) {
      if (error instanceof ConfigError) return error.message
      throw error
    }
    return ''
  }
  expect(problemsOf({ ISSUER_NAME: 'é'.repeat(101) })).toContain(
    'ISSUER_NAME must have at most 200 bytes',
  )
  expect(problemsOf({ ISSUER_URI: `https://${'a'.repeat(400)}` })).toContain(
    'ISSUER_URI must have at most 400 bytes',
  )
  expect(readConfig({ ISSUER_NAME: 'é'.repeat(100), ISSUER_URI: 'https://a.edu' })).toMatchObject({
    issuerUri: 'https://a.edu',
  })
})
