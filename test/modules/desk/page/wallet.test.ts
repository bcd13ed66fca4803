import { decodeJwt } from 'jose'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findingsOf, isTooWide } from '../../../support/accessibility.ts'
import { describeInBrowser, launchChromium } from '../../../support/chromium.ts'
import { makeCredentialKey } from '../../../support/credential-key.ts'
import { takePicture } from '../../../support/pictures.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../../support/stack.ts'
import { createWallet } from '../../../support/wallet.ts'
import { linkFor, openWindow, signIn } from './desk-window.ts'

describeInBrowser('offers to wallets, at the desk', () => {
  const key = makeCredentialKey()
  let stack: Stack
  let browser: Browser
  beforeAll(async () => {
    const env = { CREDENTIAL_KEY_FILE: key.path, ADDRESS_RATE_LIMIT: 'off' }
    ;[stack, browser] = await Promise.all([startStack(env), launchChromium()])
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
    key.remove()
  })

  const open = async () => {
    const { publicId, documentHash } = (await stack.issue(ADA)).body.data
    const { page } = await openWindow(browser)
    await signIn(page, await linkFor(stack, 'clerk'))
    await page.goto(`${new URL(page.url()).origin}/desk#/documents/${documentHash}`)
    await page.locator('#offer-here').waitFor()
    const link = () => page.getByText('Open a wallet').getAttribute('href')
    return { page, publicId, link }
  }

  test('a holder who is present scans the code', async () => {
    const { page, link } = await open()
    await page.locator('#offer-here').click()
    await page.getByRole('img', { name: 'QR code of the offer' }).waitFor()
    const first = await link()
    expect((await createWallet().fetch(first ?? '')).credential).toMatch(/^ey/)
    await page.getByRole('button', { name: 'Offer the other form' }).click()
    await expect.poll(link).not.toBe(first)
    const { credential } = await createWallet().fetch((await link()) ?? '')
    expect(decodeJwt(credential.split('~')[0] ?? '').iss).toBe('https://testville.example')
  })

  test('a link that is sent requires the code shown', async () => {
    const { page, link } = await open()
    await page.locator('#offer-away').click()
    const shown = page.getByText('Tell the holder this code').locator('strong')
    const txCode = (await shown.textContent()) ?? ''
    expect(txCode).toMatch(/^\d{6}$/)
    await takePicture(page, 'desk-wallet')
    expect(await findingsOf(page)).toEqual([])
    expect(await isTooWide(page)).toBe(false)
    const { credential } = await createWallet().fetch((await link()) ?? '', { txCode })
    expect(credential).toMatch(/^ey/)
  })

  test('reports that a document has become invalid', async () => {
    const { page, publicId } = await open()
    await stack.request(`/v1/documents/${publicId}/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    await page.locator('#offer-here').click()
    await page.getByText('The document is not valid now.').waitFor()
  })
})
