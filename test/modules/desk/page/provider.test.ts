import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeInBrowser, launchChromium } from '../../../support/chromium.ts'
import { describeDatabases } from '../../../support/databases.ts'
import { freePort } from '../../../support/http.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../../../support/stack.ts'
import { openWindow, type Window } from './desk-window.ts'
import { type IdentityProvider, passProvider, startIdentityProvider } from './identity-provider.ts'

describeInBrowser('signing in with an identity provider', () => {
  describeDatabases('on', (settings) => {
    let port: number
    let provider: IdentityProvider
    let stack: Stack
    let browser: Browser
    let window: Window
    let page: Page
    beforeAll(async () => {
      port = await freePort()
      provider = await startIdentityProvider(port)
      ;[stack, browser] = await Promise.all([
        startStack({ ...provider.env, ...(await settings()) }),
        launchChromium(),
      ])
    })
    afterAll(async () => {
      await browser?.close()
      await stack?.stop()
      await provider?.close()
    })
    beforeEach(async () => {
      window = await openWindow(browser)
      page = window.page
    })
    afterEach(async () => {
      await window.context.close()
      expect(window.mishaps).toEqual([])
    })

    const asAdmin = (method: string, path: string, body?: object): Promise<Answer> =>
      stack.request(path, {
        method,
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    const personNamed = async (name: string) =>
      (await asAdmin('GET', '/v1/people')).body.data.people.find(
        (one: { name: string }) => one.name === name,
      )
    const account = (id: string, name: string, ...groups: string[]) =>
      provider.accounts.set(id, { name, groups })
    const signedIn = (name: string) =>
      page.getByRole('heading', { level: 1, name: new RegExp(`^Hello, .*${name}`) }).waitFor()

    test('a group gives a role, and the person issues', async () => {
      account('maria', 'Maria Muster', 'choir', 'staff')
      await passProvider(page, port, 'maria')
      await signedIn('Maria Muster')
      expect(page.url()).toBe(`http://localhost:${port}/desk`)
      expect(await personNamed('Maria Muster')).toMatchObject({
        role: 'clerk',
        tenant: 'office',
        isFromProvider: true,
        passkeys: 0,
      })
      const cookies = await window.context.cookies(page.url())
      // That of the attempt is gone.
      expect(cookies.filter(({ name }) => name.startsWith('docreg'))).toMatchObject([
        { name: `docreg_session_${port}`, httpOnly: true, sameSite: 'Strict' },
      ])
      await page.getByRole('link', { name: 'Issue a document' }).first().click()
      await page.getByLabel('Name', { exact: true }).fill('Ada')
      await page.getByLabel('Identifier').fill(ADA.subjectId)
      await page.getByLabel('Kind of document').fill('diploma')
      await page.getByRole('button', { name: 'Check and issue' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Issue', exact: true }).click()
      await page.getByText('The document is issued').waitFor()
    })

    test('reports that no group has a role', async () => {
      account('otto', 'Otto', 'choir')
      await passProvider(page, port, 'otto')
      await page.getByText('none of your groups may use this desk').waitFor()
      expect(page.url()).toBe(`http://localhost:${port}/desk`)
      expect(await personNamed('Otto')).toBeUndefined()
    })

    test('another group gives another role at the next sign-in, and ends the sessions', async () => {
      account('ines', 'Ines', 'staff')
      await passProvider(page, port, 'ines')
      await signedIn('Ines')
      account('ines', 'Ines Neu', 'staff', 'it')
      const other = await openWindow(browser)
      await passProvider(other.page, port, 'ines')
      await other.page.getByRole('heading', { name: /Ines Neu/ }).waitFor()
      expect(await personNamed('Ines Neu')).toMatchObject({ role: 'administrator' })
      await other.context.close()
      await page.reload()
      await page.getByRole('heading', { name: 'Sign in to the desk' }).waitFor()
    })

    test('a sign-in without the group ends all sessions of the person', async () => {
      account('karl', 'Karl', 'heads')
      await passProvider(page, port, 'karl')
      await signedIn('Karl')
      account('karl', 'Karl')
      const other = await openWindow(browser)
      await passProvider(other.page, port, 'karl')
      await other.page.getByText('none of your groups may use this desk').waitFor()
      await other.context.close()
      expect((await personNamed('Karl')).sessions).toEqual([])
    })

    test('such a person cannot get another sign-in or another role', async () => {
      account('lena', 'Lena', 'staff')
      await passProvider(page, port, 'lena')
      await signedIn('Lena')
      const { id } = await personNamed('Lena')
      for (const { status, body } of [
        await asAdmin('POST', `/v1/people/${id}/invitations`),
        await asAdmin('PATCH', `/v1/people/${id}`, { role: 'registrar' }),
      ])
        expect([status, body.error.code]).toEqual([409, 'provider_decides'])
      const { status } = await asAdmin('PATCH', `/v1/people/${id}`, { categories: ['diploma'] })
      expect(status).toBe(200)
    })

    test('a removed person returns with the same limits, and not while blocked', async () => {
      account('nina', 'Nina', 'staff')
      await passProvider(page, port, 'nina')
      await signedIn('Nina')
      const limits = { categories: ['diploma'], tenant: 'annex' }
      const path = async () => `/v1/people/${(await personNamed('Nina')).id}`
      await asAdmin('PATCH', await path(), limits)
      expect((await asAdmin('DELETE', await path())).status).toBe(200)
      const other = await openWindow(browser)
      await passProvider(other.page, port, 'nina')
      await other.page.getByRole('heading', { name: /^Hello, .*Nina/ }).waitFor()
      await other.context.close()
      expect(await personNamed('Nina')).toMatchObject(limits)
      await asAdmin('PATCH', await path(), { isBlocked: true })
      expect((await personNamed('Nina')).sessions).toEqual([])
      const again = await openWindow(browser)
      await passProvider(again.page, port, 'nina')
      await again.page.getByText('An administrator has blocked you').waitFor()
      await again.context.close()
      // A removal would lift the block.
      const { status, body } = await asAdmin('DELETE', await path())
      expect([status, body.error.code]).toEqual([409, 'provider_decides'])
    })

    test('an answer that this browser did not request signs nobody in', async () => {
      account('mallory', 'Mallory', 'it')
      let answer = ''
      page.on('request', (request) => {
        if (request.url().includes('/provider/return')) answer = request.url()
      })
      await passProvider(page, port, 'mallory', () =>
        window.context.clearCookies({ name: /^docreg_sign_in/ }),
      )
      await page.getByText('did not confirm who you are').waitFor()
      const victim = await openWindow(browser)
      await victim.page.goto(answer)
      await victim.page.getByText('did not confirm who you are').waitFor()
      await victim.page.goto(`http://localhost:${port}/desk`)
      await victim.page.getByRole('button', { name: /^Sign in with .localhost/ }).waitFor()
      await victim.page.evaluate(() => fetch('/v1/session/provider', { method: 'POST' }))
      await victim.page.goto(answer)
      await victim.page.getByText('did not confirm who you are').waitFor()
      await victim.context.close()
      expect(await personNamed('Mallory')).toBeUndefined()
    })
  })
})

describeInBrowser('an identity provider that is down', () => {
  test('is named, and links still sign in', async () => {
    const port = await freePort()
    const provider = await startIdentityProvider(port)
    await provider.close()
    const stack = await startStack(provider.env)
    const browser = await launchChromium()
    try {
      const { page } = await openWindow(browser)
      await page.goto(`http://localhost:${port}/desk`)
      await page.getByRole('button', { name: /^Sign in with .localhost/ }).click()
      await page.getByText('is out of reach at the moment').waitFor()
      await page.getByLabel('Sign-in link').waitFor()
    } finally {
      await browser.close()
      await stack.stop()
    }
  })
})
