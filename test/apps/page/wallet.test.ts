import { decodeJwt } from 'jose'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatWalletLink } from '#document/verify-link.ts'
import { findingsOf, isTooWide } from '../../support/accessibility.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { makeCredentialKey } from '../../support/credential-key.ts'
import { takePicture } from '../../support/pictures.ts'
import { ADA, type Stack, startStack } from '../../support/stack.ts'
import { createWallet } from '../../support/wallet.ts'

describeInBrowser('putting a document into a wallet', () => {
  const key = makeCredentialKey()
  const [withKey, toKeysOnly] = [
    { CREDENTIAL_KEY_FILE: key.path },
    { CREDENTIAL_KEY_FILE: key.path, WALLET_OFFERS: 'keys' },
  ]
  let stack: Stack
  let browser: Browser
  beforeAll(async () => {
    ;[stack, browser] = await Promise.all([startStack(withKey), launchChromium()])
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
    key.remove()
  })

  const open = async (
    { issue }: Stack = stack,
    options: Parameters<Browser['newContext']>[0] = {},
    format: (link: string) => string = (link) => link,
  ) => {
    const { verifyUrl } = (await issue(ADA)).body.data
    const page = await (await browser.newContext({ locale: 'en', ...options })).newPage()
    await page.goto(format(verifyUrl))
    await page.locator('.verdict[data-status=valid]').waitFor()
    return { page, heading: page.locator('#wallet') }
  }

  test('the link of the page opens a wallet with the document', async () => {
    const { page, heading } = await open()
    await heading.click()
    await page.getByRole('button', { name: 'Ask for an offer' }).click()
    const link = await page.getByText('Open the wallet').getAttribute('href')
    expect(await page.getByRole('img', { name: 'QR code of the offer' }).count()).toBe(1)
    const { credential } = await createWallet().fetch(link ?? '')
    expect(credential.split('~').length).toBeGreaterThan(4)
    expect(decodeJwt(credential.split('~')[0] ?? '').iss).toBe('did:web:testville.example')
    await page.getByRole('button', { name: 'Offer the other form' }).click()
    const next = page.getByText('Open the wallet')
    await expect.poll(() => next.getAttribute('href')).not.toBe(link)
    const other = await createWallet().fetch((await next.getAttribute('href')) ?? '')
    expect(decodeJwt(other.credential.split('~')[0] ?? '').iss).toBe('https://testville.example')
  })

  test('the QR code for wallets of a certificate shows the button on top, also after a reload', async () => {
    const options = { viewport: { width: 390, height: 844 } }
    const { page } = await open(stack, options, formatWalletLink)
    const button = page.getByRole('button', { name: 'Ask for an offer' })
    await button.waitFor()
    await takePicture(page, 'wallet-first')
    expect(await page.locator('.verdict + section').getAttribute('aria-labelledby')).toBe('wallet')
    expect(await findingsOf(page)).toEqual([])
    await page.reload()
    await button.waitFor()
    const later = await open()
    expect(await later.page.getByRole('button', { name: 'Ask for an offer' }).isVisible()).toBe(
      false,
    )
  })

  test.each([
    { width: 390, colorScheme: 'light', locale: 'en' },
    { width: 320, colorScheme: 'dark', locale: 'ar' },
  ] as const)('is accessible: %j', async ({ width, ...options }) => {
    const { page, heading } = await open(stack, { ...options, viewport: { width, height: 900 } })
    await heading.click()
    await page.locator('section[aria-labelledby=wallet] button').click()
    await page.locator('section[aria-labelledby=wallet] .code').waitFor()
    await takePicture(page, `wallet-${options.locale}`)
    expect(await findingsOf(page)).toEqual([])
    expect(await isTooWide(page)).toBe(false)
  })

  test.each([
    ['another scheme', 201, { success: true, data: { link: 'javascript:alert(1)' } }],
    ['nothing', 503, { success: false }],
  ])('shows no link when the service answers %s', async (_, status, body) => {
    const { page, heading } = await open()
    await page.route('**/wallets/offers', (route) =>
      route.fulfill({ status, body: JSON.stringify(body), contentType: 'application/json' }),
    )
    await heading.click()
    await page.getByRole('button', { name: 'Ask for an offer' }).click()
    await page.getByText('There was no offer').waitFor()
    expect(await page.getByText('Open the wallet').count()).toBe(0)
  })

  test('is hidden where only API keys make offers', async () => {
    const other = await startStack(toKeysOnly)
    try {
      expect(await (await open(other)).heading.count()).toBe(0)
    } finally {
      await other.stop()
    }
  })
})
