import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCredentialKeys } from '#parts/signer.ts'
import { required } from '#test/faults/support/machine.ts'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { createSdJwtReader } from '#test/support/sd-jwt-reader.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'
import { createWallet } from '#test/support/wallet.ts'
import { pythonWith } from '#test/tools/examples/python.ts'
import { CERTIFIED_KEY } from './certified-key.ts'

// A verifier that was certified for OpenID4VP 1.0 and HAIP as 1.0.0rc7, and a wallet of another code
// base. Its own server refuses any status but VALID.

const { names } = CERTIFIED_KEY
const folder = join(import.meta.dirname, 'polaris')
const python = required(await pythonWith(join(folder, 'requirements.txt')))
const [audience, nonce] = ['https://verifier.example', 'a-nonce']

describe.skipIf(python === undefined)('Polaris', () => {
  const key = makeCredentialKey()
  writeFileSync(key.path, CERTIFIED_KEY.key + CERTIFIED_KEY.certificate)
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ CREDENTIAL_KEY_FILE: key.path, ADDRESS_RATE_LIMIT: 'off' })
  })
  afterAll(async () => {
    await stack?.stop()
    key.remove()
  })

  const send = async (path: string, body: object = {}) => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    return (await stack.request(path, { method: 'POST', headers, body: JSON.stringify(body) })).body
  }
  /** Issues a document into a wallet, which shows its name. */
  async function shown(iss: string) {
    const { publicId } = (await stack.issue(ADA)).body.data
    const { link } = (await send(`/v1/documents/${publicId}/offer`, { iss })).data
    const wallet = createWallet()
    const { credential } = await wallet.fetch(link)
    const { published } = await openCredentialKeys(key.path)
    // Polaris reads no DID document, so its keys have the ids of that.
    const keys = published.map((one) => ({ ...one, kid: `did:web:${names.issuer}#${one.kid}` }))
    const reader = createSdJwtReader({ issuerKey: published[0], holder: wallet.holder })
    const payload = { iat: Math.floor(Date.now() / 1000), aud: audience, nonce }
    const presentation = await reader.present(
      credential,
      { subjectName: true },
      { kb: { payload } },
    )
    const { vct, status } = decodeJwt(credential.split('~')[0] ?? '') as {
      vct: string
      status: { status_list: { uri: string } }
    }
    /** @returns The verdict, with a list that is asked for anew. */
    const judge = async (differing: object = {}) => {
      const list = await (await fetch(status.status_list.uri)).text()
      const authorities = iss === 'https' ? [CERTIFIED_KEY.authority] : []
      const asked = { presentation, audience, nonce, vct, keys, authorities, list, ...differing }
      const child = spawn(python ?? '', [join(folder, 'verify.py')], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      child.stdin.end(JSON.stringify(asked))
      return JSON.parse(await text(child.stdout))
    }
    return { publicId, judge }
  }

  test.each(['https', 'did:web'])(
    'accepts %s until a revocation',
    async (iss) => {
      const { publicId, judge } = await shown(iss)
      expect(await judge()).toEqual(['authentic', 'VALID'])
      expect(await judge({ nonce: 'another' })).toEqual(['nonce', null])
      await send(`/v1/documents/${publicId}/revoke`)
      await expect
        .poll(() => judge(), { timeout: 20_000, interval: 1_000 })
        .toEqual(['authentic', 'INVALID'])
    },
    60_000,
  )
})
