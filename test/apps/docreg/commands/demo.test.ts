import { afterAll, beforeAll, expect, test } from 'vitest'
import { docreg } from '../../../support/docreg.ts'
import { API_KEY, type Stack, startStack } from '../../../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

const demo = (...more: string[]) =>
  docreg(
    [
      'demo',
      '--gateway',
      stack.url,
      '--rpc',
      stack.chainUrl,
      '--ipfs',
      stack.url,
      '--registry',
      stack.registry,
      ...more,
    ],
    { env: { API_KEY } },
  )

test('walks through valid, shared and revoked, with a QR code', async () => {
  const { code, stdout } = await demo()
  expect(code).toBe(0)
  expect(stdout.match(/^ {2}(VALID|NOT VALID: revoked)/gm)).toEqual([
    '  VALID',
    '  VALID',
    '  NOT VALID: revoked',
    '  NOT VALID: revoked',
  ])
  expect(stdout).toContain('█▀▀▀▀▀█')
  const [, shared = ''] = stdout.split('3. Share')
  expect(shared.split('4. Revoke')[0]).not.toContain('18151210')
})

test('uses the registry, node and payloads of the given gateway', async () => {
  const others = {
    DOCREG_REGISTRY: `eip155:31337:0x${'1'.repeat(40)}`,
    DOCREG_RPC: 'http://127.0.0.1:9',
    DOCREG_IPFS: 'http://127.0.0.1:9',
  }
  const answer = await docreg(['demo', '--gateway', stack.url], { env: { API_KEY, ...others } })
  expect([answer.stderr, answer.code]).toEqual(['', 0])
})

test('issues with the local date', async () => {
  // Where it is another day than in UTC now.
  const TZ = new Date().getUTCHours() < 12 ? 'Etc/GMT+12' : 'Etc/GMT-12'
  const day = new Date().toLocaleDateString('sv', { timeZone: TZ })
  expect(new Date().toISOString()).not.toContain(day)
  const { stdout } = await docreg(['demo', '--gateway', stack.url], { env: { API_KEY, TZ } })
  expect(stdout).toMatch(new RegExp(`^ {2}issuedAt +${day}$`, 'm'))
})

test('uses a category that has no kind', async () => {
  const faculty = { path: ['metadata', 'faculty'], mandatory: true }
  const kind = { display: [{ locale: 'en', name: 'x' }], claims: [faculty] }
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const put = { method: 'PUT', headers, body: JSON.stringify(kind) }
  expect((await stack.request('/v1/kinds/diploma', put)).status).toBe(200)
  expect((await demo()).code).toBe(0)
})

test('refuses a live network', async () => {
  const { code, stderr } = await demo('--registry', `eip155:1:0x${'1'.repeat(40)}`)
  expect(code).toBe(64)
  expect(stderr).toContain('test network')
})
