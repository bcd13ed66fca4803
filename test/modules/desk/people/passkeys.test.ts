import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, launchChromium } from '#test/support/chromium.ts'
import { invite } from '#test/support/desk.ts'
import { type Stack, startStack } from '#test/support/stack.ts'

// Passkeys in a real browser, with its virtual authenticator.

describeInBrowser('passkeys', () => {
  let stack: Stack
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let session: CDPSession
  let authenticatorId: string
  beforeAll(async () => {
    stack = await startStack({ ADDRESS_RATE_LIMIT: 'off' })
    browser = await launchChromium()
    context = await browser.newContext()
    page = await context.newPage()
    // Any page of the service.
    await page.goto(`http://localhost:${new URL(stack.url).port}/healthz`)
    session = await context.newCDPSession(page)
    await session.send('WebAuthn.enable')
    authenticatorId = await addAuthenticator()
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
  })

  async function addAuthenticator(): Promise<string> {
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    } as const
    return (await session.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId
  }

  /** Calls the service from the page, with its cookie. @returns The status and the data. */
  const call = (method: string, path: string, body?: object, token = '') =>
    page.evaluate(
      async ([method, path, body, token]) => {
        const headers = { 'content-type': 'application/json', 'x-csrf-token': token }
        const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
        const response = await fetch(path, init)
        return { status: response.status, data: (await response.json()).data }
      },
      [method, path, body, token] as const,
    )

  const create = (options: PublicKeyCredentialCreationOptionsJSON) =>
    page.evaluate(async (options) => {
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
      const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
      return made.toJSON()
    }, options)

  const get = (options: PublicKeyCredentialRequestOptionsJSON) =>
    page.evaluate(async (options) => {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
      const found = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential
      return found.toJSON()
    }, options)

  async function signInByLink() {
    const { id, invitation } = await invite(stack)
    const { data } = await call('POST', '/v1/session/invitation', { invitation })
    return { id, token: data.csrfToken as string }
  }

  test('registers one after a link, and then signs in without one', async () => {
    const { id, token } = await signInByLink()
    const { data: options } = await call('POST', '/v1/passkeys/options', undefined, token)
    const made = { response: await create(options), label: 'Virtual' }
    expect((await call('POST', '/v1/passkeys', made, token)).status).toBe(201)
    expect((await call('DELETE', '/v1/session', undefined, token)).status).toBe(200)
    expect((await call('GET', '/v1/session')).status).toBe(401)

    const { data: challenge } = await call('POST', '/v1/session/passkey/options')
    const body = { response: await get(challenge) }
    const { status, data } = await call('POST', '/v1/session/passkey', body)
    expect([status, data.person.id, data.passkeys]).toEqual([201, id, 1])
    expect((await call('GET', '/v1/session')).data.person.id).toBe(id)
    expect((await call('POST', '/v1/session/passkey', body)).status).toBe(401)
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({
      name: expect.stringMatching(/^docreg_session_\d+$/),
      httpOnly: true,
      sameSite: 'Strict',
    })
    expect(await page.evaluate(() => document.cookie)).toBe('')
  })

  test('refuses two on one authenticator, and one without user verification', async () => {
    const { token } = await signInByLink()
    const ask = async () => (await call('POST', '/v1/passkeys/options', undefined, token)).data
    const made = { response: await create(await ask()), label: 'Virtual' }
    await call('POST', '/v1/passkeys', made, token)
    await expect(create(await ask())).rejects.toThrow('InvalidStateError')
    await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
    authenticatorId = await addAuthenticator()
    await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await expect(create(await ask())).rejects.toThrow('NotAllowedError')
  })

  test('the browser sends no cookie with requests from other sites', async () => {
    await signInByLink()
    const elsewhere = await context.newPage()
    // An address is another site than a name.
    await elsewhere.goto(`${stack.url}/healthz`)
    const target = `${new URL(page.url()).origin}/v1/session`
    const requestOf = async (from: Page) => {
      const sent = from.waitForRequest(target)
      await from.evaluate((url) => fetch(url, { mode: 'no-cors', credentials: 'include' }), target)
      const request = await sent
      const status = (await request.response())?.status()
      return { status, cookie: (await request.allHeaders()).cookie }
    }
    const cookie = expect.stringMatching(/^docreg_session_\d+=/)
    expect(await requestOf(page)).toEqual({ status: 200, cookie })
    expect(await requestOf(elsewhere)).toEqual({ status: 401, cookie: undefined })
  })
})
