import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import type { Page } from 'playwright-core'
import { deskUrlOf, returnUrlOf } from '#modules/desk/people/desk.ts'
import { freePort } from '../../../support/http.ts'

/** A real OpenID provider that accepts every name and password. */
export type IdentityProvider = {
  /** Settings of the gateway on this port. */
  env: Record<string, string>
  /** The claims of each account, by the name that is typed. */
  accounts: Map<string, { name: string; groups: string[] }>
  close(): Promise<void>
}

/** @param port That of the gateway. */
export async function startIdentityProvider(port: number): Promise<IdentityProvider> {
  const own = await freePort()
  const issuer = `http://localhost:${own}`
  const accounts: IdentityProvider['accounts'] = new Map()
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const client = { client_id: 'desk', client_secret: 'a-secret-of-the-tests' }
  const gateway = `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['a-key-of-the-tests'] },
    clients: [{ ...client, redirect_uris: [returnUrlOf(gateway)] }],
    claims: { openid: ['sub'], profile: ['name'], groups: ['groups'] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...accounts.get(id) }),
    }),
  })
  const server = createServer(provider.callback())
  server.listen(own, '127.0.0.1')
  await once(server, 'listening')
  return {
    accounts,
    env: {
      PORT: String(port),
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: client.client_id,
      OIDC_CLIENT_SECRET: client.client_secret,
      OIDC_SCOPE: 'openid profile groups',
      OIDC_ROLES: 'staff=clerk,heads=registrar,it=administrator',
      OIDC_TENANT: 'office',
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Opens the desk and signs in at the provider, up to the return.
 *
 * @param last Called before the last step there.
 */
export async function passProvider(
  page: Page,
  port: number,
  account: string,
  last: () => Promise<void> = async () => {},
): Promise<void> {
  await page.goto(deskUrlOf(`http://127.0.0.1:${port}`))
  await page.getByRole('button', { name: /^Sign in with .localhost/ }).click()
  await page.locator('input[name=login]').fill(account)
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  const consent = page.locator('form:has(input[value=consent]) button[type=submit]')
  await consent.waitFor()
  await last()
  await consent.click()
  await page.waitForURL(/\/desk/)
}
