import { request as httpRequest } from 'node:http'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { METHOD_NAME_ALL } from 'hono/router'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findPack, packCache } from '#certificates/packs.ts'
import { cidOf } from '#document/cid.ts'
import { decodePublicId } from '#document/public-id.ts'
import { aliasOf, type Operation } from '#http/core/operation.ts'
import { EXAMPLE_PUBLIC_ID, EXAMPLE_RECEIVER } from '#http/resources/schemas.ts'
import { OPERATIONS } from '#modules/all.ts'
import { deskUrlOf } from '#modules/desk/people/desk.ts'
import { createAuthenticator } from '#test/support/authenticator.ts'
import { bareApp } from '#test/support/bare-app.ts'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { bodySchemaOf, openapi, problemsBySchema } from '#test/support/described.ts'
import { signIn } from '#test/support/desk.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

test('all schemas are JSON Schema 2020-12', () => {
  const ajv = new Ajv2020()
  const isSchema = (schema: object) => ajv.validateSchema(schema)
  const inside = (value: unknown): object[] => {
    if (typeof value !== 'object' || value === null) return []
    const own = 'schema' in value ? [value.schema as object] : []
    return [...own, ...Object.values(value).flatMap(inside)]
  }
  const schemas = [...Object.values(openapi.components.schemas), ...inside(openapi.paths)]
  expect(schemas.length).toBeGreaterThan(300)
  expect(schemas.filter((schema) => !isSchema(schema))).toEqual([])
})

