import { afterAll, beforeAll, expect, test } from 'vitest'
import { deskOf, useInvitation } from '../../support/desk.ts'
import { docregGateway } from '../../support/docreg.ts'
import { type Stack, startStack } from '../../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

/** Runs the command in the folder of a service that runs. */
const desk = (args: string[], env: Record<string, string> = {}) =>
  docregGateway(['desk', ...args], {
    env: { DATA_DIR: stack.dataDir, PORT: new URL(stack.url).port, ...env },
  })

async function refusal(args: string[], env?: Record<string, string>): Promise<string> {
  const { code, stderr } = await desk(args, env)
  return `${code} ${stderr}`
}

test('a link signs in once, at a running service', async () => {
  const { stdout, stderr } = await desk(['invite', '--name', 'Front desk', '--role', 'clerk'])
  const [link = '', secret] = /^http:\/\/localhost:\d+\/desk#invitation=(\S+)\n$/.exec(stdout) ?? []
  expect(new URL(link).port).toBe(new URL(stack.url).port)
  expect(stderr).toMatch(/^[0-9a-f]{12}, a clerk; the link works once, until 20/)
  const answer = await useInvitation(stack, secret)
  expect(answer.body.data.person).toMatchObject({ name: 'Front desk', role: 'clerk' })
  expect((await deskOf(stack, answer).send('GET', '/v1/documents')).status).toBe(200)
  expect((await useInvitation(stack, secret)).status).toBe(401)
})

test('accepts a tenant and categories, and uses the address of the settings', async () => {
  const { stdout } = await desk(
    [
      'invite',
      '--name',
      'Ada',
      '--role',
      'registrar',
      '--tenant',
      'office',
      '--json',
      '--category',
      'diploma',
      '--category',
      'licence',
    ],
    { BASE_URL: 'https://documents.example' },
  )
  const { person, invitation, expiresAt } = JSON.parse(stdout)
  expect(person).toMatchObject({ tenant: 'office', categories: ['diploma', 'licence'] })
  expect(invitation).toMatch(/^https:\/\/documents\.example\/desk#invitation=dri_/)
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 6 * 86_400_000)
})

test('refuses invitations while the desk is off', async () => {
  const valid = ['invite', '--name', 'x', '--role', 'clerk']
  expect(await refusal(valid, { MODULES: 'kinds' })).toMatch(/^2 .*MODULES/)
})

test('names every bad option', async () => {
  expect(await refusal(['invite'])).toMatch(/^64 --name is required\n--role is required\n/)
  expect(await refusal(['invite', '--name', 'x', '--role', 'owner'])).toMatch(/^64 .*clerk/s)
  const bad = ['invite', '--name', '', '--role', 'clerk', '--category', 'A', '--tenant', 'a b']
  expect(await refusal(bad)).toMatch(/^64 --name .*\n--tenant .*\n--category /)
})

test('rejects an administrator limited to categories, and bad settings', async () => {
  const limited = ['invite', '--name', 'x', '--role', 'administrator', '--category', 'diploma']
  expect(await refusal(limited)).toMatch(/^2 .*scope admin/s)
  const valid = ['invite', '--name', 'x', '--role', 'clerk']
  expect(await refusal(valid, { DATA_DIR: '/nowhere' })).toMatch(/^2 .*DATA_DIR/s)
  expect(await refusal(valid, { BASE_URL: 'documents.example' })).toMatch(/^2 .*BASE_URL must be/s)
})
