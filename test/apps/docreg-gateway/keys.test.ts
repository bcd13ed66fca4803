import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { docregGateway } from '../../support/docreg.ts'
import { ADA, type Stack, startStack } from '../../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

/** Runs the command in the folder of a service that runs. */
async function keys(...args: string[]): Promise<{ out: string; id: string }> {
  const { code, stdout, stderr } = await run(...args)
  if (code !== 0) throw new Error(stderr)
  return { out: stdout.trim(), id: /id (\w+);/.exec(stderr)?.[1] ?? '' }
}

const run = (...args: string[]) =>
  docregGateway(['keys', ...args], { env: { DATA_DIR: stack.dataDir } })

const issue = (key: string, fields: object = ADA) =>
  stack.issue(fields, { authorization: `Bearer ${key}` })
const statusWith = async (key: string) => (await issue(key, {})).status
// A body with every field missing issues nothing: 422 with a valid key.
const VALID = 422

const lineOf = async (id: string) => {
  const { out } = await keys('list', '--json')
  return JSON.parse(out).find((key: { id: string }) => key.id === id)
}

test('a running service accepts a new key at once, and reports its use', async () => {
  const { out: key, id } = await keys('create', '--scope', 'documents:issue', '--label', 'Desk 1')
  expect(await statusWith(key)).toBe(VALID)
  expect(await lineOf(id)).toMatchObject({
    id,
    tenant: 'default',
    scopes: ['documents:issue'],
    label: 'Desk 1',
  })
  expect((await keys('list')).out).not.toContain(key)
  await expect.poll(async () => (await lineOf(id)).lastUsedAt).toMatch(/^20/)
})

test('a running service refuses a revoked key within a second', async () => {
  const { out: key, id } = await keys('create', '--scope', 'documents:issue')
  expect(await statusWith(key)).toBe(VALID)
  await keys('revoke', id)
  await expect.poll(() => statusWith(key)).toBe(401)
  expect(await lineOf(id)).toBeUndefined()
})

test('a rotated key ends after the overlap', async () => {
  const { out: key, id } = await keys('create', '--scope', 'documents:issue', '--tenant', 'desk')
  const { out: next, id: nextId } = await keys('rotate', id, '--overlap', '3600')
  expect(await statusWith(key)).toBe(VALID)
  expect(await statusWith(next)).toBe(VALID)
  expect(await lineOf(id)).toMatchObject({ replacedBy: nextId })
  expect(await lineOf(nextId)).toMatchObject({ tenant: 'desk', scopes: ['documents:issue'] })
  const { out: last } = await keys('rotate', nextId, '--overlap', '0')
  await expect.poll(() => statusWith(next)).toBe(401)
  expect(await statusWith(last)).toBe(VALID)
})

test('a key issues only in its categories', async () => {
  const { out: key, id } = await keys(
    'create',
    '--scope',
    'documents:issue',
    '--category',
    'diploma',
    '--category',
    'licence',
  )
  const { status, body } = await issue(key)
  expect(status).toBe(403)
  expect(body.error.code).toBe('category_not_allowed')
  expect((await issue(key, { ...ADA, category: 'diploma' })).status).toBe(201)
  await keys('change', id, '--no-category')
  await expect.poll(async () => (await issue(key)).status).toBe(201)
})

test('change replaces only the named settings', async () => {
  const { id } = await keys(
    'create',
    '--scope',
    'verify',
    '--label',
    'a',
    '--expires',
    '2999-01-01',
  )
  await keys('change', id, '--label', 'b', '--rate-limit', '7', '--no-expires')
  const { label, rateLimit, scopes, expiresAt } = await lineOf(id)
  expect({ label, rateLimit, scopes, expiresAt }).toEqual({
    label: 'b',
    rateLimit: 7,
    scopes: ['verify'],
    expiresAt: undefined,
  })
})

test('with --json, each command prints one object', async () => {
  const json = async (...args: string[]) => JSON.parse((await keys(...args, '--json')).out)
  const { id, key, ...made } = await json('create', '--scope', 'verify', '--label', 'a')
  expect(await statusWith(key)).not.toBe(401)
  expect(made).toMatchObject({ scopes: ['verify'], label: 'a' })
  expect(await json('change', id, '--label', 'b')).toMatchObject({ id, label: 'b' })
  const next = await json('rotate', id)
  expect(next).toMatchObject({ label: 'b', key: expect.stringMatching(/^drk_/) })
  expect(await json('revoke', next.id)).toEqual({ id: next.id, revoked: true })
})

test('refuses the scope of a disabled module', async () => {
  const env = { DATA_DIR: stack.dataDir, MODULES: 'desk' }
  const { code, stderr } = await docregGateway(['keys', 'create', '--scope', 'webhooks'], { env })
  expect([code, stderr]).toEqual([64, expect.stringContaining('its module is off')])
  const { id } = await keys('create', '--scope', 'verify')
  const changed = await docregGateway(['keys', 'change', id, '--scope', 'webhooks'], { env })
  expect([changed.code, changed.stderr]).toEqual([64, expect.stringContaining('webhooks')])
})

describe('refusals', () => {
  test.each<[string, string[], RegExp]>([
    ['no command', [], /a command is required/],
    ['an unknown command', ['give'], /unknown command 'give'/],
    ['no scope', ['create'], /--scope is required/],
    ['an unknown scope', ['create', '--scope', 'all'], /--scope must be one of documents:issue/],
    ['no id', ['revoke'], /missing required argument 'id'/],
    ['an unknown id', ['revoke', 'nobody'], /no such API key/],
    ['a past expiry', ['create', '--scope', 'verify', '--expires', '2020-01-01'], /--expires must/],
    ['a bad category', ['create', '--scope', 'verify', '--category', 'A B'], /--category must/],
    ['a bad overlap', ['rotate', 'x', '--overlap', 'long'], /--overlap must be a number/],
    ['another setting', ['rotate', 'x', '--label', 'a'], /unknown option '--label'/],
    ['several', ['create', '--rate-limit', '0'], /--scope is required\n--rate-limit must/],
  ])('names the mistake: %s', async (_, args, message) => {
    expect((await run(...args)).stderr).toMatch(message)
  })

  test('reports a missing folder', async () => {
    const env = { DATA_DIR: join(stack.dataDir, 'missing') }
    const { code, stderr } = await docregGateway(['keys', 'list'], { env })
    expect(code).not.toBe(0)
    expect(stderr).toContain('missing')
  })
})