describe('the list of operations', () => {
  const declared = OPERATIONS.flatMap(({ method, path }) =>
    [path, aliasOf(path)]
      .filter((served) => served !== undefined)
      .map((served) => `${method} ${served}`),
  )

  test('has every route of the app, and each is served', () => {
    const served = bareApp()
      .app.routes.filter(({ method }) => method !== METHOD_NAME_ALL && method !== 'OPTIONS')
      .map(({ method, path }) => `${method} ${path}`)
    expect([...new Set(served)].sort()).toEqual(declared.toSorted())
  })

  test('answers 405 for another method of any path, and Allow names those of the path', async () => {
    const { app } = bareApp()
    const ofPath = Map.groupBy(declared, (line) => line.split(' ')[1] ?? '')
    for (const [path, lines] of ofPath) {
      const known = lines.map((line) => line.split(' ')[0] ?? '')
      if (known.includes('GET')) known.push('HEAD')
      const isOpen = app.routes.some((route) => route.path === path && route.method === 'OPTIONS')
      if (isOpen) known.push('OPTIONS')
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (known.includes(method)) continue
        const { status, headers } = await app.request(path.replaceAll(/:\w+/g, 'x'), { method })
        const allowed = headers.get('allow')?.split(', ').sort()
        expect([method, path, status, allowed]).toEqual([method, path, 405, known.toSorted()])
      }
    }
  })

  test('answers 404 for a trailing slash, and says so', async () => {
    const answer = await bareApp().app.request('/v1/documents/', { method: 'POST' })
    expect([answer.status, (await answer.json()).error.message]).toEqual([
      404,
      'no such resource: leave out the slash at the end',
    ])
  })

  test('names each operation once', () => {
    const ids = OPERATIONS.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('a body is optional only if it may be {}', () => {
    for (const { operationId, body } of OPERATIONS)
      if (body && !body.mediaType)
        expect(body.isOptional === true, operationId).toBe(v.safeParse(body.schema, {}).success)
  })

  test('describes every parameter of a path', () => {
    for (const { path, parameters = {} } of OPERATIONS)
      expect(Object.keys(parameters), path).toEqual(
        [...path.matchAll(/:(\w+)/g)].map(([, name]) => name),
      )
  })
})

type Prepare = (send: Send, publicId: string) => Promise<Record<string, string>>

const webhook: Prepare = async (send) => {
  const example = { url: 'http://127.0.0.1:1', types: ['document.issued'] }
  const { body } = await send('POST', '/v1/webhooks', JSON.stringify(example))
  return { id: body.data.id }
}

const key: Prepare = async (send) => {
  const { body } = await send('POST', '/v1/keys', '{"scopes":["verify"]}')
  return { id: body.data.id }
}

let batches = 0
const batch: Prepare = async (send) => {
  const body = `${JSON.stringify({ ...ADA, subjectId: `${++batches}` })}\n`
  const answer = await send('POST', '/v1/batches', body, 'application/x-ndjson')
  // Of one line, so JSON.
  return { root: JSON.parse(Buffer.from(answer.body).toString()).data.batchRoot }
}

const run: Prepare = async (send) => {
  const body = `${JSON.stringify(ADA)}\n`
  const headers = 'application/x-ndjson'
  const { runs } = (await send('GET', '/v1/runs')).body.data
  if (runs[0]) return { id: runs[0].id }
  const answer = await send('POST', '/v1/runs', body, headers)
  return { id: answer.body.data.id }
}

const person: Prepare = async (send) => {
  const { body } = await send('POST', '/v1/people', '{"name":"Ada","role":"clerk"}')
  return { id: body.data.person.id }
}

const kind: Prepare = async (send) => {
  const metadata = '{"display":[{"locale":"en","name":"Diploma"}]}'
  const { category, version } = (await send('PUT', '/v1/kinds/diploma', metadata)).body.data
  return { category, issuerId: '1', version: String(version) }
}

/** The answers to examples that name the secrets or domain of somebody else. */
const ELSEWHERE: Record<string, string> = {
  retrieveDidDocument: '404',
  retrieveStatusList: '404',
  useInvitation: '401',
  signInWithPasskey: '401',
  registerPasskey: '403',
  removePersonPasskey: '404',
  // There is no identity provider.
  beginProviderSignIn: '404',
  returnFromProvider: '404',
  exchangeOffer: '400',
  fetchCredential: '401',
  notifyIssuer: '401',
}

/** What has to be there before the example of an operation succeeds, and how its path names it. */
const PREPARED: Record<string, Prepare> = {
  releaseDocument: async (send, publicId) => {
    await send('POST', `/v1/documents/${publicId}/suspend`, '{}')
    return {}
  },
  readOffer: async (send, publicId) => {
    const { body } = await send('POST', `/v1/documents/${publicId}/offer`, '{}')
    return { code: body.data.offerUrl.split('/').at(-1) }
  },
  retrieveIssuerMetadata: async () => ({ category: 'diploma' }),
  retrieveServerMetadata: async () => ({ category: 'diploma' }),
  retrieveBatch: batch,
  revokeBatch: batch,
  suspendBatch: batch,
  releaseBatch: async (send, publicId) => {
    const { root = '' } = await batch(send, publicId)
    await send('POST', `/v1/batches/${root}/suspend`, '{}')
    return { root }
  },
  retrieveWebhook: webhook,
  changeWebhook: webhook,
  removeWebhook: webhook,
  rotateWebhookSecret: webhook,
  replayEvents: webhook,
  testWebhook: webhook,
  retrieveKey: key,
  rotateKey: key,
  changeKey: key,
  revokeKey: key,
  putKind: kind,
  removeKind: kind,
  retrieveType: kind,
  retrieveTypeVersion: kind,
  retrieveDeskTexts: async () => ({ language: 'de' }),
  retrieveRun: run,
  retrieveRunRows: run,
  stopRun: run,
  resumeRun: run,
  removeRun: run,
  changePerson: person,
  removePerson: person,
  invitePerson: person,
  endPersonSessions: person,
  listPersonPasskeys: person,
  removePersonPasskey: async (send) => ({ ...(await person(send, '')), passkey: 'none' }),
}

type Send = (
  method: string,
  path: string,
  body?: string,
  mediaType?: string,
) => ReturnType<Stack['request']>

describe('the examples, at a real gateway', () => {
  const credentialKey = makeCredentialKey()
  let stack: Stack
  beforeAll(async () => {
    const cache = packCache({})
    await findPack('base', cache, () => {})
    stack = await startStack({
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ADDRESS_RATE_LIMIT: 'off',
      CERTIFICATE_PACKS: cache,
      CREDENTIAL_KEY_FILE: credentialKey.path,
    })
  })
  afterAll(async () => {
    await stack.stop()
    credentialKey.remove()
  })

  const send: Send = (method, path, body, mediaType = 'application/json') =>
    stack.request(path, {
      method,
      headers: {
        authorization: `Bearer ${API_KEY}`,
        ...(body !== undefined && { 'content-type': mediaType }),
        accept: '*/*',
      },
      ...(body !== undefined && { body }),
    })

  /** Sends a request of a new person, who has a passkey. */
  async function sendSignedIn(method: string, path: string, body: string | undefined) {
    const desk = await signIn(stack)
    const { origin } = new URL(deskUrlOf(stack.url))
    const options = (await desk.send('POST', '/v1/passkeys/options')).body.data
    const response = createAuthenticator(origin).create(options)
    const { id } = (await desk.send('POST', '/v1/passkeys', { response, label: 'x' })).body.data
    return desk.send(method, path.replace(':id', id), body && JSON.parse(body))
  }

  /** Sends the request that an operation gives as its example, about a new document. */
  async function sendExample(
    { operationId, method, path, scope, exampleQuery, body }: Operation,
    hasBody = true,
  ) {
    const { publicId } = (await stack.issue(ADA)).body.data
    const named: Record<string, string> = {
      publicId,
      cid: `${cidOf(decodePublicId(publicId).hash)}?format=raw`,
      ...(await PREPARED[operationId]?.(send, publicId)),
    }
    const put = (text: string) =>
      text
        .replaceAll(EXAMPLE_PUBLIC_ID, publicId)
        .replaceAll(EXAMPLE_RECEIVER, 'http://127.0.0.1:1')
    const target = path.replaceAll(/:(\w+)/g, (_, name) => named[name] ?? '')
    const query = exampleQuery ? `?${new URLSearchParams(exampleQuery)}` : ''
    const { mediaType, example } = body ?? {}
    const isText = mediaType === 'application/x-ndjson'
    const text =
      body && hasBody ? put(isText ? String(example) : JSON.stringify(example)) : undefined
    if (scope === 'session') return sendSignedIn(method, path, text)
    return send(method, `${target}${put(query)}`, text, mediaType)
  }

  test.each(OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
    '%s answers its example as described',
    async (_, operation) => {
      // `request` holds the answer against the schema.
      const { status, headers, body } = await sendExample(operation)
      const [first = ''] = Object.keys(operation.responses)
      expect(String(status)).toBe(ELSEWHERE[operation.operationId] ?? first)
      const success = operation.responses[status]
      for (const name of Object.keys(success?.headers ?? {}))
        if (name !== 'Idempotency-Replayed') expect(headers.get(name), name).toBeTruthy()
      if (success?.data && success.example !== undefined)
        expect(Object.keys(body.data).sort()).toEqual(
          expect.arrayContaining(Object.keys(success.example as object).sort()),
        )
    },
  )

  test.each(
    OPERATIONS.filter(({ body }) => body?.isOptional).map((one) => [one.operationId, one] as const),
  )('%s works without a body', async (_, operation) => {
    const { status } = await sendExample(operation, false)
    expect(Object.keys(operation.responses)).toContain(`${status}`)
  })

  test.each([
    { 'content-type': 'application/json' },
    { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' },
    { 'content-type': 'application/octet-stream', 'transfer-encoding': 'chunked' },
  ])('an empty body counts as none, with %j too', async (headers) => {
    const { publicId } = (await stack.issue(ADA)).body.data
    const { status } = await sendEmpty(`${stack.url}/v1/documents/${publicId}/suspend`, headers)
    expect(status).toBe(200)
  })

  test.each([
    ['issueDocument', { ...ADA, issuedAt: '2026-02-30' }],
    ['issueDocument', { ...ADA, issuedAt: '2026-04-31' }],
    ['searchDocuments', { issuedFrom: '2026-13-01' }],
    ['searchDocuments', { issuedTo: '2026-06-31' }],
    ['createKey', { scopes: ['verify', 'verify'] }],
    ['createKey', { scopes: ['verify'], categories: ['diploma', 'diploma'] }],
    ['createKey', { scopes: ['verify'], label: 'a\u0007' }],
    ['createKey', { scopes: ['verify'], expiresAt: '2099-13-01T00:00:00Z' }],
    ['createKey', { scopes: ['verify'], expiresAt: '2099-01-01' }],
    ['addPerson', { name: 'Ada', role: 'owner' }],
    ['addPerson', { name: '', role: 'clerk' }],
    ['changePerson', { tenant: 'a b' }],
    ['putKind', { display: [] }],
    ['putKind', { display: [{ locale: 'en', name: 'x', rendering: {} }] }],
    ['putKind', { display: [{ locale: 'en', name: 'x' }], claims: [{ path: [] }] }],
    ['createWebhook', { url: 'receiver' }],
    ['createWebhook', { url: 'ftp://127.0.0.1/' }],
    ['createWebhook', { url: 'http://user@127.0.0.1/' }],
    ['createWebhook', { url: 'http://127.0.0.1/#a' }],
    ['createWebhook', { url: 'http://127.0.0.1', types: ['batch.issued', 'batch.issued'] }],
    ['replayEvents', { after: 'evt_1' }],
    ['replayEvents', { since: '2026-01-31T00:00:00+05' }],
    ['replayEvents', { since: '2026-01-31' }],
    ['replayEvents', {}],
    ['replayEvents', { after: 'evt_0_1', since: '2026-01-31T00:00:00Z' }],
    ['revokeDocuments', []],
    ['suspendDocuments', []],
  ])('the schema of %s refuses what the gateway refuses: %j', async (operationId, sent) => {
    expect(problemsBySchema(bodySchemaOf(operationId), sent)).not.toEqual([])
    const { method = '', path = '' } =
      OPERATIONS.find((one) => one.operationId === operationId) ?? {}
    const named = (await PREPARED[operationId]?.(send, '')) ?? {}
    const target = path.replaceAll(/:(\w+)/g, (_, name) => named[name] ?? '')
    const answer = await send(method, target, JSON.stringify(sent))
    expect([answer.status, answer.body.error.code]).toEqual([422, 'bad_fields'])
  })

  test('refuses an optional body that is not JSON', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    const { status } = await send('POST', `/v1/documents/${publicId}/suspend`, 'a=1', 'text/plain')
    expect(status).toBe(415)
  })
})

/** `fetch` sets these headers by itself. */
function sendEmpty(url: string, headers: Record<string, string>) {
  return new Promise<{ status: number | undefined }>((resolve, reject) => {
    const authorization = `Bearer ${API_KEY}`
    const request = httpRequest(url, { method: 'POST', headers: { authorization, ...headers } })
    request.on('error', reject)
    request.on('response', (response) => resolve({ status: response.resume().statusCode }))
    request.end()
  })
}

describe('the document', () => {
  test('numbers in a query are integers with bounds', () => {
    const limits = Object.values(openapi.paths).flatMap(({ get }) =>
      ((get?.parameters ?? []) as { name: string; schema: object }[])
        .filter(({ name }) => name === 'limit')
        .map(({ schema }) => schema),
    )
    const range = (maximum: number, fallback: number) => ({
      type: 'integer',
      minimum: 1,
      maximum,
      default: fallback,
    })
    const [page, rows] = [range(100, 20), range(1_000, 100)]
    // Documents, batches, the rows of a run, events.
    expect(limits).toEqual([page, page, rows, rows])
  })

  test('the receiver in examples has a name that can resolve', () => {
    // RFC 6761.
    expect(new URL(EXAMPLE_RECEIVER).hostname).not.toMatch(
      /(^|[.])(example|test|invalid|localhost)$/,
    )
  })

  const responses = Object.entries(openapi.paths).flatMap(([path, item]) =>
    Object.values(item).flatMap((operation) =>
      Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(
          ([type, { schema, ...rest }]) =>
            [`${path} ${operation.operationId} ${status} ${type}`, schema, rest] as const,
        ),
      ),
    ),
  )

  test.each(responses)('the schema of %s compiles and accepts its example', (_, schema, rest) => {
    const { example } = rest as { example?: unknown }
    if (schema) problemsBySchema(schema, {})
    if (schema && example !== undefined) expect(problemsBySchema(schema, example)).toEqual([])
  })

  test('has nothing that breaks generators of clients', () => {
    type Schema = Record<string, unknown>
    const schemas: Schema[] = []
    JSON.stringify(openapi, (key, value) => {
      if (key === 'example' || key === 'examples') return undefined
      const isSchema = ['type', 'anyOf', 'const', 'enum', '$ref'].some(
        (word) => word in Object(value),
      )
      if (isSchema && !Array.isArray(value)) schemas.push(value)
      return value
    })
    expect(schemas.length).toBeGreaterThan(1_000)
    const typeOf = ({ $ref, type }: Schema) =>
      typeof $ref === 'string'
        ? openapi.components.schemas[$ref.split('/').at(-1) ?? '']?.type
        : type
    const faults: Record<string, (schema: Schema) => unknown> = {
      'a constant without a type': (one) => 'const' in one && !('type' in one),
      'a pattern beside a format': (one) => 'pattern' in one && 'format' in one,
      'a default of null': (one) => one.default === null,
      'a reference with more': (one) => '$ref' in one && Object.keys(one).length > 1,
      'a choice of null or what is not an object': ({ anyOf }) => {
        const types = (anyOf as Schema[] | undefined)?.map(typeOf)
        return (
          types?.includes('null') &&
          types.some((type) => !['object', 'null', undefined].includes(type as string))
        )
      },
      'a choice of an object or an array': ({ anyOf }) => {
        const types = (anyOf as Schema[] | undefined)?.map(typeOf)
        return types?.includes('object') && types.includes('array')
      },
      'a set of an enum without a name': ({ uniqueItems, items }) =>
        uniqueItems && 'enum' in Object(items),
    }
    for (const [fault, has] of Object.entries(faults))
      expect(schemas.filter(has), fault).toEqual([])
  })

  test('describes each operation', () => {
    for (const item of Object.values(openapi.paths))
      for (const { operationId, description } of Object.values(item))
        expect(description, operationId).toBeTruthy()
  })

  test('only an envelope fits the schema of an answer', () => {
    const schema =
      openapi.paths['/v1/documents']?.post?.responses[201]?.content?.['application/json']?.schema
    if (!schema) throw new Error('no schema')
    for (const bad of [{}, { success: false, data: {} }, { success: true, data: {} }, null, []])
      expect(problemsBySchema(schema, bad)).not.toEqual([])
  })
})
