import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { compactVerify, decodeProtectedHeader, importJWK } from 'jose'
import { expect, test } from 'vitest'
import { readCredentialKeys } from '#parts/credential-keys.ts'
import { CERTIFIED_KEY } from './certified-key.ts'

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const pem = (key: KeyObject, type: 'pkcs8' | 'sec1' = 'pkcs8') =>
  key.export({ type, format: 'pem' }).toString()
const publicPem = (key: KeyObject) =>
  createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()

test('signs with the first key, and publishes all', async () => {
  const [first, second, third] = [newKey(), newKey(), newKey()]
  const keys = await readCredentialKeys(pem(first, 'sec1') + pem(second) + publicPem(third))
  expect(keys.published).toHaveLength(3)
  const [published] = keys.published
  const jws = await keys.sign({ typ: 'dc+sd-jwt', kid: published.kid }, { a: 1 })
  expect(decodeProtectedHeader(jws)).toEqual({ alg: 'ES256', typ: 'dc+sd-jwt', kid: published.kid })
  const { payload } = await compactVerify(jws, await importJWK(published))
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({ a: 1 })
  expect(JSON.stringify(keys.published)).not.toContain('"d"')
  expect(keys.x5c).toBeUndefined()
})

test('returns the certificates of the first key', async () => {
  const { x5c = [] } = await readCredentialKeys(CERTIFIED_KEY.key + CERTIFIED_KEY.certificate)
  expect(x5c).toHaveLength(1)
})

test.each([
  ['nothing', '', 'must begin with a private key'],
  ['a public key first', publicPem(newKey()), 'must begin with a private key'],
  ['garbage', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n', 'cannot be read'],
  [
    'another curve',
    pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey),
    'not P-256',
  ],
  ['an RSA key', pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey), 'not P-256'],
  ['a certificate of another key', pem(newKey()) + CERTIFIED_KEY.certificate, 'not of the first'],
])('refuses %s', async (_, text, message) => {
  await expect(readCredentialKeys(text)).rejects.toThrow(message)
})
