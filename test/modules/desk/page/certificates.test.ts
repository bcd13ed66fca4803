import { readFileSync, rmSync } from 'node:fs'
import { unzipSync } from 'fflate'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { parseCsv } from '#table/csv.ts'
import { readBundle } from '#verifier/bundle.ts'
import { bundleInPdf } from '#verifier/pdf.ts'
import { addFonts, baseFonts } from '../../../support/base-fonts.ts'
import { describeInBrowser, launchChromium } from '../../../support/chromium.ts'
import { type Stack, startStack } from '../../../support/stack.ts'
import { linkFor, openWindow, signIn, type Window } from './desk-window.ts'

describeInBrowser('certificates at the desk', () => {
  let stack: Stack
  let browser: Browser
  let window: Window
  let page: Page
  let cache: string

  beforeAll(async () => {
    cache = await baseFonts()
    ;[stack, browser] = await Promise.all([
      startStack({ ADDRESS_RATE_LIMIT: 'off', CERTIFICATE_PACKS: cache }),
      launchChromium(),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
    rmSync(cache, { recursive: true })
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

  test('prints a specimen before issuing, and the certificate afterwards', async () => {
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
      status: 'valid',
      document: { subjectName: 'Ada' },
    })
  })

  const issueTable = async (names: string[]) => {
    await page.getByRole('link', { name: 'Issue from a table' }).first().click()
    const rows = names.map((name, i) => `${name},${i},zipped,2026-07-01`)
    const content = ['subjectName,subjectId,category,issuedAt', ...rows].join('\n')
    const file = { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(content) }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByRole('button', { name: `Issue the good rows (${names.length})` }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Issue the good/ })
      .click()
    await page.getByRole('heading', { name: 'The table is issued' }).waitFor()
  }

  test('prints the certificates of a table as one ZIP', async () => {
    await issueTable(Array.from({ length: 51 }, (_, i) => `Person ${i}`))
    // The first template requires a degree.
    await page.getByLabel('Template').selectOption('diploma')
    await page.getByRole('button', { name: 'Save the certificates (ZIP)' }).click()
    await page.getByText('Not printed: 51. No certificate can be made').waitFor()
    await page.getByLabel('Template').selectOption('letter')
    const names = Object.keys(unzipSync(await saved('Save the certificates (ZIP)')))
    expect(names).toHaveLength(51)
    expect(names.some((name) => /^Person 50 [0-9a-f]{8}\.pdf$/.test(name))).toBe(true)
    await expect(page.getByRole('button', { name: 'Print those again' }).count()).resolves.toBe(0)
  })

  test('names who is missing from a ZIP, and prints those once there are fonts', async () => {
    await issueTable(['Ada', '王小明', 'Bob', '李四'])
    await page.getByLabel('Template').selectOption('letter')
    const files = unzipSync(await saved('Save the certificates (ZIP)'))
    expect(Object.keys(files).map((name) => name.replace(/ [0-9a-f]{8}/, ''))).toEqual([
      'Ada.pdf',
      'Bob.pdf',
      'not-printed.csv',
    ])
    const { rows } = parseCsv(files['not-printed.csv'] as Uint8Array)
    expect(rows.map(({ cells }) => [cells.line, cells.subjectName])).toEqual([
      ['3', '王小明'],
      ['5', '李四'],
    ])
    const reason = /the fonts for Chinese are not installed: docreg-gateway certificates --all/
    for (const { cells } of rows) expect(cells.problem).toMatch(reason)
    await page
      .getByRole('alert')
      .filter({ hasText: /^Not printed: 2\. .*Chinese/ })
      .waitFor()
    const marked = page.locator('table.list tr').filter({ hasText: reason })
    expect(await marked.locator('th').allTextContents()).toEqual(['王小明', '李四'])

    await addFonts('chinese', cache)
    const again = Object.keys(unzipSync(await saved('Print those again')))
    expect(again.map((name) => name.replace(/ [0-9a-f]{8}/, ''))).toEqual([
      '王小明.pdf',
      '李四.pdf',
    ])
    await page.getByRole('button', { name: 'Print those again' }).waitFor({ state: 'detached' })
    expect(await marked.count()).toBe(0)
  })
})

describeInBrowser('a desk whose service makes no certificates', () => {
  test('says so', async () => {
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
