import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MODULES, modulesOf } from '#modules/all.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

const NAMES = MODULES.map(({ name }) => name)
const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }

describe.each(['none', ...NAMES, NAMES.join(',')])('MODULES=%s', (setting) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ MODULES: setting })
  })
  afterAll(() => stack.stop())

  const isOn = (name: string) => setting.split(',').includes(name)

  test('issues, verifies and revokes', async () => {
    const { status, body } = await stack.issue(ADA)
    expect([status, body.data.status]).toEqual([201, 'valid'])
    const { publicId } = body.data
    expect((await stack.verify(publicId)).body.data.status).toBe('valid')
    const revoked = await stack.request(`/v1/documents/${publicId}/revoke`, {
      method: 'POST',
      headers,
    })
    expect(revoked.body.data.status).toBe('revoked')
    expect((await stack.verify(publicId)).body.data.status).toBe('revoked')
  })

  test('serves and describes only the enabled modules', async () => {
    const { paths } = (await stack.request('/openapi.json')).body
    const described = Object.values(paths as Record<string, Record<string, object>>).flatMap(
      (methods) =>
        Object.values(methods).map((one) => (one as { operationId: string }).operationId),
    )
    for (const { name, resources } of MODULES)
      for (const { operationId, method, path } of resources.flatMap((one) => one.operations)) {
        expect([operationId, described.includes(operationId)]).toEqual([operationId, isOn(name)])
        if (isOn(name)) continue
        const address = path.replaceAll(/:\w+/g, 'x')
        const { status } = await fetch(`${stack.url}${address}`, { method, headers })
        // A path of the core may have another method, or a parameter in this place.
        expect([operationId, [404, 405, 400].includes(status)]).toEqual([operationId, true])
      }
  })
})

test('gives no key the scope of a disabled module', async () => {
  const stack = await startStack({ MODULES: 'none' })
  const body = JSON.stringify({ scopes: ['verify', 'webhooks'] })
  const { status, body: answer } = await stack.request('/v1/keys', {
    method: 'POST',
    headers,
    body,
  })
  expect([status, answer.error.details[0].field]).toEqual([422, 'scopes'])
  expect(answer.error.details[0].message).toContain('webhooks')
  await stack.stop()
})

test('refuses an unknown module name, and lists the known ones', () => {
  expect(() => modulesOf({ modules: ['kinds', 'desks'] })).toThrow(NAMES.join(', '))
})

test('the schema has each table of a module, which belongs to one module', () => {
  const schema = readFileSync(
    join(import.meta.dirname, '../../packages/anchoring/store/schema.sql'),
    'utf8',
  )
  const named = MODULES.flatMap((one) => one.tables)
  expect(named.filter((name) => !schema.includes(`CREATE TABLE ${name} (`))).toEqual([])
  expect(new Set(named).size).toBe(named.length)
})
