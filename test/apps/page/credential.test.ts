import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findingsOf, isTooWide } from '../../support/accessibility.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { type CorpusCase, startWorld, type World } from '../../support/corpus/world.ts'
import { type PageServer, startPageServer } from '../../support/page-server.ts'
import { takePicture } from '../../support/pictures.ts'

const [ALL, OTHER_KEY] = ['credential-valid-all', 'credential-holder-other-key'] as const

describeInBrowser('a credential from a wallet', () => {
  let world: World
  let pages: PageServer
  let browser: Browser
  beforeAll(async () => {
    ;[world, pages, browser] = await Promise.all([
      startWorld([ALL, OTHER_KEY]),
      startPageServer(),
      launchChromium(),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
    await world?.stop()
  })

  /** Opens the page with the sources of a case, and pastes its credential into the field. */
  async function paste(
    name: string,
    { identity = true, ...options }: BrowserContextOptions & { identity?: boolean } = {},
  ): Promise<Page> {
    const one = world.cases.find((each) => each.case === name) as CorpusCase
    const page = await (await browser.newContext({ locale: 'en', ...options })).newPage()
    const asked: string[] = []
    await page.route(one.domain?.address ?? '', async (route) => {
      asked.push(route.request().url())
      const response = await fetch(one.domain?.served ?? '')
      await route.fulfill({
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      })
    })
    const { registry, rpc, ipfs, maxHeadAge, timeout, given } = one
    await page.goto(pages.host({ registry, rpc, ipfs, maxHeadAge, timeout, identity }))
    await page.locator('#number').fill(`  ${given}\n`)
    await page.locator('section.ask form button').click()
    await page.locator('.verdict:not(.busy)').waitFor()
    if (!identity) expect(asked).toEqual([])
    return page
  }
  const statusOf = (page: Page) => page.locator('.verdict').getAttribute('data-status')
  const lineOf = (page: Page) => page.locator('.checks li[data-check=credential]')

  test('is checked when it is pasted, and again after a reload', async () => {
    const page = await paste(ALL)
    expect(await statusOf(page)).toBe('valid')
    expect(await page.locator('.verdict').getAttribute('class')).toContain('good')
    expect(await page.locator('.excerpt').textContent()).toContain('Ada Lovelace')
    expect(await lineOf(page).textContent()).toContain('the key of its wallet has signed')
    expect(page.url()).not.toContain('ey')
    await page.reload()
    await page.locator('.verdict[data-status=valid]').waitFor()
    expect(await lineOf(page).getAttribute('data-code')).toBe('holder')
  })

  test('is not genuine when another holder shows it', async () => {
    const page = await paste(OTHER_KEY)
    expect(await statusOf(page)).toBe('tampered')
    expect(await lineOf(page).textContent()).toContain('has not signed what is shown')
  })

  test('is unverifiable when the reader asks no domain', async () => {
    const page = await paste(ALL, { identity: false })
    expect(await statusOf(page)).toBe('unverifiable')
    const verdict = await page.locator('.verdict').textContent()
    expect(verdict).toContain('The domain of the issuer has not been asked.')
  })

  test('names a damaged credential', async () => {
    const page = await paste(ALL)
    await page.locator('#number').fill('eyJhIjoxfQ.eyJhIjoxfQ.AA~')
    await page.locator('section.ask form button').click()
    expect(await page.locator('#problem').textContent()).toContain('not a credential')
  })

  test.each([
    { locale: 'en', colorScheme: 'light', width: 390, name: ALL },
    { locale: 'ar', colorScheme: 'dark', width: 320, name: ALL },
    { locale: 'de', colorScheme: 'dark', width: 1_000, name: OTHER_KEY },
  ] as const)('is accessible: %j', async ({ name, width, ...options }) => {
    const page = await paste(name, { ...options, viewport: { width, height: 900 } })
    await page.locator('.checks summary').click()
    await takePicture(page, `credential-${options.locale}`)
    expect(await findingsOf(page)).toEqual([])
    expect(await isTooWide(page)).toBe(false)
  })
})
