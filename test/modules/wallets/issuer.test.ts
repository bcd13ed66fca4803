import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openCredentialKeys } from '#parts/signer.ts'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { startStack } from '#test/support/stack.ts'

test('serves the keys of an issuer whose domain is another host', async () => {
  const key = makeCredentialKey()
  onTestFinished(key.remove)
  const stack = await startStack({ CREDENTIAL_KEY_FILE: key.path })
  onTestFinished(stack.stop)
  const { body } = await stack.request('/.well-known/jwt-vc-issuer')
  const { published } = await openCredentialKeys(key.path)
  expect(body).toEqual({ issuer: 'https://testville.example', jwks: { keys: published } })
})

test('names the setting of a file without a key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'key.pem')
  await expect(openCredentialKeys(path)).rejects.toThrow('CREDENTIAL_KEY_FILE cannot be read')
  writeFileSync(path, 'secret')
  const refused = await openCredentialKeys(path).catch((error) => error)
  expect(refused.message).toContain('CREDENTIAL_KEY_FILE must begin with a private key')
  expect(refused.message).not.toContain('secret')
})
