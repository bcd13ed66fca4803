import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '#keys/grant.ts'
import { SCOPES } from '#keys/grant.ts'
import { SCOPES_OF } from '#keys/roles.ts'
import { openapi } from '../../support/described.ts'
import { type Desk, signIn } from '../../support/desk.ts'
import { ADA, type Stack, startStack } from '../../support/stack.ts'

// Every operation of /openapi.json that names something × every way to name it × two tenants.

/** Whoever has a publicId may verify it; a bundle is a verdict in a file. */
const OPEN = ['verifyDocument', 'retrieveBundle']
/** Scopes without `admin`, which names what all tenants have. */
const ALL = SCOPES.filter((scope) => scope !== 'admin')
const NDJSON = 'application/x-ndjson'

type Issued = { publicId: string; documentHash: string; batchRoot: string }
/** What one tenant has. */
type Own = {
  key: string
  session: Desk
  alone: Issued
  member: Issued
  webhook: string
  run: string
}
/** The key or session of a request. */
type Who = string | Desk
type Request = { title: string; method: string; path: string; body?: string; lines?: true }

let stack: Stack
let victim: Own
let stranger: Own
beforeAll(async () => {
  stack = await startStack({ WAIT_SECONDS: '15', WEBHOOK_ALLOW_PRIVATE: 'true' })
  victim = await own('one')
  stranger = await own('two')
})
afterAll(() => stack.stop())

const send = (who: Who, method: string, path: string, body?: string, type?: string) =>
  stack.request(path, {
    method,
    headers: {
      ...(typeof who === 'string'
        ? { authorization: `Bearer ${who}` }
        : { cookie: who.cookie, 'x-csrf-token': who.csrfToken }),
      ...(body !== undefined && { 'content-type': type ?? 'application/json' }),
    },
    ...(body !== undefined && { body }),
  })

/** @returns The data of each line of an answer in NDJSON, or its error. */
function linesOf(
  bytes: Uint8Array,
): { success: boolean; error?: { code: string }; data: Issued }[] {
  const text = Buffer.from(bytes).toString().trimEnd()
  return text.split('\n').map((line) => JSON.parse(line))
}

async function issueBatch(key: string, subjectId: string): Promise<Issued> {
  const body = JSON.stringify({ ...ADA, subjectId })
  const [line] = linesOf((await send(key, 'POST', '/v1/batches', body, NDJSON)).body)
  return line?.data as Issued
}

async function own(tenant: string): Promise<Own> {
  const key = stack.key(ALL, tenant)
  const { body } = await stack.issue(ADA, { authorization: `Bearer ${key}` })
  const member = await issueBatch(key, `${tenant.length}${tenant.charCodeAt(0)}`)
  const url = JSON.stringify({ url: 'http://127.0.0.1:1' })
  const webhook = (await send(key, 'POST', '/v1/webhooks', url)).body.data.id
  const line = JSON.stringify(ADA)
  const run = (await send(key, 'POST', '/v1/runs?mode=single', line, NDJSON)).body.data.id
  const session = await signIn(stack, { tenant, role: 'registrar' })
  return { key, session, alone: body.data, member, webhook, run }
}

/** Each way to name what a tenant has, by the name of a parameter. */
function namesOf({ alone, member, webhook, run }: Own, path: string): Record<string, string[]> {
  return {
    publicId: [alone, member].flatMap(({ publicId, documentHash }) => [publicId, documentHash]),
    root: [member.batchRoot],
    id: [path.includes('/runs/') ? run : webhook],
  }
}

/** Each way to name a document in the line of a list; a batch may be one of somebody else. */
function entriesOf({ alone, member }: Own, other: Own): object[] {
  const { documentHash, batchRoot } = member
  return [
    { publicId: alone.publicId },
    { documentHash: alone.documentHash },
    { publicId: member.publicId },
    { documentHash },
    { documentHash, batchRoot },
    { documentHash, batchRoot: other.member.batchRoot },
    { documentHash: alone.documentHash, batchRoot },
    { documentHash: alone.documentHash, batchRoot: other.member.batchRoot },
  ]
}

const isNamed = (value: unknown) =>
  /"(publicId|documentHash|batchRoot)"/.test(JSON.stringify(value))

type Described = (typeof openapi.paths)[string][string]
const operations = Object.entries(openapi.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .map(([method, operation]) => ({ path, method, operation, scope: scopeOf(operation) }))
    .filter(({ operation, scope }) => scope !== undefined && !OPEN.includes(operation.operationId)),
)

function scopeOf({ security = [] }: Described): string | undefined {
  return (security as Record<string, string[]>[]).flatMap((one) => Object.values(one).flat())[0]
}

/** @returns Its requests about what a tenant has; none for an operation that names nothing. */
function requestsOf(
  { path, method, operation, scope }: (typeof operations)[number],
  of: Own,
  other: Own,
): Request[] {
  if (scope === ('admin' satisfies Scope)) return []
  const { operationId: title, requestBody } = operation
  const json = requestBody?.content['application/json']
  const example = (json as { example?: unknown } | undefined)?.example
  const base = { title, method: method.toUpperCase() }
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
  if (parameter !== undefined) {
    const names = namesOf(of, path)[parameter]
    if (!names) throw new Error(`${title}: how is a ${parameter} named?`)
    const body = example === undefined ? {} : { body: JSON.stringify(example) }
    return names.map((name) => ({ ...base, path: path.replace(`{${parameter}}`, name), ...body }))
  }
  if (!Array.isArray(example) || !isNamed(json?.schema)) return []
  const { publicId: _, ...rest } = example[0]
  return entriesOf(of, other).map((entry) => ({
    ...base,
    path,
    lines: true,
    body: JSON.stringify([{ ...rest, ...entry }]),
  }))
}

