import type { Server } from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { freePort } from '#test/support/http.ts'
import { ADA, API_KEY, requestsTo, type Stack, startStack } from '#test/support/stack.ts'
import { findSuite, runPlan } from './conformance-suite.ts'
import { serveTls } from './serve-tls.ts'

const suite = findSuite()
const MODULE = 'oid4vci-1_0-issuer-'
/** What the suite skips, because the service does not have it and does not say so. */
const SKIPPED = [
  'metadata-test-signed',
  'batch-issuance',
  'fail-invalid-key-attestation-signature',
  'fail-unsupported-encryption-algorithm',
]
/** The service identifies no client, and ignores that the suite's wallet does. */
const VARIANT = {
  fapi_profile: 'vci',
  vci_grant_type: 'pre_authorization_code',
  vci_authorization_code_flow_variant: 'issuer_initiated',
  vci_credential_encryption: 'plain',
  credential_format: 'sd_jwt_vc',
  client_auth_type: 'private_key_jwt',
  sender_constrain: 'dpop',
  authorization_request_type: 'simple',
  fapi_request_method: 'unsigned',
  fapi_response_mode: 'plain_response',
  openid: 'plain_oauth',
}

describe.skipIf(suite === undefined)('the conformance suite of the OpenID Foundation', () => {
  let key: ReturnType<typeof makeCredentialKey>
  let stack: Stack
  let proxy: Server
  let ask: Stack['request']
  beforeAll(async () => {
    key = makeCredentialKey()
    const [inner, outer] = [await freePort(), await freePort()]
    proxy = serveTls(inner).listen(outer, '127.0.0.1')
    ask = requestsTo(`http://127.0.0.1:${inner}`)
    stack = await startStack({
      PORT: String(inner),
      BASE_URL: `https://localhost:${outer}`,
      CREDENTIAL_KEY_FILE: key.path,
      ADDRESS_RATE_LIMIT: 'off',
    })
  })
  afterAll(async () => {
    await stack.stop()
    proxy.close()
    key.remove()
  })

  const send = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    return (await ask(path, { method, headers, body: JSON.stringify(body) })).body.data
  }
  const run = (category: string, configuration: string, only?: readonly string[]) =>
    runPlan(
      suite ?? '',
      {
        name: 'oid4vci-1_0-issuer-test-plan',
        variant: VARIANT,
        config: {
          alias: `document-registry-${configuration}`,
          vci: {
            credential_issuer_url: `${stack.url}/wallets/${category}`,
            credential_configuration_id: configuration,
          },
          client: { client_id: 'one' },
          client2: { client_id: 'two' },
        },
        ...(only && { only }),
      },
      async () => {
        const { publicId } = await send('POST', '/v1/documents', { ...ADA, category })
        const iss = configuration.endsWith('-did-web') ? 'did:web' : 'https'
        return send('POST', `/v1/documents/${publicId}/offer`, { txCode: true, iss })
      },
    )

  test('passes with pre-authorised codes', async () => {
    const outcomes = await run(ADA.category, 'plain')
    const passed = outcomes.filter(({ result }) => result === 'PASSED')
    expect(outcomes.filter((outcome) => !passed.includes(outcome))).toEqual(
      SKIPPED.map((name) => ({ module: MODULE + name, result: 'SKIPPED', findings: [] })),
    )
    expect(passed.length).toBeGreaterThanOrEqual(11)
  }, 600_000)

  test('passes for a kind, whose type has one member more than the standard', async () => {
    await send('PUT', '/v1/kinds/diploma', {
      display: [{ locale: 'de', name: 'Diplom' }],
      claims: [{ path: ['subjectName'], display: [{ locale: 'de', label: 'Name' }] }],
    })
    const [outcome] = await run('diploma', 'document-did-web', [`${MODULE}happy-flow`])
    expect(outcome?.findings).toEqual([
      expect.stringMatching(/^CheckForUnexpectedParametersInSdJwtVcTypeMetadata:/),
    ])
  }, 120_000)
})
