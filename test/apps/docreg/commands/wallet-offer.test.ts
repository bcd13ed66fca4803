import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCredentialKey } from '../../../support/credential-key.ts'
import { docreg } from '../../../support/docreg.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../../support/stack.ts'
import { createWallet } from '../../../support/wallet.ts'

const key = makeCredentialKey()
let stack: Stack
let dir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-'))
  stack = await startStack({ CREDENTIAL_KEY_FILE: key.path, ADDRESS_RATE_LIMIT: 'off' })
})
afterAll(async () => {
  await stack?.stop()
  key.remove()
  rmSync(dir, { recursive: true, force: true })
})

const offer = async (...args: string[]) => {
  const { documentHash } = (await stack.issue(ADA)).body.data
  return docreg(['wallet-offer', documentHash, '--gateway', stack.url, ...args], {
    env: { DOCREG_API_KEY: API_KEY },
  })
}

test('prints a link with which a wallet fetches the document', async () => {
  const file = join(dir, 'offer.svg')
  const { code, stdout } = await offer('--tx-code', '--minutes', '60', '--qr', file)
  expect(code).toBe(0)
  const [link = '', typed = '', until] = stdout.split('\n')
  expect(until).toMatch(/^until 20/)
  expect(readFileSync(file, 'utf8')).toContain('<svg')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const txCode = /^code to type: (\d{6})$/.exec(typed)?.[1] ?? ''
  const { credential } = await createWallet().fetch(link, { txCode })
  expect(credential).toMatch(/^ey/)
})

test('prints JSON, and refuses bad numbers', async () => {
  const { stdout } = await offer('--json', '--uses', '3', '--iss', 'https')
  expect(JSON.parse(stdout)).toMatchObject({
    link: expect.stringContaining('openid-credential'),
    offer: { credential_configuration_ids: ['plain'] },
  })
  expect((await offer('--iss', 'http')).code).toBe(64)
  expect((await offer('--uses', '0')).code).toBe(64)
  const { code, stderr } = await offer('--uses', '2000')
  expect([code, stderr]).toEqual([2, expect.stringContaining('uses')])
})
