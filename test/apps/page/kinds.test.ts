import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { findingsOf, isTooWide } from '../../support/accessibility.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { takePicture } from '../../support/pictures.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../support/stack.ts'
import { pdfOf } from './give-file.ts'

const HOSTILE = '<img src=x onerror=alert(1)> Valid through'
const KIND = {
  display: [
    { locale: 'en', name: 'Course of study' },
    { locale: 'de', name: 'Studienabschluss' },
    { locale: 'ar', name: 'شهادة جامعية' },
  ],
  claims: [
    { path: ['subjectName'], display: [{ locale: 'en', label: 'Valid through' }] },
    {
      path: ['metadata', 'degree'],
      display: [
        { locale: 'en', label: 'Degree awarded' },
        { locale: 'de', label: 'Abschluss' },
        { locale: 'ar', label: 'الدرجة' },
      ],
    },
    { path: ['metadata', 'grade'], display: [{ locale: 'en', label: HOSTILE }] },
    { path: ['metadata', 'place'] },
  ],
}
const DIPLOMA = {
  ...ADA,
  category: 'diploma',
  metadata: { degree: 'Master', grade: '1.3', place: 'Testville' },
}

describeInBrowser('the labels of the issuer', () => {
  let stack: Stack
  let browser: Browser
  let verifyUrl: string
  beforeAll(async () => {
    ;[stack, browser] = await Promise.all([startStack(), launchChromium()])
    verifyUrl = (await stack.issue(DIPLOMA)).body.data.verifyUrl
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
  })
  afterEach(() => send('DELETE'))

  const send = (method: string, body?: object) =>
    stack.request('/v1/kinds/diploma', {
      method,
      headers: {
        authorization: `Bearer ${API_KEY}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
  const open = async (options: Parameters<Browser['newContext']>[0] = {}) => {
    const page = await (await browser.newContext({ locale: 'en', ...options })).newPage()
    const mishaps: string[] = []
    page.on('pageerror', (error) => mishaps.push(String(error)))
    page.on('dialog', (dialog) => mishaps.push(dialog.message()))
    // Browsers of 2023 lack it.
    await page.addInitScript(() => Reflect.deleteProperty(AbortSignal, 'any'))
    await page.goto(verifyUrl)
    await page.locator('.verdict[data-status=valid]').waitFor()
    return { page, mishaps }
  }
  const names = (page: Page) => page.locator('.document dt').allTextContents()
  const words = (page: Page) => page.getByText('The names in front are the issuer’s words')

  test('fields have the labels of the issuer, beside those of the document', async () => {
    await send('PUT', KIND)
    const { page, mishaps } = await open()
    await words(page).waitFor()
    // Ours stay ours: an issuer cannot call its name something else.
    expect(await names(page)).toEqual([
      'Name',
      'Identifier',
      'Kind of document',
      'Date of issue',
      'Valid through',
      'Degree awarded degree',
      `${HOSTILE} grade`,
      'place',
    ])
    expect(await page.locator('.document dd').nth(2).textContent()).toBe('Course of study Diploma')
    expect(await page.locator('.document img').count()).toBe(0)
    // The form for an excerpt has them too.
    expect(await page.locator('.share .tick .name').allTextContents()).toContain(
      'Degree awarded degree',
    )
    expect(mishaps).toEqual([])
    await page.getByRole('combobox').first().selectOption('de')
    await page.getByText('Worte des Ausstellers').waitFor()
    expect(await names(page)).toContain('Abschluss degree')
    expect(await page.locator('.document').textContent()).toContain('Studienabschluss')
  })

  test.each([
    ['an excerpt', ['Kind of document', 'degree']],
    ['a certificate as PDF', []],
  ])('%s has them too', async (_, ticked) => {
    await send('PUT', KIND)
    const { page } = await open()
    await words(page).waitFor()
    await page.getByText('Share only some fields').click()
    for (const name of ticked) await page.getByRole('checkbox', { name }).check()
    const file = ticked.length > 0 ? await excerpt(page) : await certificate()
    await page.locator('input[type=file]').setInputFiles(file)
    await page.locator(ticked.length > 0 ? '.document.excerpt' : '#compare').waitFor()
    await page.locator('.document').getByText('Degree awarded degree').waitFor()
  })
  const excerpt = async (page: Page) => {
    await page.getByRole('button', { name: 'Make the excerpt' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as a file' }).click(),
    ])
    return {
      name: 'excerpt.json',
      mimeType: 'application/json',
      buffer: readFileSync(await download.path()),
    }
  }
  const certificate = async () => {
    const publicId = verifyUrl.replace(/.*publicId=|&.*/g, '')
    const { body } = await stack.request(`/v1/documents/${publicId}/bundle`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    return pdfOf(body)
  }

  test.each([
    { width: 390, colorScheme: 'light', locale: 'en' },
    { width: 320, colorScheme: 'dark', locale: 'ar' },
  ] as const)('is accessible: %j', async ({ width, ...options }) => {
    await send('PUT', KIND)
    const { page } = await open({ ...options, viewport: { width, height: 900 } })
    await page.locator('.own-name').first().waitFor()
    await takePicture(page, `kind-${options.locale}`)
    expect(await findingsOf(page)).toEqual([])
    expect(await isTooWide(page)).toBe(false)
  })

  test('without a kind, the page does not change', async () => {
    const { page } = await open()
    await page.waitForLoadState('networkidle')
    expect(await words(page).count()).toBe(0)
    expect((await names(page)).slice(5)).toEqual(['degree', 'grade', 'place'])
  })

  test.each([
    ['no JSON', '<html>'],
    ['another form', '{"display":[]}'],
    ['too much', `{"x":"${'x'.repeat(70_000)}"}`],
    [
      'a kind of another category',
      JSON.stringify({ ...KIND, document_registry: { category: 'x' } }),
    ],
  ])('an answer that is %s changes nothing', async (_, body) => {
    const context = await browser.newContext({ locale: 'en' })
    const page = await context.newPage()
    const asked = page.waitForResponse('**/v1/types/**')
    await page.route('**/v1/types/**', (route) =>
      route.fulfill({ body, contentType: 'application/json' }),
    )
    await page.goto(verifyUrl)
    await page.locator('.verdict[data-status=valid]').waitFor()
    await asked
    // The page stops reading an answer that is too long, and then no event tells its end.
    await page.waitForTimeout(300)
    expect((await names(page)).slice(5)).toEqual(['degree', 'grade', 'place'])
    await context.close()
  })

  test('makes no request to the service when the reader has other sources', async () => {
    await send('PUT', KIND)
    const context = await browser.newContext({ locale: 'en' })
    await context.addInitScript((rpc) => {
      localStorage.setItem('document-registry.sources', JSON.stringify({ rpc: [rpc], ipfs: [] }))
    }, `${stack.url}/rpc`)
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(verifyUrl)
    await page.locator('.verdict[data-status]').waitFor()
    await page.waitForLoadState('networkidle')
    expect(asked.filter((path) => path.startsWith('/v1/'))).toEqual([])
    await context.close()
  })
})