/** @returns The status and code of an answer; of a list that of its line. */
async function answerTo(who: Who, { method, path, body, lines }: Request) {
  const answer = await send(who, method, path, body)
  const failed = lines ? linesOf(answer.body)[0] : answer.body
  return { isDone: failed.success, code: failed.error?.code as string | undefined }
}

describe('separation of tenants', () => {
  test('the test covers every operation that names a resource', () => {
    const named = operations.filter((one) => requestsOf(one, victim, stranger).length > 0)
    const other = operations.filter((one) => !named.includes(one) && one.scope !== 'admin')
    expect(named.length).toBeGreaterThan(15)
    expect(other.map(({ operation }) => operation.operationId).sort()).toEqual(
      [
        'createWebhook',
        'issueBatch',
        'issueDocument',
        'listBatches',
        'listDocuments',
        'beginRun',
        'listRuns',
        'listEvents',
        'listKinds',
        'listTemplates',
        'listWebhooks',
        'printSpecimen',
        'retrieveOverview',
        'searchDocuments',
        // test/modules/certificates/routes.test.ts tries it with those of another tenant.
        'printCertificates',
      ].sort(),
    )
  })

  test('no key reaches resources of another tenant, by any identifier', async () => {
    for (const operation of operations)
      for (const request of requestsOf(operation, victim, stranger)) {
        const { code } = await answerTo(stranger.key, request)
        expect([request, code]).toEqual([request, 'not_found'])
      }
  })

  test('no session reaches resources of another tenant', async () => {
    const may = (scope = '') => SCOPES_OF.registrar.some((one) => one === scope)
    expect(operations.filter(({ scope }) => may(scope)).length).toBeGreaterThan(15)
    for (const operation of operations)
      for (const request of requestsOf(operation, victim, stranger)) {
        const { code } = await answerTo(stranger.session, request)
        const refusal = may(operation.scope) ? 'not_found' : 'forbidden'
        expect([request, code]).toEqual([request, refusal])
      }
  })

  test('what does not exist gets the same answer', async () => {
    const [hash, root] = ['5a', '5b'].map((byte) => `0x${byte.repeat(32)}`) as [string, string]
    const nobody = { publicId: hash, documentHash: hash, batchRoot: root }
    const none = { ...stranger, alone: nobody, member: nobody, webhook: 'wh_0', run: '0' }
    for (const operation of operations)
      for (const request of requestsOf(operation, none, stranger).filter(
        ({ body }) => !body?.includes('"publicId":"0x'),
      )) {
        const { code } = await answerTo(stranger.key, request)
        expect([request, code]).toEqual([request, 'not_found'])
      }
  })

  test('keys and people of a tenant cannot manage keys or people', async () => {
    for (const { path, method, scope } of operations.filter((one) => one.scope === 'admin'))
      for (const who of [stranger.key, stranger.session]) {
        const { body } = await send(who, method.toUpperCase(), path.replace('{id}', 'x'))
        expect([path, scope, body.error.code]).toEqual([path, 'admin', 'forbidden'])
      }
  })

  test('lists show nothing of another tenant', async () => {
    const { alone, member, webhook, run } = victim
    const secrets = [alone, member]
      .flatMap(({ publicId, documentHash }) => [publicId, documentHash])
      .concat(member.batchRoot, webhook, run)
    const lists = ['documents', 'batches', 'events', 'webhooks', 'runs'].map((name) => [
      'GET',
      name,
    ])
    for (const [method = '', name] of [...lists, ['POST', 'documents/search']]) {
      const path = `/v1/${name}`
      const [theirs, seen, ours, alsoOurs] = await Promise.all(
        [victim.key, victim.session, stranger.key, stranger.session].map(async (who) =>
          JSON.stringify(
            (await send(who, method, path, method === 'POST' ? '{}' : undefined)).body,
          ),
        ),
      )
      expect(secrets.some((secret) => theirs?.includes(secret))).toBe(true)
      // No role has webhooks, and a run belongs to whoever began it.
      expect(secrets.some((secret) => seen?.includes(secret))).toBe(
        name !== 'webhooks' && name !== 'runs',
      )
      const found = secrets.filter((one) => ours?.includes(one) || alsoOurs?.includes(one))
      expect([path, found]).toEqual([path, []])
    }
  })

  test('the documents are unchanged afterwards', async () => {
    for (const { publicId } of [victim.alone, victim.member]) {
      const { data } = (await stack.verify(publicId)).body
      expect(data).toMatchObject({ valid: true, document: { subjectName: ADA.subjectName } })
    }
    const { data } = (await send(victim.key, 'GET', '/v1/events')).body
    const types = data.events.map(({ type }: { type: string }) => type)
    const isAsIssued = (type: string) => /\.(issued|final)$/.test(type)
    expect(types.filter((type: string) => !isAsIssued(type))).toEqual([])
  })

  test('the same requests work for resources of the own tenant', async () => {
    for (const operation of operations) {
      const { key } = victim
      for (const request of requestsOf(operation, victim, stranger)) {
        const { code, isDone } = await answerTo(key, request)
        const isOtherBatch = request.body?.includes(stranger.member.batchRoot)
        const isWrongBatch = request.body?.includes(
          `"documentHash":"${victim.alone.documentHash}","batchRoot"`,
        )
        // Of what was changed before, the code says so.
        if (isOtherBatch || isWrongBatch) expect([request, code]).toEqual([request, 'not_found'])
        else expect([request, isDone || code !== 'not_found']).toEqual([request, true])
        if (operation.method === 'delete' && /webhooks|runs/.test(operation.path)) {
          // A run belongs to the key that began it.
          const { webhook, run, key } = await own('one')
          Object.assign(victim, { webhook, run, key })
        }
      }
    }
  })
})
