import { afterAll, beforeAll, expect, test } from 'vitest'
import { docreg } from '../../support/docreg.ts'
import { API_KEY, type Stack, startStack } from '../../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

const demo = (...more: string[]) =>
  docreg(
    [
      ...['demo', '--gateway', stack.url, '--rpc', stack.chainUrl, '--ipfs', stack.url],
      ...['--registry', stack.registry, ...more],
    ],
    { env: { API_KEY } },
  )

test('default: walks through valid, shared and revoked, with a QR code', async () => {
  const { code, stdout } = await demo()
  expect(code).toBe(0)
  expect(stdout.match(/^ {2}(VALID|NOT VALID: revoked)/gm)).toEqual([
    ...['  VALID', '  VALID', '  NOT VALID: revoked', '  NOT VALID: revoked'],
  ])
  expect(stdout).toContain('█▀▀▀▀▀█')
  const [, shared = ''] = stdout.split('3. Share')
  expect(shared.split('4. Revoke')[0]).not.toContain('18151210')
})

test('error: refuses a live network', async () => {
  const { code, stderr } = await demo('--registry', `eip155:1:0x${'1'.repeat(40)}`)
  expect(code).toBe(64)
  expect(stderr).toContain('test network')
})
