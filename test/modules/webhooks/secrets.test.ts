import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import { createWebhookSecrets, rotate } from '#modules/webhooks/secrets.ts'

const secret = (): Hex => toHex(randomBytes(32))

test('each webhook has its own stable secret of 32 bytes', () => {
  const secrets = createWebhookSecrets([secret()])
  const [one, other] = [secrets.create(), secrets.create()]
  expect(secrets.reveal(one)).toBe(secrets.reveal(one))
  expect(secrets.reveal(one)).not.toBe(secrets.reveal(other))
  expect(Buffer.from(secrets.reveal(one).replace('whsec_', ''), 'base64')).toHaveLength(32)
})

test('a webhook keeps its secret when the issuer secret is rotated', () => {
  const [older, newer] = [secret(), secret()]
  const source = createWebhookSecrets([older]).create()
  const after = createWebhookSecrets([newer, older])
  expect(after.reveal(source)).toBe(createWebhookSecrets([older]).reveal(source))
  const moved = { ...source, fingerprint: after.create().fingerprint }
  expect(after.reveal(moved)).not.toBe(after.reveal(source))
})

test('older secrets sign until they end; at most three', () => {
  const secrets = createWebhookSecrets([secret()])
  const first = secrets.create()
  let sources = rotate([first], secrets.create(), 1_000, 500)
  expect(secrets.current({ secrets: sources }, 1_499)).toHaveLength(2)
  expect(secrets.current({ secrets: sources }, 1_500)).toHaveLength(1)
  sources = rotate(sources, secrets.create(), 1_100, 10_000)
  expect(sources.map(({ until }) => until)).toEqual([null, 11_100, 1_500])
  sources = rotate(sources, secrets.create(), 1_200, 10_000)
  expect(sources.map(({ until }) => until)).toEqual([null, 11_200, 11_100])
  expect(rotate(sources, secrets.create(), 1_300, 0)).toHaveLength(1)
})
