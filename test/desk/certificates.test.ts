import { readFileSync } from 'node:fs'
import { unzipSync } from 'fflate'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { findPack, packCache } from '#certificates/packs.ts'
import { readBundle } from '#verifier/bundle.ts'
import { bundleInPdf } from '#verifier/pdf.ts'
import { describeInBrowser, launchChromium } from '../support/chromium.ts'
import { linkFor, openWindow, signIn, type Window } from '../support/desk-window.ts'
import { type Stack, startStack } from '../support/stack.ts'

describeInBrowser('certificates at the desk', () => {
  let stack: Stack
  let browser: Browser
  let window: Window
  let page: Page

  beforeAll(async () => {
    const cache = packCache({})
    await findPack('base', cache, () => {})
    ;[stack, browser] = await Promise.all([
      startStack({ ADDRESS_RATE_LIMIT: 'off', CERTIFICATE_PACKS: cache }),
      launchChromium(),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
  })
  beforeEach(async () => {
    window = await openWindow(browser, { acceptDownloads: true })
    page = window.page
    await signIn(page, await linkFor(stack, 'clerk'))
  })
  afterEach(async () => {
    const { context, mishaps } = window
    await context.close()
    expect(mishaps).toEqual([])
  })

  const saved = async (name: string) => {
    const [download] = await Promise.all([
      page.waitForEvent('download', { timeout: 60_000 }),
      page.getByRole('button', { name, exact: true }).click(),
    ])
    return new Uint8Array(readFileSync(await download.path()))
  }

  test('default: a specimen before a document is issued, and its certificate afterwards', async () => {
    await page.getByRole('link', { name: 'Issue a document' }).first().click()
    await page.getByRole('button', { name: 'Preview', exact: true }).click()
    await page.getByText('Please fill this in.').first().waitFor()
    await page.locator('#subjectName').fill('Ada')
    await page.locator('#subjectId').fill('1')
    await page.locator('#category').fill('diploma')
    await page.getByLabel('Template').selectOption('letter')
    await expect(bundleInPdf(await saved('Preview'))).rejects.toMatchObject({
      code: 'bundle_malformed',
    })
    await page.locator('#submit').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Issue', exact: true }).click()
    await page.getByRole('heading', { name: 'The document is issued' }).waitFor()
    const { bundle } = readBundle(await bundleInPdf(await saved('Save as PDF')))
    expect((await stack.verify(bundle.publicId)).body.data).toMatchObject({
      ...{ status: 'valid', document: { subjectName: 'Ada' } },
    })
  })

  test('default: the certificates of a table come as one ZIP', async () => {
    await page.getByRole('link', { name: 'Issue from a table' }).first().click()
    const rows = Array.from({ length: 51 }, (_, i) => `Person ${i},${i},zipped,2026-07-01`)
    const content = ['subjectName,subjectId,category,issuedAt', ...rows].join('\n')
    const file = { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(content) }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByRole('button', { name: 'Issue the good rows (51)' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Issue the good/ })
      .click()
    await page.getByRole('heading', { name: 'The table is issued' }).waitFor()
    // The first template requires a degree.
    await page.getByLabel('Template').selectOption('diploma')
    await page.getByRole('button', { name: 'Save the certificates (ZIP)' }).click()
    await page.getByText('Not printed: 51. No certificate can be made').waitFor()
    await page.getByLabel('Template').selectOption('letter')
    const names = Object.keys(unzipSync(await saved('Save the certificates (ZIP)')))
    expect(names).toHaveLength(51)
    expect(names.some((name) => /^Person 50 [0-9a-f]{8}\.pdf$/.test(name))).toBe(true)
  })
})

describeInBrowser('a desk whose service makes no certificates', () => {
  test('behavior: says so', async () => {
    const stack = await startStack({ CERTIFICATE_PACKS: '/nonexistent' })
    const browser = await launchChromium()
    try {
      const { page } = await openWindow(browser)
      await signIn(page, await linkFor(stack, 'clerk'))
      await page.getByRole('link', { name: 'Issue a document' }).first().click()
      await page.getByText('This service makes no certificates.').waitFor()
    } finally {
      await browser.close()
      await stack.stop()
    }
  })
})
